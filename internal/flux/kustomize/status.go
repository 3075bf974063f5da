package kustomize

import (
	"fmt"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
)

// StatusOf returns the status of a Kustomization after a report. It is a pure function of the
// status before, the report and the time.
func StatusOf(before kustomizev1.KustomizationStatus, r runner.Report, now time.Time) kustomizev1.KustomizationStatus {
	after := *before.DeepCopy()
	c := &toolkit.Conditions{List: after.Conditions, Generation: r.Generation, Now: metav1.NewTime(now.Truncate(time.Second))}
	switch {
	case !r.Final:
		progress(c, before, r)
	case r.OK:
		succeeded(c, before, r)
	default:
		Failed(c, r)
	}
	after.Conditions = c.Sorted()
	if r.Attempted != "" {
		after.LastAttemptedRevision = r.Attempted
	}
	if !r.Final {
		if len(r.Planned) > 0 {
			// Should this process be killed, the next one knows what may be there.
			after.Inventory = inventoryOf(r.Planned)
		}
		return after
	}
	after.Inventory = inventoryOf(r.Inventory)
	requested := r.Handled != "" && r.Handled != before.LastHandledReconcileAt
	if r.Handled != "" {
		after.LastHandledReconcileAt = r.Handled
	}
	if r.OK {
		after.LastAppliedRevision, after.LastAppliedOriginRevision = r.Attempted, r.Origin
	}
	if r.OK || r.Terminal {
		after.ObservedGeneration = r.Generation
	}
	if r.Digest != "" {
		remember(&after, r, requested, now)
	}
	return after
}

// progress is the state of a pass that takes long. A unit that is ready stays so while the same
// revision is evaluated again.
func progress(c *toolkit.Conditions, before kustomizev1.KustomizationStatus, r runner.Report) {
	same := c.Is(toolkit.ConditionReady, metav1.ConditionTrue) && r.Reason == engine.ReasonProgressing &&
		before.LastAppliedRevision == r.Attempted && before.ObservedGeneration == r.Generation
	switch {
	case same:
	case r.Reason == engine.ReasonProgressing:
		c.Set(toolkit.ConditionReady, metav1.ConditionUnknown, string(r.Reason), r.Message)
		unknownHealth(c, r)
	default:
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(r.Reason), r.Message)
		outdatedHealth(c, r)
	}
	c.Unsettled(r, string(r.Reason), meta.ProgressingReason)
}

// unknownHealth says of a revision in progress that its health is unknown yet; of one whose health is not checked there is nothing to say.
func unknownHealth(c *toolkit.Conditions, r runner.Report) {
	if !r.Checked {
		c.Drop(toolkit.ConditionHealthy)
		return
	}
	c.Set(toolkit.ConditionHealthy, metav1.ConditionUnknown, meta.ProgressingReason, r.Message)
}

// outdatedHealth takes the condition back that was found for an earlier declaration: what it says is not of this one.
func outdatedHealth(c *toolkit.Conditions, r runner.Report) {
	if was := c.Get(toolkit.ConditionHealthy); was != nil && was.ObservedGeneration != r.Generation {
		c.Drop(toolkit.ConditionHealthy)
	}
}

func succeeded(c *toolkit.Conditions, before kustomizev1.KustomizationStatus, r runner.Report) {
	c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
	if r.Checked {
		same := before.LastAppliedRevision == r.Attempted && c.Is(toolkit.ConditionHealthy, metav1.ConditionTrue)
		message := fmt.Sprintf("Health check passed in %s", r.Took.Round(time.Millisecond))
		if same {
			message = c.Get(toolkit.ConditionHealthy).Message
		}
		c.Set(toolkit.ConditionHealthy, metav1.ConditionTrue, meta.SucceededReason, message)
	} else {
		c.Drop(toolkit.ConditionHealthy)
	}
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.ReconciliationSucceededReason, "Applied revision: "+r.Attempted)
}

// Failed enters the failure of a report.
func Failed(c *toolkit.Conditions, r runner.Report) {
	c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(r.Reason), r.Message)
	if r.Reason == engine.ReasonHealthCheckFailed {
		c.Set(toolkit.ConditionHealthy, metav1.ConditionFalse, string(r.Reason), r.Message)
	} else {
		outdatedHealth(c, r)
	}
	c.Unsettled(r, string(r.Reason), meta.ProgressingWithRetryReason)
}

func inventoryOf(entries []engine.Entry) *kustomizev1.ResourceInventory {
	inventory := &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{}}
	for _, e := range entries {
		inventory.Entries = append(inventory.Entries, kustomizev1.ResourceRef{ID: e.ID.Encode(), Version: e.Version})
	}
	return inventory
}

// remember adds a pass to the history: a new result, or a requested one. A pass at the
// interval that finds nothing new leaves the history alone.
func remember(s *kustomizev1.KustomizationStatus, r runner.Report, requested bool, now time.Time) {
	latest := s.History.Latest()
	if latest != nil && !requested && latest.Digest == r.Digest && latest.LastReconciledStatus == string(r.Reason) &&
		latest.Metadata["revision"] == r.Attempted {
		return
	}
	metadata := map[string]string{"revision": r.Attempted}
	if r.Origin != "" {
		metadata["originRevision"] = r.Origin
	}
	s.History.Upsert(r.Digest, now.Truncate(time.Second), r.Took.Round(time.Millisecond), string(r.Reason), metadata)
}
