package sandbox

import (
	"context"
	"errors"
	"reflect"
	"time"
)

// errMute is the answer to a job whose caller answers nothing.
var errMute = errors.New("nothing can be asked here")

// stringMap is what maps are decoded to.
func stringMap() reflect.Type { return reflect.TypeFor[map[string]any]() }

// asked answers in the same process.
type asked struct {
	ctx context.Context //nolint:containedctx // it lasts as long as the job
	by  Answerer
}

// Ask asks at once.
func (a asked) Ask(question []byte) ([]byte, error) {
	if a.by == nil {
		return nil, errMute
	}
	return a.by.Answer(a.ctx, question)
}

// outcome is what a job gives.
type outcome struct {
	out []byte
	err error
}

// here runs a job in this process. It cannot be interrupted: one that takes too long continues until it ends on its own, and what
// it gives is dropped.
func here(ctx context.Context, work call, most time.Duration) ([]byte, error) {
	return await(ctx, begin(ctx, work), most)
}

// begin starts a job beside us.
func begin(ctx context.Context, work call) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		out, err := guarded(work.job, work.input, asked{ctx, work.answers})
		done <- outcome{out, err}
	}()
	return done
}

// await waits for a job in this process.
func await(ctx context.Context, done <-chan outcome, most time.Duration) ([]byte, error) {
	limits := Limits{Time: most, Output: maxOutput}
	ctx, cancel := context.WithTimeoutCause(ctx, most, &Death{Cause: Time, Limits: limits})
	defer cancel()
	select {
	case o := <-done:
		if o.err == nil && int64(len(o.out)) > limits.Output {
			return nil, &Death{Cause: Output, Limits: limits}
		}
		return o.out, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
