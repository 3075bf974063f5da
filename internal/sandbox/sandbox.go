// Package sandbox runs what tenants write as programs, such as the templates of charts and Jsonnet, where it can do no harm: in
// child processes of this binary, under limits of memory, stack, time and output. A job that exceeds a limit ends its child and
// is an error of its unit; neither the engine nor another unit notices.
//
// Children are kept for further jobs, since starting one takes longer than most jobs do. They get jobs through a pipe and answer
// through another one: nothing of a job is on disk, in the environment or on a command line. What a job needs to know while it
// runs, it asks through the pipe. A child ends with the process that started it, when it has been idle for a while, and after a
// job that needed much memory.
//
// Where children cannot be started, jobs run in this process, one at a time. A job that ends the process is then known at the
// next start by a file that says who it was for, and its unit has to wait for a while before it is served again.
//
// The package knows neither charts nor Jsonnet: a Job is code, an input and an output.
package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Job is a kind of work. It is the same value in this process and in its children.
type Job interface {
	// Name tells jobs apart.
	Name() string
	// Run makes an output of an input, which both are what Encode makes. It must not depend on anything but these and answers.
	Run(input []byte, asking Asker) ([]byte, error)
}

// Asker is asked by a running job.
type Asker interface {
	Ask(question []byte) (answer []byte, err error)
}

// Answerer answers the questions of a job, in the process that ordered it.
type Answerer interface {
	Answer(ctx context.Context, question []byte) ([]byte, error)
}

// Limits bound each job.
type Limits struct {
	// Memory is what a child may allocate, in bytes. Zero has jobs run in this process.
	Memory int64
	// Time is how long a job may take.
	Time time.Duration
	// Output is how long an answer of a child may be, in bytes.
	Output int64
	// Children is how many there are at a time.
	Children int
}

// Within are limits whose children together take up to half of what a container has, in bytes. What a person has said about memory
// stays.
func (l Limits) Within(container int64, said bool) Limits {
	const half, few = 2, 2
	if container <= 0 || l.Memory <= 0 {
		return l
	}
	if !said {
		l.Memory = min(l.Memory, container/half/few)
	}
	l.Children = max(1, min(l.Children, int(container/half/l.Memory)))
	return l
}

// The limits of a Pool that is given no others.
const (
	DefaultMemory = 512 << 20
	DefaultTime   = time.Minute
	// maxOutput bounds what a job gives and what it asks. Objects are parsed in this process, into many times as much.
	maxOutput = 16 << 20
	// maxInput bounds what a job is given: a chart may unpack to 100 MiB.
	maxInput = 256 << 20
	// maxStack bounds one stack of a child. The memory that it takes counts twice while it grows.
	maxStack = 128 << 20
)

// DefaultLimits are those of a Pool that is given no others.
func DefaultLimits() Limits {
	// One more than there are processors, of which there is use for a few: see New.
	const few = 4
	return Limits{Memory: DefaultMemory, Time: DefaultTime, Output: maxOutput, Children: min(runtime.GOMAXPROCS(0), few) + 1}
}

// Client is a Pool as one unit uses it. A nil Client runs jobs in this process.
type Client struct {
	pool *Pool
	// share is whose share of the children the unit uses, such as its namespace; of is its name.
	share, of string
}

// For returns a Client for a unit. share is whose share of the children it uses, such as its namespace.
func (p *Pool) For(share, of string) *Client {
	if p == nil {
		return nil
	}
	return &Client{pool: p, share: share, of: of}
}

// call is one job to do.
type call struct {
	job     Job
	input   []byte
	answers Answerer
}

// Do runs a job. What answers is asked by it may be nil for a job that asks nothing. The error is a *Death where the job exceeded
// a limit, and a *Quarantined where its unit has to wait.
func (c *Client) Do(ctx context.Context, job Job, input []byte, answers Answerer) ([]byte, error) {
	work := call{job, input, answers}
	if len(input) > maxInput {
		return nil, fmt.Errorf("there are %d bytes to render, more than %s", len(input), size(maxInput))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c == nil {
		return here(ctx, work, DefaultTime)
	}
	turn, ok := c.pool.slots.Take(ctx, c.share)
	if !ok {
		return nil, context.Cause(ctx)
	}
	defer turn.End()
	if !c.pool.canStart() {
		return c.pool.alone(ctx, c.of, work)
	}
	return c.pool.do(ctx, c.of, work)
}
