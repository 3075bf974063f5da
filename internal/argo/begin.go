package argo

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

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
		if a.job.op == nil {
			a.overtake(now)
		}
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

// continues reports whether the operation that runs goes on as it was planned: what is declared, where, and what is in its way
// are as they were when it began, nothing that it wrote was changed since, and nothing else is to be deleted.
func (d *driver) continues(a *app, w runner.Work, c *comparison) bool {
	op := a.job.op
	if op == nil || op.abandoned || op.misplaced(w) || a.asksElse(op) || a.job.target != w.Declared.Target || a.job.key.Generation != w.Key.Generation ||
		!a.job.sameContent(c) || a.job.obstacles != c.obstacles() {
		return false
	}
	for _, t := range op.sync.Tasks {
		if o := c.find(t.ID); o != nil && !t.Hook && t.Code == operation.Synced && !o.inSync() {
			return false
		}
	}
	chosen, pruned := selected(op.request.Sync, a.now()), op.sync.Prunes()
	return !slices.ContainsFunc(c.extras, func(e *extra) bool {
		return unpruned(e, op.request.Sync.Prune) == "" && (chosen == nil || chosen(e.entry.ID)) && !pruned[e.entry.ID]
	})
}

// goOn has the operation that runs continue with another comparison of the same. Others may have claimed what it has not deleted yet.
func (d *driver) goOn(a *app, w runner.Work, c *comparison) {
	d.show(a, c, w, time.Now())
	op := a.job.op
	op.request = *at(op.request, c.revision)
	op.state.Operation, op.state.SyncResult = op.request, a.result(c, op.request.Sync)
	left := map[engine.ObjectID]bool{}
	for _, e := range c.extras {
		left[e.entry.ID] = true
	}
	op.sync.Spare(left)
}

// asked is what was requested, or what continues: with the state that it has, if any.
func (d *driver) asked(a *app, w runner.Work, c *comparison) (*v1alpha1.Operation, *v1alpha1.OperationState) {
	// Of a request that came since, nothing was compared yet.
	obj, early := a.now(), w.Superseded()
	// A newer revision with the same content for the Application is no reason to start over.
	same := func(state v1alpha1.OperationState) bool {
		return (sameRevision(state, c.revision) || a.job.sameContent(c)) && sameSources(state, obj)
	}
	if op := a.job.op; op != nil && same(op.state) && !a.asksElse(op) {
		state := &v1alpha1.OperationState{StartedAt: op.state.StartedAt, RetryCount: op.state.RetryCount}
		if a.job.sameContent(c) {
			state.SyncResult = op.state.SyncResult.DeepCopy()
			state.SyncResult.Resources = op.results()
		}
		return healing(at(op.request, c.revision), c), state
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if obj.Operation != nil && a.view.handled != encoded(obj.Operation) {
		if early && a.unbegun() {
			return nil, nil
		}
		state := a.view.retry
		if state == nil || !sameRequest(state.Operation, *obj.Operation) {
			state = resumable(obj, c.revision, obj.Operation)
		}
		if a.unpinned() {
			return unpin(*obj.Operation), state
		}
		return obj.Operation.DeepCopy(), state
	}
	if state := a.view.retry; state != nil && same(*state) {
		return healing(at(state.Operation, c.revision), c), state
	}
	a.view.retry = nil
	if a.view.operation == nil && obj.Status.OperationState != nil {
		if state := resumable(obj, c.revision, &obj.Status.OperationState.Operation); state != nil {
			return healing(state.Operation.DeepCopy(), c), state
		}
	}
	return nil, nil
}

// healing is a request with what is out of sync by now, where it is one by which an Application reverts drift: more may have changed since it
// began.
func healing(request *v1alpha1.Operation, c *comparison) *v1alpha1.Operation {
	if !request.InitiatedBy.Automated || request.Sync == nil || len(request.Sync.Resources) == 0 {
		return request
	}
	for _, r := range c.resources() {
		one := v1alpha1.SyncOperationResource{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		if r.Status == v1alpha1.SyncStatusCodeOutOfSync && !r.Hook && !slices.Contains(request.Sync.Resources, one) {
			request.Sync.Resources = append(request.Sync.Resources, one)
		}
	}
	return request
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
		Inputs: c.obstacles(), Attempted: a.job.obstacles, HooksFailed: c.hooksFailed,
		Pin: pin, Windows: windows, SelfHeal: d.settings.Now().Controller.SelfHeal, Now: now,
	})
	a.decided(decision)
	return decision.Operation
}
