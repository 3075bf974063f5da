package sandbox

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// child is a process that runs jobs. One caller at a time uses it.
type child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	printed *head
	timer   *time.Timer
	once    sync.Once
}

// start starts a child. The context bounds nothing but the start: the child is used by others.
func start(ctx context.Context, program string, limits Limits) (*child, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	c := &child{printed: &head{}}
	c.cmd = exec.Command(program) //nolint:gosec,noctx // it is this binary, and it outlives the context
	c.cmd.Args = []string{childName}
	c.cmd.Env = environment(limits)
	c.cmd.Dir = "/"
	c.cmd.Stderr = c.printed
	c.cmd.SysProcAttr = apart()
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting a process to render in: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a process to render in: %w", err)
	}
	const buffer = 64 << 10
	c.out = bufio.NewReaderSize(out, buffer)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a process to render in: %w", err)
	}
	return c, nil
}

// end ends the child.
func (c *child) end() {
	c.once.Do(func() {
		_ = c.in.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
}

// fate is what becomes of a child after a job.
type fate int

const (
	// keep has it wait for the next job, drop ends it, and unused is the end of one that had ended before the job began.
	keep fate = iota
	drop
	unused
)

// do runs one job.
func (c *child) do(ctx context.Context, work call, limits Limits) ([]byte, fate, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, &Death{Cause: Time, Limits: limits})
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	defer stop()
	payload, err := Encode(order{work.job.Name(), work.input})
	if err != nil {
		return nil, keep, err
	}
	if err := send(c.in, frameJob, payload); err != nil && ctx.Err() == nil {
		return nil, unused, c.died(ctx, limits)
	}
	ended := unused
	for {
		kind, said, err := receive(c.out, limits.Output)
		switch {
		case errors.Is(err, errLarge):
			return nil, drop, &Death{Cause: Output, Limits: limits}
		case err != nil:
			return nil, ended, c.died(ctx, limits)
		}
		switch kind {
		case frameBegun:
			ended = drop
		case frameAsk:
			if err := c.answer(ctx, work.answers, said); err != nil {
				return nil, drop, c.died(ctx, limits)
			}
		case frameDone:
			return said, after(stop), nil
		case frameLast:
			return said, drop, nil
		case frameFailed:
			return nil, after(stop), errors.New(string(said))
		case frameLarge:
			return nil, after(stop), &Death{Cause: Output, Limits: limits}
		default:
			return nil, drop, fmt.Errorf("a process that renders sent an unknown frame %q", kind)
		}
	}
}

// after keeps a child, unless it was killed in that moment.
func after(stop func() bool) fate {
	if stop() {
		return keep
	}
	return drop
}

// answer answers a question of the job.
func (c *child) answer(ctx context.Context, by Answerer, question []byte) error {
	if by == nil {
		return send(c.in, frameDenied, []byte(errMute.Error()))
	}
	answer, err := by.Answer(ctx, question)
	if err != nil {
		return send(c.in, frameDenied, []byte(err.Error()))
	}
	return send(c.in, frameAnswer, answer)
}

// died is why a child no longer speaks.
func (c *child) died(ctx context.Context, limits Limits) error {
	ended := context.Cause(ctx)
	_ = c.in.Close()
	// It may be about to print why it ends.
	const grace = 5 * time.Second
	late := time.AfterFunc(grace, func() { _ = c.cmd.Process.Kill() })
	c.once.Do(func() { _ = c.cmd.Wait() })
	late.Stop()
	if ended != nil {
		return ended
	}
	printed := c.printed.bytes()
	cause := causeOf(printed)
	switch {
	case cause != Crashed:
	case killed(c.cmd.ProcessState):
		cause = Killed
	case limits.Memory > 0 && resident(c.cmd.ProcessState) > limits.Memory/2:
		// Not every end of the runtime for want of memory says so; what it requested in vain is not part of what it had.
		cause = Memory
	}
	return &Death{Cause: cause, Limits: limits, Said: cmp.Or(saidOf(printed), c.cmd.ProcessState.String())}
}

// killed reports whether a process was ended by a signal that it could not handle.
func killed(s *os.ProcessState) bool { return s != nil && !s.Exited() }
