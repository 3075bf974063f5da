package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// dialect is the runner's view of Applications.
type dialectPort struct{ *Engine }

// Object returns the Application as expressions see it.
func (d dialectPort) Object(id engine.UnitID) map[string]any {
	a := d.apps.get(id)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.raw
}

// Drifted has nothing to report: reverting drift is an operation, which reports itself.
func (d dialectPort) Drifted(context.Context, engine.UnitID, apply.Drift, int, time.Duration) {}

// Report writes the status of an Application, when it is another one.
func (d dialectPort) Report(ctx context.Context, r runner.Report) error {
	a := d.apps.get(r.Unit)
	if a == nil {
		return nil
	}
	return d.write(ctx, a, &r)
}

// write writes the status of an Application, with what a report says of it if there is one.
func (e *Engine) write(ctx context.Context, a *app, r *runner.Report) error {
	fact, _ := (sources{e}).Source(a.source())
	h := e.children.Worst(a.standing())
	a.mu.Lock()
	obj := a.obj
	a.refuse(fact)
	a.endRetry(time.Now())
	a.incomparable(r)
	a.noteFinished()
	patch, err := e.patchOf(a, r, h)
	history := a.view.history
	a.mu.Unlock()
	if err != nil {
		return err
	}
	u, err := e.writer().Patch(ctx, obj, patch)
	if err != nil {
		return fmt.Errorf("writing the status of %s: %w", a.id, err)
	}
	if u == nil {
		return nil
	}
	e.events.changed(obj, u)
	a.gave(history)
	e.putApplication(u)
	return nil
}

// refuse ends an operation that cannot succeed: it names a revision or a source of its own, which cannot be fetched. It would
// stand in the way of every other one. The caller holds the lock.
func (a *app) refuse(fact engine.SourceFact) {
	op := a.obj.Operation
	if op == nil || op.Sync == nil || a.view.handled == encoded(op) || fact.Pending || fact.Revision != "" || fact.Message == "" {
		return
	}
	if sync := op.Sync; sync.Revision == "" && len(sync.Revisions) == 0 && sync.Source == nil && len(sync.Sources) == 0 {
		return
	}
	a.view.fail(op, fact.Message)
}

// incomparable ends a requested sync of what cannot be rendered: as long as the source does not change, it
// cannot succeed, and the user waits for its end. The caller holds the lock.
func (a *app) incomparable(r *runner.Report) {
	op := a.obj.Operation
	if r == nil || !r.Final || r.OK || r.Reason != v1alpha1.ApplicationConditionComparisonError || op == nil || a.view.handled == encoded(op) {
		return
	}
	a.view.fail(op, string(r.Reason)+": "+r.Message)
	if op.Sync != nil && r.Attempted != "" {
		// Another revision is no second attempt at this one.
		a.view.operation.SyncResult = resultAt(a.obj, r.Attempted, op.Sync)
	}
}

// fail ends an operation that has not begun.
func (v *view) fail(op *v1alpha1.Operation, why string) {
	now := since(time.Now())
	v.operation = &v1alpha1.OperationState{
		Operation: *op.DeepCopy(), Phase: v1alpha1.OperationError, Message: why, StartedAt: *now, FinishedAt: now,
	}
	v.handled, v.retry, v.waits = encoded(op), nil, nil
}

// writer writes to Applications.
func (e *Engine) writer() declared.Writer {
	return declared.Writer{Client: e.client.Resource(applicationResource), Manager: component}
}

// patchOf is a merge patch that has the Application say what is known; empty when it says that. The caller holds the lock.
func (e *Engine) patchOf(a *app, r *runner.Report, h live.Health) (map[string]any, error) {
	now := e.statusOf(a, r, h)
	patch := map[string]any{}
	before, err := declared.Fields(a.obj.Status)
	if err != nil {
		return nil, err
	}
	after, err := declared.Fields(now)
	if err != nil {
		return nil, err
	}
	if diff := declared.Difference(before, after); len(diff) > 0 && !onlyTimes(diff) {
		patch["status"] = diff
	}
	if annotations := a.annotations(r); len(annotations) > 0 {
		patch["metadata"] = map[string]any{"annotations": annotations}
	}
	if a.obj.Operation != nil && a.view.handled == encoded(a.obj.Operation) {
		patch["operation"] = nil
	}
	return patch, nil
}

// onlyTimes reports whether a patch holds nothing but the time of the last look: that alone is worth no request.
func onlyTimes(diff map[string]any) bool {
	_, at := diff["reconciledAt"]
	return at && len(diff) == 1
}

// annotations are those that have to be different: what ran, what completed, and a request for a comparison that was
// answered, if only by a failure. The caller holds the lock.
func (a *app) annotations(r *runner.Report) map[string]any {
	out := map[string]any{}
	if a.view.hooks != "" && a.obj.Annotations[annotationHooks] != a.view.hooks {
		out[annotationHooks] = a.view.hooks
	}
	if done := a.completed(); done != a.obj.Annotations[annotationDone] {
		out[annotationDone] = done
	}
	if a.obj.Annotations[v1alpha1.RefreshAnnotation] != "" && !a.view.reconciled.IsZero() && a.view.generation == a.generation &&
		a.view.answers == a.requested {
		out[v1alpha1.RefreshAnnotation] = nil
	}
	return out
}

// statusOf is the status of an Application. The caller holds the lock.
func (e *Engine) statusOf(a *app, r *runner.Report, h live.Health) v1alpha1.ApplicationStatus {
	v := &a.view
	status := *a.obj.Status.DeepCopy()
	status.ControllerNamespace = e.options.Namespace
	persist := e.settings.Now().Controller.PersistHealth
	if !v.reconciled.IsZero() {
		status.Sync, status.Resources = v.sync, e.resourcesOf(a, persist)
		status.ReconciledAt = since(v.reconciled)
		a.sourceTypes(&status)
		status.Summary.Images = v.images
		status.Summary.IsAppOfApps = slices.ContainsFunc(v.resources, func(r v1alpha1.ResourceStatus) bool {
			return r.Group == Group && r.Kind == applicationKind.Kind
		})
		enterHealth(h, &status)
	}
	status.ResourceHealthSource = "appTree"
	if persist {
		status.ResourceHealthSource = ""
	}
	if v.operation != nil {
		terminating := a.terminating()
		status.OperationState = v.operation.DeepCopy()
		if terminating {
			// The request to terminate it has not been seen yet; it must not be overwritten.
			status.OperationState.Phase = v1alpha1.OperationTerminating
		}
		status.OperationState.Message = withWaits(status.OperationState, v.waits)
	}
	if v.history != nil {
		status.History = v.history
	}
	status.Conditions = e.conditionsOf(a, r, status.Conditions)
	a.unknown(&status)
	if status.Sync.Status == "" {
		status.Sync.Status = v1alpha1.SyncStatusCodeUnknown
	}
	if status.Sync.ComparedTo.Source == nil && len(status.Sync.ComparedTo.Sources) == 0 {
		status.Sync.ComparedTo.Destination = a.obj.Spec.Destination
	}
	return status
}

// resourcesOf are the objects, with their health where that is kept. The caller holds the lock.
func (e *Engine) resourcesOf(a *app, persist bool) []v1alpha1.ResourceStatus {
	resources := slices.Clone(a.view.resources)
	if !persist {
		return resources
	}
	for i, r := range resources {
		id := engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Cluster: a.target()}
		rec, there := a.recordOf(id)
		switch {
		case !there && !r.Hook:
			resources[i].Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusMissing}
		case there && rec.Health.Status != "":
			resources[i].Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusCode(rec.Health.Status), Message: rec.Health.Message}
		}
	}
	return resources
}

// enterHealth enters the health of an Application.
func enterHealth(h live.Health, status *v1alpha1.ApplicationStatus) {
	if string(status.Health.Status) != h.Status {
		status.Health.LastTransitionTime = since(time.Now())
	}
	status.Health.Status, status.Health.Message = v1alpha1.HealthStatusCode(h.Status), h.Message
}

// withWaits is the message of an operation, with what its waits say beyond it.
func withWaits(state *v1alpha1.OperationState, waits []engine.Wait) string {
	text := state.Message
	if state.Phase != v1alpha1.OperationRunning || state.FinishedAt != nil {
		return text
	}
	for i, w := range waits {
		if i == 3 {
			return text + fmt.Sprintf("; and %d more", len(waits)-i)
		}
		text += fmt.Sprintf("; %s: %s", w.On, w.Reason)
		if !w.Since.IsZero() {
			text += " (since " + w.Since.UTC().Format(time.TimeOnly)
			if !w.Until.IsZero() {
				text += ", until " + w.Until.UTC().Format(time.TimeOnly)
			}
			text += ")"
		}
	}
	return text
}

// typed takes what was found out about the sources before they could not be rendered.
func (a *app) typed(err error) {
	var known *manifests.Error
	if !errors.As(err, &known) || !slices.ContainsFunc(known.Types, func(t v1alpha1.ApplicationSourceType) bool { return t != "" }) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.types = known.Types
}

// sourceTypes has a status say what builds the sources. The caller holds the lock.
func (a *app) sourceTypes(status *v1alpha1.ApplicationStatus) {
	status.SourceType, status.SourceTypes = "", nil
	if len(a.obj.Spec.Sources) > 0 {
		status.SourceTypes = a.view.types
	} else if len(a.view.types) > 0 {
		status.SourceType = a.view.types[0]
	}
}

// since is a time for a status.
func since(t time.Time) *metav1.Time {
	at := metav1.NewTime(t.Truncate(time.Second))
	return &at
}
