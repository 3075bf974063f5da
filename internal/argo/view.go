package argo

import (
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// view is what the status of an Application is made of: what the last comparison found, and how far the last operation
// is. It is guarded by the lock of the Application.
type view struct {
	// generation and content are of what was compared; at is the cluster of its objects.
	generation int64
	content    string
	at         *cluster.Cluster

	sync       v1alpha1.SyncStatus
	resources  []v1alpha1.ResourceStatus
	conditions []v1alpha1.ApplicationCondition
	types      []v1alpha1.ApplicationSourceType
	images     []string
	reconciled time.Time
	// counted are the objects whose health counts.
	counted []engine.ObjectID

	// answers is the request that was in force then.
	answers string
	// held is for whom a sync waits that would delete something, empty when it waits for no one.
	held string
	// broken is why nothing could be compared last.
	broken *v1alpha1.ApplicationCondition

	// decided is what was said of automation: what is wrong, why nothing begins, and when to ask again.
	decided *v1alpha1.ApplicationCondition
	why     string
	againAt time.Time
	// operation is the state of the last operation of this process, nil while there was none.
	operation *v1alpha1.OperationState
	// retry is the state of an operation that is tried again; failed is how the last one failed.
	retry  *v1alpha1.OperationState
	failed string
	// handled is the request that has been carried out, until it is gone.
	handled string
	// history is the one that the Application has not been given yet.
	history []v1alpha1.RevisionHistory
	// waits are what the operation waits for.
	waits []engine.Wait
	// lacks are what the last operation waits for, or failed for, where that is all: others have to bring it.
	lacks []apply.Need
	// unconfirmed is what a deletion waits for that a person has to agree to.
	unconfirmed string
	// hooks are the digest of those that ran; jobs are those that run once.
	hooks string
	jobs  map[engine.ObjectID]jobOnce
	// finished are those of them that were seen to have completed, by the digest of their content.
	finished map[engine.ObjectID]string
}

// see records where the objects of an Application are watched.
func (a *app) see(c *cluster.Cluster) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.at = c
	a.noteFinished()
}

// show takes what a comparison found.
func (d *driver) show(a *app, c *comparison, w runner.Work, now time.Time) {
	resources := c.resources()
	var counted []engine.ObjectID
	for _, o := range c.objects {
		if !o.done && o.order.Object.GetAnnotations()[v1alpha1.IgnoreHealthAnnotation] != "true" && !a.is(o.entry.ID) {
			counted = append(counted, o.entry.ID)
		}
	}
	for _, e := range c.extras {
		counted = append(counted, e.entry.ID)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	v.generation, v.content = w.Key.Generation, w.Key.Digest
	v.resources, v.conditions, v.counted, v.jobs = resources, c.conditions, counted, jobsOf(c)
	a.noteFinished()
	v.answers = w.Key.Requested
	if r := a.job.rendered; r != nil {
		v.types, v.images = r.Types, r.Images
	}
	v.reconciled = now
	v.sync = v1alpha1.SyncStatus{Status: c.code(), ComparedTo: v1alpha1.ComparedTo{
		Destination: a.obj.Spec.Destination, IgnoreDifferences: a.obj.Spec.IgnoreDifferences,
	}}
	if revisions := strings.Split(c.revision, ","); len(a.obj.Spec.Sources) > 0 {
		v.sync.Revisions, v.sync.ComparedTo.Sources = revisions, a.obj.Spec.Sources
	} else {
		v.sync.Revision, v.sync.ComparedTo.Source = c.revision, policy.SourceOf(a.obj.Spec)
	}
	if v.hooks == "" && v.operation == nil && a.obj.Annotations[annotationHooks] == "" && len(c.hooks) > 0 && a.obj.Status.OperationState != nil {
		// The engine that synced it before ran them.
		v.hooks = c.hooked
	}
}

// is reports whether an object is the Application itself.
func (a *app) is(id engine.ObjectID) bool {
	return id.Cluster == "" && id.GroupKind() == applicationKind && id.Namespace == a.id.Namespace && id.Name == a.id.Name
}

func (a *app) compared() v1alpha1.SyncStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view.sync
}

// known is the Application with the state of its operation as it is here. What runs, or was about to be tried again, is
// over when it is asked: something newer takes its place.
func (a *app) known() *v1alpha1.Application {
	a.mu.Lock()
	defer a.mu.Unlock()
	obj := a.obj.DeepCopy()
	if a.view.operation != nil {
		obj.Status.OperationState = a.view.operation.DeepCopy()
	}
	if obj.Operation != nil && a.view.handled == encoded(obj.Operation) {
		obj.Operation = nil
	}
	if state := obj.Status.OperationState; state != nil && (state.Phase == v1alpha1.OperationRunning || state.Phase == v1alpha1.OperationTerminating) {
		state.Phase, state.Message = v1alpha1.OperationFailed, "superseded"
	}
	return obj
}

// decided takes what was said of automation.
func (a *app) decided(decision policy.AutoDecision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.decided, a.view.why, a.view.againAt = decision.Condition, decision.Why, decision.Again
}

// again is when an operation may begin that may not begin now, and why; zero when nothing waits for that.
func (a *app) again() (time.Time, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.view.sync.Status != v1alpha1.SyncStatusCodeOutOfSync && !strings.HasPrefix(a.view.hooks, hooksFailed) {
		return time.Time{}, ""
	}
	return a.view.againAt, a.view.why
}

// untilAgain is how long it is until an operation may start, zero if none starts automatically.
func (a *app) untilAgain() time.Duration {
	at, _ := a.again()
	if at.IsZero() {
		return 0
	}
	return max(time.Until(at), time.Second)
}

// began takes that an operation begins.
func (a *app) began(op *running) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.operation, a.view.retry, a.view.waits, a.view.lacks = op.state.DeepCopy(), nil, nil, nil
}

// progress takes how far an operation is.
func (a *app) progress(op *running, c *comparison, waits []engine.Wait) {
	op.state.SyncResult.Resources = op.results()
	state := op.state.DeepCopy()
	resources := c.resources()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.operation, a.view.waits, a.view.resources = state, dated(waits, a.view.waits), resources
}

// dated has waits begin that do not say when: now, or when they began among the previous ones.
func dated(waits, before []engine.Wait) []engine.Wait {
	dated := slices.Clone(waits)
	for i, w := range dated {
		if !w.Since.IsZero() {
			continue
		}
		dated[i].Since = time.Now()
		if at := slices.IndexFunc(before, func(b engine.Wait) bool { return b.On == w.On }); at >= 0 {
			dated[i].Since = before[at].Since
		}
	}
	return dated
}

// hooksNever stands for the hooks of an Application of which none have run, since some may not be made: once they may, there
// is something to sync. hooksFailed is before the digest of those whose sync failed: they are not out of sync, and are run again.
const (
	hooksNever  = "none"
	hooksFailed = "failed:"
)

// ended takes how an operation ended, or that it is tried again.
func (a *app) ended(op *running, c *comparison, again bool, wait time.Duration) {
	now := time.Now()
	op.state.FinishedAt = since(now)
	op.state.SyncResult.Resources = op.results()
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	v.operation, v.waits, v.retry, v.failed = op.state.DeepCopy(), nil, nil, ""
	if again || op.state.Phase == v1alpha1.OperationFailed {
		v.failed = op.state.Message
	}
	if again {
		v.retry = op.state.DeepCopy()
		v.waits = []engine.Wait{{On: a.id, Reason: op.state.Message, Since: now, Until: now.Add(wait)}}
		return
	}
	a.answer(op.request)
	switch {
	case len(c.barred) > 0 && v.hooks == "" && a.obj.Annotations[annotationHooks] == "":
		v.hooks = hooksNever
	case op.failedHooks():
		v.hooks = hooksFailed + c.hooked
	}
	if op.state.Phase != v1alpha1.OperationSucceeded || op.request.Sync.DryRun {
		return
	}
	if !op.selective() {
		v.hooks = c.hooked
		v.history = a.historyWith(op, now)
	}
}

// failure is how the last operation failed, when it was one of what is declared now.
func (a *app) failure(c *comparison) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	state := a.view.operation
	if state == nil && c.hooksFailed {
		// A process that has ended saw it.
		state = a.obj.Status.OperationState
	} else if !a.job.sameContent(c) {
		return ""
	}
	dry := state != nil && state.Operation.Sync != nil && state.Operation.Sync.DryRun
	if state == nil || dry || !failedForGood(state) {
		return ""
	}
	a.view.failed = state.Message
	return state.Message
}

// wakes reports whether what was read of an Application may be what an operation waits for.
func wakes(obj *v1alpha1.Application, v *view) bool {
	if obj.DeletionTimestamp != nil {
		return obj.Annotations[v1alpha1.DeletionApprovedAnnotation] != ""
	}
	if v.operation == nil || v.operation.Phase != v1alpha1.OperationRunning {
		return false
	}
	state := obj.Status.OperationState
	return obj.Annotations[v1alpha1.DeletionApprovedAnnotation] != "" || state != nil && state.Phase == v1alpha1.OperationTerminating
}

// target is the name of the cluster of an Application. The caller holds the lock.
func (a *app) target() string {
	if a.view.at == nil {
		return ""
	}
	return a.view.at.Name
}

// recordOf is what is known of an object. The caller holds the lock.
func (a *app) recordOf(id engine.ObjectID) (cluster.Record, bool) {
	if a.view.at == nil {
		return cluster.Record{}, false
	}
	return a.view.at.Objects.Get(id)
}
