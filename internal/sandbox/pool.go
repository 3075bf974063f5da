package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// idleTime is how long a child is kept without a job.
const idleTime = 2 * time.Minute

// Config is what a Pool needs.
type Config struct {
	// Program is this binary, as Self finds it. If it is empty, jobs run in this process.
	Program string
	Limits  Limits
	// Dir is a directory that outlives the process, for what ended it. Without it nothing is put into quarantine.
	Dir string
	// Problem, when set, is called with the reason why children cannot be started.
	Problem func(text string)
}

// Pool runs jobs in children. It is safe for concurrent use.
type Pool struct {
	config Config
	slots  *rounds.Slots
	ledger *ledger
	// one has jobs in this process run one at a time.
	one chan struct{}

	mu   sync.Mutex
	idle []*child
	// impossible is set once it is known that children cannot be started; closed once none is to be kept.
	impossible, closed bool
}

// New returns a Pool for as long as ctx lasts. It starts children when they are needed.
func New(ctx context.Context, c Config) *Pool {
	defaults := DefaultLimits()
	if c.Limits.Time <= 0 {
		c.Limits.Time = defaults.Time
	}
	if c.Limits.Output <= 0 {
		c.Limits.Output = defaults.Output
	}
	if c.Limits.Children <= 0 {
		c.Limits.Children = defaults.Children
	}
	// A share leaves one child to others: what takes its time is not waited for in all of them.
	n := c.Limits.Children
	p := &Pool{
		config: c, slots: rounds.NewBoundedSlots(n, max(1, n-1)), ledger: openLedger(c.Dir, time.Now()), one: make(chan struct{}, 1),
		impossible: c.Program == "" || c.Limits.Memory <= 0 || isChild(),
	}
	context.AfterFunc(ctx, p.Close)
	return p
}

// Self finds this binary for Config.Program. It is empty where that is impossible.
func Self() string {
	// The file may be replaced while we run; the link leads to what we are.
	const link = "/proc/self/exe"
	if _, err := os.Stat(link); err == nil {
		return link
	}
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	return name
}

func (p *Pool) canStart() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.impossible
}

// do runs a job in a child, or in this process when it turns out that children cannot be started.
func (p *Pool) do(ctx context.Context, of string, work call) ([]byte, error) {
	for {
		c, used, err := p.take(ctx)
		if errors.Is(err, errImpossible) {
			return p.alone(ctx, of, work)
		}
		if err != nil {
			return nil, err
		}
		out, end, err := c.do(ctx, work, p.config.Limits)
		if end == keep {
			p.put(c)
			return out, err
		}
		c.end()
		if end == unused && used && ctx.Err() == nil {
			continue // It ended while it was idle; that says nothing about this job.
		}
		return out, err
	}
}

// take returns an idle child or a new one.
func (p *Pool) take(ctx context.Context) (c *child, used bool, err error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		last := len(p.idle) - 1
		c, p.idle = p.idle[last], p.idle[:last]
		if c.timer.Stop() {
			p.mu.Unlock()
			return c, true, nil
		}
	}
	p.mu.Unlock()
	c, err = start(ctx, p.config.Program, p.config.Limits)
	if err == nil {
		return c, false, nil
	}
	if !forbidden(err) {
		return nil, false, err
	}
	p.mu.Lock()
	first := !p.impossible
	p.impossible = true
	p.mu.Unlock()
	if first && p.config.Problem != nil {
		p.config.Problem("charts and Jsonnet are rendered in this process, without limits: " + err.Error())
	}
	return nil, false, errImpossible
}

// errImpossible reports that no child can be started here, now or later.
var errImpossible = errors.New("no child processes")

// forbidden reports whether starting a child fails for good.
func forbidden(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.ENOEXEC)
}

// put keeps a child for the next job.
func (p *Pool) put(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go c.end()
		return
	}
	c.timer = time.AfterFunc(idleTime, func() { p.drop(c) })
	p.idle = append(p.idle, c)
}

// drop ends a child that was idle for too long.
func (p *Pool) drop(c *child) {
	p.mu.Lock()
	for i, one := range p.idle {
		if one == c {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	c.end()
}

// Warm starts a child ahead of the first job.
func (p *Pool) Warm(ctx context.Context) {
	if p == nil || !p.canStart() {
		return
	}
	go func() {
		if c, _, err := p.take(ctx); err == nil {
			p.put(c)
		}
	}()
}

// Close ends the children that are idle, and each other one after its job.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		if c.timer.Stop() {
			c.end()
		}
	}
}
