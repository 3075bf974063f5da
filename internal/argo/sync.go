package argo

import (
	"cmp"
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
	sync    *operation.Operation
	request v1alpha1.Operation
	state   v1alpha1.OperationState
	options policy.Options
	// skipped are objects that are not pruned, with why.
	skipped []v1alpha1.ResourceResult
	// terminated is set when it was ended from outside: it is not tried again.
	terminated bool
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

// begin decides whether an operation starts: a requested one, one that a killed process left, a retry, or an
// automated one.
func (d *driver) begin(a *app, w runner.Work, c *comparison) *running {
	now := time.Now()
	d.show(a, c, w, now)
	request, state := d.asked(a, w, c)
	if request == nil {
		request = d.automate(a, c, now)
	}
	if request == nil {
		return nil
	}
	if state == nil {
		state = &v1alpha1.OperationState{StartedAt: *since(now)}
	}
	op := d.plan(a, w, c, *request, *state)
	a.job.attempted, a.job.obstacles = c.digest, c.obstacles()
	a.began(op)
	d.events.operation(a.now(), op)
	return op
}

// asked is what was requested, or what continues: with the state that it has, if any.
func (d *driver) asked(a *app, w runner.Work, c *comparison) (*v1alpha1.Operation, *v1alpha1.OperationState) {
	// Of a request that came since, nothing was compared yet.
	obj, early := a.now(), w.Superseded()
	// A newer revision with the same content for the Application is no reason to start over.
	same := func(state v1alpha1.OperationState) bool {
		return sameRevision(state, c.revision) || a.job.sameContent(c)
	}
	if op := a.job.op; op != nil && same(op.state) {
		return at(op.request, c.revision), &v1alpha1.OperationState{StartedAt: op.state.StartedAt, RetryCount: op.state.RetryCount}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if obj.Operation != nil && a.view.handled != encoded(obj.Operation) {
		if early && a.unbegun() {
			return nil, nil
		}
		state := a.view.retry
		if state == nil {
			state = resumable(obj, c.revision, obj.Operation)
		}
		if a.unpinned() {
			return unpin(*obj.Operation), state
		}
		return obj.Operation.DeepCopy(), state
	}
	if state := a.view.retry; state != nil && same(*state) {
		return at(state.Operation, c.revision), state
	}
	a.view.retry = nil
	if a.view.operation == nil && obj.Status.OperationState != nil {
		if state := resumable(obj, c.revision, &obj.Status.OperationState.Operation); state != nil {
			return state.Operation.DeepCopy(), state
		}
	}
	return nil, nil
}

// at is a request at the current revision, if it is an automated one.
func at(request v1alpha1.Operation, revision string) *v1alpha1.Operation {
	out := request.DeepCopy()
	if out.InitiatedBy.Automated && out.Sync != nil && out.Sync.Revision != "" {
		out.Sync.Revision = revision
	}
	return out
}

// automate decides whether an operation starts automatically.
func (d *driver) automate(a *app, c *comparison, now time.Time) *v1alpha1.Operation {
	obj := a.known()
	windows, err := a.snapshot().windows(now)
	if err != nil {
		d.observe(a.id.String(), err.Error())
	}
	pin := pinOf(obj)
	decision := policy.Automate(policy.AutoFacts{
		App: obj, Sync: a.compared(), Resources: c.resources(), SameContent: a.job.sameContent(c),
		Inputs: c.obstacles(), Attempted: a.job.obstacles,
		Pin: pin, Windows: windows, SelfHeal: d.settings.now().Controller.SelfHeal, Now: now,
	})
	a.decided(decision)
	return decision.Operation
}

// plan makes the tasks of an operation.
func (d *driver) plan(a *app, w runner.Work, c *comparison, request v1alpha1.Operation, state v1alpha1.OperationState) *running {
	obj := a.now()
	if request.Sync == nil {
		request.Sync = &v1alpha1.SyncOperation{}
	}
	sync := request.Sync
	r := &running{request: request, state: state, options: policy.OptionsOf(obj, sync)}
	r.state.Operation, r.state.Phase, r.state.FinishedAt, r.state.Message = request, v1alpha1.OperationRunning, nil, ""
	r.state.SyncResult = a.result(c, sync)
	var done map[operation.Hooked]bool
	if state.FinishedAt == nil {
		done = succeeded(state.SyncResult, r.state.SyncResult, w.Cluster.Name)
	}
	p := operation.Request{
		ID: w.Applier.Entry, Digest: hookDigest, Revision: c.revision, Started: state.StartedAt.Time, PruneLast: r.options.Objects.PruneLast,
		Run: digest(c.revision + state.StartedAt.UTC().String() + fmt.Sprint(state.RetryCount)), Selected: selected(sync, obj),
		NoHooks: sync.SyncStrategy != nil && sync.SyncStrategy.Apply != nil, Succeeded: done,
	}
	for _, o := range c.objects {
		if o.done || r.options.OutOfSyncOnly && o.inSync() {
			continue
		}
		p.Objects = append(p.Objects, o.order.Object)
	}
	p.Objects = append(p.Objects, c.hooks...)
	for _, e := range c.extras {
		if why := unpruned(e, sync.Prune); why != "" {
			r.skipped = append(r.skipped, resultOf(e.entry, v1alpha1.ResultCodePruneSkipped, why))
			continue
		}
		p.Extra = append(p.Extra, operation.Extra{
			Entry: e.entry, Wave: operation.WaveOf(e.live.GetAnnotations()), Last: e.options.PruneLast, Confirm: e.options.Prune == policy.GuardConfirm,
		})
	}
	p.Namespace = managedNamespace(obj, w, c, r.options)
	r.sync = operation.New(p)
	d.refuseEarly(a, c, r)
	return r
}

// unpruned tells why something is not deleted.
func unpruned(e *extra, prune bool) string {
	switch {
	case e.options.Prune == policy.GuardForbid:
		return "ignored (no prune)"
	case !prune:
		return "ignored (requires pruning)"
	}
	return ""
}

// refuseEarly has an operation fail before it does anything.
func (d *driver) refuseEarly(a *app, c *comparison, r *running) {
	if shared := c.shared(); r.options.FailOnShared && len(shared) > 0 {
		r.sync.Refuse("Shared resource found: " + strings.Join(shared, "; "))
	}
	windows, err := a.snapshot().windows(time.Now())
	if err != nil || !windows.CanGoOn(!r.request.InitiatedBy.Automated, r.state.StartedAt.Time) {
		r.sync.Refuse(cmp.Or(windows.Why, "Sync operation blocked by sync window"))
	}
}

// shared are what is said of objects that another Application has.
func (c *comparison) shared() []string {
	var texts []string
	for _, condition := range c.conditions {
		if condition.Type == v1alpha1.ApplicationConditionSharedResourceWarning {
			texts = append(texts, condition.Message)
		}
	}
	return texts
}

// selected tells which objects a request names; nil is all.
func selected(sync *v1alpha1.SyncOperation, obj *v1alpha1.Application) func(engine.ObjectID) bool {
	if len(sync.Resources) == 0 {
		return nil
	}
	return func(id engine.ObjectID) bool {
		return slices.ContainsFunc(sync.Resources, func(r v1alpha1.SyncOperationResource) bool {
			return r.Group == id.Group && r.Kind == id.Kind && r.Name == id.Name &&
				(r.Namespace == "" || r.Namespace == id.Namespace || id.Namespace == "" && r.Namespace == obj.Spec.Destination.Namespace)
		})
	}
}

// advance brings an operation on until it waits, or has ended.
func (d *driver) advance(ctx context.Context, a *app, w runner.Work) runner.Acted {
	op, c := a.job.op, a.job.compared
	op.sync.Retry()
	for {
		if why, terminated := d.ends(a, op); why != "" {
			op.terminated = terminated
			return d.finish(ctx, a, w, op.sync.Terminate(time.Now(), live(d, a, w, true), why))
		}
		if op.request.Sync.DryRun {
			return d.finish(ctx, a, w, op.dryRun(c, d.gate(a, w)))
		}
		step := op.sync.Next(time.Now(), live(d, a, w, true))
		if err := d.record(ctx, a, op, step.Release); err != nil {
			return failed(err)
		}
		d.letGo(ctx, d.gate(a, w), op.sync, step.Release)
		if !step.Ended {
			d.drop(ctx, d.gate(a, w), step.Drop)
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
			d.execute(ctx, a, w, step)
		case len(step.Drop) == 0:
			return d.waiting(a, w, step)
		}
	}
}

// ends tells why an operation has to end before its time, and whether it is terminated: that is for good.
func (d *driver) ends(a *app, op *running) (why string, terminated bool) {
	s := a.snapshot()
	if state := s.obj.Status.OperationState; state != nil && state.Phase == v1alpha1.OperationTerminating && state.StartedAt.Equal(&op.state.StartedAt) {
		return policy.Terminated, true
	}
	if timeout := d.settings.now().Controller.SyncTimeout; timeout > 0 && time.Since(op.state.StartedAt.Time) > timeout {
		return policy.Terminated + ": it took longer than controller.sync.timeout.seconds, " + timeout.String(), true
	}
	windows, err := s.windows(time.Now())
	if err == nil && !windows.CanGoOn(!op.request.InitiatedBy.Automated, op.state.StartedAt.Time) {
		return windows.Why, false
	}
	return "", false
}

// waiting tells what an operation waits for.
func (d *driver) waiting(a *app, w runner.Work, step operation.Step) runner.Acted {
	op, c := a.job.op, a.job.compared
	op.state.Message = step.Message
	if len(step.Waits) > 0 && step.Message == "" {
		op.state.Message = "waiting for " + step.Waits[0].String()
	}
	again := step.Again
	if timeout := d.settings.now().Controller.SyncTimeout; timeout > 0 {
		again = sooner(again, op.state.StartedAt.Add(timeout))
	}
	if windows, err := a.snapshot().windows(time.Now()); err == nil && !windows.Next.IsZero() {
		again = sooner(again, windows.Next)
	}
	a.progress(op, c, step.Waits)
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
	d.show(a, c, w, time.Now())
	if !again {
		d.events.operation(a.now(), op)
		d.measureSync(a, op)
	}
	if step.Failed {
		f := &engine.Failure{Reason: engine.ReasonFailed, Message: op.state.Message, After: wait, Transient: again}
		if !again {
			if automatic := d.automate(a, c, time.Now()); automatic == nil {
				f.After = a.untilAgain()
			}
		}
		return runner.Acted{Entries: op.entries(c), Held: true, Failure: f, Needs: op.lacks(), Changes: changes, Terminal: f.After == 0 && !again && len(op.needs) == 0}
	}
	acted := d.rest(a)
	acted.Changes = changes
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

// abandon ends an operation that is no longer needed: running hooks continue on their own.
func (d *driver) abandon(ctx context.Context, a *app, w runner.Work) {
	op := a.job.op
	if op == nil {
		return
	}
	step, g := op.sync.Terminate(time.Now(), live(d, a, w, true), "superseded: the newer revision needs no sync"), d.gate(a, w)
	d.letGo(ctx, g, op.sync, step.Release)
	d.drop(ctx, g, step.Drop)
	op.state.Phase, op.state.Message = v1alpha1.OperationFailed, step.Message
	a.job.op = nil
	a.ended(op, a.job.compared, false, 0)
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
