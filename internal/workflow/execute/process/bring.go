package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// bring brings an execution to its end, from wherever it is. It returns early when the engine ends.
func (e *Executor) bring(ctx context.Context, x *execution) {
	// What could not be prepared waits, such as for a Secret.
	backoff := rounds.Backoff{Min: time.Second, Max: 30 * time.Second}
	failures := 0
	for e.running.Err() == nil {
		next, err := e.step(ctx, x)
		if next == done {
			return
		}
		if err == nil {
			failures = 0
			continue
		}
		failures++
		x.wait(err.Error())
		e.changed(x.intent.of())
		timer := time.NewTimer(backoff.After(failures))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// next is what follows a step.
type next bool

const (
	again next = false
	done  next = true
)

// step is one attempt to do so: follow a keeper, take over what one has recorded, or start one.
func (e *Executor) step(ctx context.Context, x *execution) (next, error) {
	if x.kept() {
		return again, e.attend(x)
	}
	switch {
	case x.has(outcomeFile):
		return e.settle(x)
	case x.has(begunFile):
		return e.lost(x)
	case x.has(stopFile):
		return e.unbegun(x)
	}
	turn, ok := e.slots.Take(ctx, x.intent.Namespace)
	if !ok {
		return again, nil
	}
	defer turn.End()
	err := e.launch(ctx, x)
	var never *neverError
	switch {
	case errors.As(err, &never):
		return done, x.finish(plan.Leaf{Phase: v1alpha1.NodeError, Message: err.Error(), Final: true, FinishedAt: time.Now()})
	case ctx.Err() != nil:
		return again, nil
	case err != nil:
		return again, err
	}
	x.wait("")
	// The slot is taken until the keeper has ended.
	return again, e.attend(x)
}

// attend waits for the end of a keeper, which has a pipe open for as long as it lives.
func (e *Executor) attend(x *execution) error {
	pipe, err := os.OpenFile(x.file(pipeFile), os.O_RDONLY|nonBlocking, 0)
	if gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", x.intent.Run.NodeID, err)
	}
	e.changed(x.intent.of())
	if x.has(stopFile) {
		// The engine may have been killed before it could say so.
		x.terminate()
	}
	e.follow(x, pipe)
	if x.keeper != nil && e.running.Err() == nil {
		_ = x.keeper.Wait()
		x.keeper = nil
	}
	return nil
}

// follow reads a pipe until no one has it open for writing, or the engine ends. What is written into it is that the execution has begun.
func (e *Executor) follow(x *execution, pipe *os.File) {
	defer pipe.Close()
	defer context.AfterFunc(e.running, func() { pipe.Close() })()
	for said := make([]byte, 1); ; {
		if _, err := pipe.Read(said); err != nil {
			return
		}
		e.changed(x.intent.of())
	}
}

// unbegun is the end of an execution that was stopped before it began.
func (e *Executor) unbegun(x *execution) (next, error) {
	var why stopping
	if err := x.read(stopFile, &why); err != nil {
		return again, err
	}
	return done, x.finish(plan.Leaf{Phase: v1alpha1.NodeFailed, Message: why.Reason, Host: e.ability.Host, FinishedAt: time.Now()})
}

// neverError is why an execution can never begin.
type neverError struct{ reason string }

func (e *neverError) Error() string { return e.reason }

func never(format string, args ...any) error { return &neverError{fmt.Sprintf(format, args...)} }
