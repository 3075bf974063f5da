package argo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// running is an operation in progress.
type running struct {
	// lackingSince is when all that the operation waits for began to lack what nothing brings; zero if it does not.
	lackingSince time.Time
	sync         *operation.Operation
	request      v1alpha1.Operation
	state        v1alpha1.OperationState
	options      policy.Options
	// beside are what came of objects without a task: those that are not pruned, and what was done before a process took over.
	beside []v1alpha1.ResourceResult
	// terminated is set when it was ended from outside: it is not tried again.
	terminated bool
	// abandoned is set when nothing takes its place, and its hooks that run are waited for; left are its tasks then.
	abandoned bool
	left      []*operation.Task
	// written is set once the status says that the operation runs.
	written bool
	// guard guards what follows: several objects are written at a time.
	guard   sync.Mutex
	changes []apply.Result
	// needs are what objects lack that could not be written.
	needs map[engine.ObjectID][]apply.Need
}

func (r *running) guarded(do func()) {
	r.guard.Lock()
	defer r.guard.Unlock()
	do()
}

func (r *running) selective() bool { return r.request.Sync != nil && len(r.request.Sync.Resources) > 0 }

// misplaced reports whether an object is left to be written whose kind turned out to have no namespace.
func (r *running) misplaced(w runner.Work) bool {
	return slices.ContainsFunc(r.sync.Tasks, func(t *operation.Task) bool {
		if t.State != operation.Pending || t.ID.Namespace == "" {
			return false
		}
		_, namespaced, served := w.Kind(engine.Entry{ID: t.ID, Version: t.Version}.GroupVersionKind())
		return served && !namespaced
	})
}

// advance brings an operation on until it waits, or has ended.
func (d *driver) advance(ctx context.Context, a *app, w runner.Work) runner.Acted {
	op, c := a.job.op, a.job.compared
	op.sync.Retry()
	for {
		g := d.gate(a, w)
		if g.stale() != nil {
			return d.waiting(a, w, operation.Step{Waits: []engine.Wait{{On: a.id, Reason: g.stale().Error()}}})
		}
		if why, terminated := d.ends(a, op); why != "" {
			op.terminated = terminated
			return d.finish(ctx, a, w, op.sync.Terminate(time.Now(), d.liveObjects(a, w, true), why))
		}
		if op.request.Sync.DryRun {
			return d.finish(ctx, a, w, op.dryRun(c, g))
		}
		step := op.sync.Next(time.Now(), d.liveObjects(a, w, true))
		if err := d.record(ctx, a, op, step.Release); err != nil {
			return failed(err)
		}
		d.letGo(ctx, g, op.sync, step.Release)
		if !step.Ended {
			d.drop(ctx, g, step.Drop)
		}
		switch {
		case len(step.Release) > 0:
		case step.Ended:
			return d.finish(ctx, a, w, step)
		case w.Superseded(), ctx.Err() != nil:
			return d.waiting(a, w, operation.Step{Waits: []engine.Wait{{On: a.id, Reason: "a newer revision is about to be evaluated"}}})
		case len(step.Delete)+len(step.Apply) > 0:
			if err := d.announce(ctx, a, op); err != nil {
				return failed(err)
			}
			d.execute(ctx, a, g, step)
		case len(step.Drop) > 0:
		default:
			if left, again := d.leave(ctx, a, w, step.Healths); !left {
				step.Again = sooner(step.Again, again)
				return d.waiting(a, w, step)
			}
		}
	}
}

// waiting reports what an operation waits for.
func (d *driver) waiting(a *app, w runner.Work, step operation.Step) runner.Acted {
	op, c := a.job.op, a.job.compared
	op.state.Message = step.Message
	if len(step.Waits) > 0 && step.Message == "" {
		op.state.Message = "waiting for " + step.Waits[0].String()
	}
	again := step.Again
	if timeout := d.settings.Now().Controller.SyncTimeout; timeout > 0 {
		again = sooner(again, op.state.StartedAt.Add(timeout))
	}
	if windows, err := a.snapshot().windows(time.Now()); err == nil && !windows.Next.IsZero() {
		again = sooner(again, windows.Next)
	}
	a.progress(op, c, step.Waits)
	d.lack(a, op, step.Lacks)
	changes := op.changes
	op.changes = nil
	return runner.Acted{Entries: op.entries(c), Held: true, Waiting: step.Waits, Again: again, Needs: op.lacks(), Changes: changes}
}

// finish ends an operation.
func (d *driver) finish(ctx context.Context, a *app, w runner.Work, step operation.Step) runner.Acted {
	op, c := a.job.op, a.job.compared
	g := d.gate(a, w)
	d.letGo(ctx, g, op.sync, step.Release)
	d.drop(ctx, g, step.Drop)
	op.settle(c)
	a.job.op = nil
	changes := op.changes
	wait, again := time.Duration(0), false
	op.state.Phase, op.state.Message = v1alpha1.OperationSucceeded, step.Message
	if step.Failed {
		op.state.Phase = v1alpha1.OperationFailed
		wait, again = d.retry(a, op)
	}
	if notes := op.sync.Notes(); len(notes) > 0 {
		op.state.Message += "; " + strings.Join(notes, "; ")
	}
	a.ended(op, c, again, wait)
	d.lack(a, op, step.Failed && op.failedForLack())
	d.show(a, c, w, time.Now())
	if !again {
		d.events.operation(a.now(), op)
		d.measureSync(a, op)
	}
	if step.Failed && !op.abandoned {
		f := &engine.Failure{Reason: engine.ReasonFailed, Message: op.state.Message, After: wait, Transient: again}
		if !again {
			if automatic := d.automate(a, c, time.Now()); automatic == nil {
				f.After = a.untilAgain()
			}
		}
		return runner.Acted{Entries: op.entries(c), Held: true, Failure: f, Needs: op.lacks(), Changes: changes, Terminal: f.After == 0 && !again && len(op.needs) == 0}
	}
	// A person may have requested a part.
	begins := !op.request.InitiatedBy.Automated && d.automate(a, c, time.Now()) != nil
	acted := d.rest(a)
	acted.Changes = changes
	if begins {
		acted.Again = time.Now()
		acted.Waiting = []engine.Wait{{On: a.id, Reason: "out of sync: more than what was requested is about to be synced"}}
	}
	return acted
}

// retry says when a failed operation is tried again.
func (d *driver) retry(a *app, op *running) (time.Duration, bool) {
	retry := op.request.Retry
	wait, again, err := policy.Backoff(retry, op.state.RetryCount)
	if err != nil {
		d.observe(a.id.String(), err.Error())
		return 0, false
	}
	if op.terminated {
		return 0, false
	}
	if !again {
		if op.state.RetryCount > 0 {
			op.state.Message += fmt.Sprintf(" (retried %d times).", op.state.RetryCount)
		}
		return 0, false
	}
	op.state.RetryCount++
	op.state.Phase = v1alpha1.OperationRunning
	op.state.Message += fmt.Sprintf(". Retrying attempt #%d at %s.", op.state.RetryCount, time.Now().Add(wait).Format(time.Kitchen))
	return wait, true
}

// abandon ends an operation that is no longer needed. Its hooks that run do so to their end, or up to their deadline.
func (d *driver) abandon(ctx context.Context, a *app, w runner.Work) {
	op := a.job.op
	if op.abandoned {
		return
	}
	why := a.overtaken()
	op.left = op.sync.Tasks
	if op.sync.Abandon(why, a.job.compared.declaresHook) {
		op.abandoned, op.terminated = true, true
		return
	}
	d.stop(ctx, a, w, why)
}

// stop ends an operation at once: its hooks that run are deleted.
func (d *driver) stop(ctx context.Context, a *app, w runner.Work, why string) {
	op := a.job.op
	step, g := op.sync.Terminate(time.Now(), d.liveObjects(a, w, true), why), d.gate(a, w)
	d.letGo(ctx, g, op.sync, step.Release)
	d.drop(ctx, g, step.Drop)
	op.state.Phase, op.state.Message = v1alpha1.OperationFailed, step.Message
	a.job.op = nil
	a.ended(op, a.job.compared, false, 0)
	d.events.operation(a.now(), op)
	d.measureSync(a, op)
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
