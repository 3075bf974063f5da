package sets

import (
	"context"
	"strconv"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Report writes the state of a ResourceSet, and records an event.
func (s *Keeper) Report(ctx context.Context, r runner.Report) error {
	rs, ok := s.Get(r.Unit)
	if !ok {
		return nil
	}
	if r.Final {
		s.Metrics.Pass(r.Unit.Kind, r.Unit.Namespace, r.Unit.Name, r.Took, r.OK)
	}
	after := resourceSetStatus(rs.Status, s.count(r.Unit), r, time.Now())
	u, err := declared.Writer{Client: s.Home.Dynamic.Resource(toolkit.ResourceSetResource), Manager: toolkit.OperatorField}.Status(ctx, rs, rs.Status, after)
	if err != nil {
		return err
	}
	if u != nil {
		if _, err := s.Put(u); err != nil {
			return err
		}
	}
	s.tell(rs, r)
	return nil
}

// resourceSetStatus is the status of a ResourceSet after a report.
func resourceSetStatus(before fluxcdv1.ResourceSetStatus, inputs int, r runner.Report, now time.Time) fluxcdv1.ResourceSetStatus {
	after := *before.DeepCopy()
	c := &toolkit.Conditions{List: after.Conditions, Generation: r.Generation, Now: metav1.NewTime(now.Truncate(time.Second))}
	requested := r.Handled != "" && r.Handled != before.LastHandledReconcileAt
	switch {
	case !r.Final:
		resourceSetProgress(c, r)
	case r.OK:
		message := "Reconciliation finished in " + r.Took.Round(time.Millisecond).String()
		if ready := c.Get(toolkit.ConditionReady); !requested && before.LastAppliedRevision == r.Digest && c.Is(toolkit.ConditionReady, metav1.ConditionTrue) {
			message = ready.Message
		}
		c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.ReconciliationSucceededReason, message)
	default:
		kustomize.Failed(c, r)
		c.Drop(toolkit.ConditionHealthy)
	}
	after.Conditions = c.Sorted()
	if !r.Final {
		if len(r.Planned) > 0 {
			// Should this process be killed, the next one knows what may be there.
			after.Inventory = resourceSetInventory(r.Planned)
		}
		return after
	}
	after.Inventory = resourceSetInventory(r.Inventory)
	if r.Handled != "" {
		after.LastHandledReconcileAt = r.Handled
	}
	if r.OK {
		after.LastAppliedRevision = r.Digest
	}
	latest := after.History.Latest()
	if r.Digest != "" && (latest == nil || requested || latest.Digest != r.Digest || latest.LastReconciledStatus != string(r.Reason)) {
		after.History.Upsert(r.Digest, now.Truncate(time.Second), r.Took.Round(time.Millisecond), string(r.Reason),
			map[string]string{"inputs": strconv.Itoa(inputs), "resources": strconv.Itoa(len(r.Inventory))})
	}
	return after
}

// resourceSetProgress is the state of a pass that takes long. One that is ready stays so while the same is
// reconciled again.
func resourceSetProgress(c *toolkit.Conditions, r runner.Report) {
	ready := c.Get(toolkit.ConditionReady)
	same := ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == r.Generation
	switch {
	case same && r.Reason == engine.ReasonProgressing:
	case r.Reason == engine.ReasonProgressing:
		c.Set(toolkit.ConditionReady, metav1.ConditionUnknown, string(r.Reason), r.Message)
	default:
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(r.Reason), r.Message)
	}
	c.Unsettled(r, string(r.Reason), meta.ProgressingReason)
}

func resourceSetInventory(entries []engine.Entry) *fluxcdv1.ResourceInventory {
	inventory := &fluxcdv1.ResourceInventory{Entries: []fluxcdv1.ResourceRef{}}
	for _, e := range entries {
		inventory.Entries = append(inventory.Entries, fluxcdv1.ResourceRef{ID: e.ID.Encode(), Version: e.Version})
	}
	return inventory
}

// reasonApplied is the reason of the upstream for an event that lists what was applied.
const reasonApplied = "ApplySucceeded"

// tell emits the events of a report, given the ResourceSet as it was before. A pass that changed nothing
// tells nothing.
func (s *Keeper) tell(rs *fluxcdv1.ResourceSet, r runner.Report) {
	emit := func(kind, reason, message string) {
		s.Events.Record(rs, kind, reason, message, map[string]string{fluxcdv1.GroupVersion.Group + "/revision": r.Digest})
	}
	c := &toolkit.Conditions{List: rs.Status.Conditions}
	switch {
	case !r.Final:
		if r.Reason == engine.ReasonDependencyNotReady || r.Held {
			emit(corev1.EventTypeNormal, string(r.Reason), r.Message)
		}
		return
	case !r.OK:
		emit(corev1.EventTypeWarning, string(r.Reason), r.Message)
		return
	}
	if len(r.Changes) > 0 {
		emit(corev1.EventTypeNormal, reasonApplied, toolkit.ChangeLog(r.Changes))
	}
	requested := r.Handled != "" && r.Handled != rs.Status.LastHandledReconcileAt
	if len(r.Changes) > 0 || requested || !c.Is(toolkit.ConditionReady, metav1.ConditionTrue) {
		emit(corev1.EventTypeNormal, string(r.Reason), "Reconciliation finished in "+r.Took.Round(time.Millisecond).String())
	}
}
