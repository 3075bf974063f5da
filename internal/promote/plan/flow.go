package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// ControlFlow reports whether a Stage declares no steps: it has no Freight of its own, and forwards what is available to it.
func ControlFlow(stage *v1alpha1.Stage) bool {
	template := stage.Spec.PromotionTemplate
	return template == nil || len(template.Spec.Steps) == 0
}

// Forwarding is the status of a control-flow Stage, as upstream writes it: it is ready, and has neither Freight nor a health.
func Forwarding(stage *v1alpha1.Stage, now time.Time) v1alpha1.StageStatus {
	status := *stage.Status.DeepCopy()
	status.ObservedGeneration, status.LastHandledRefresh = stage.Generation, stage.Annotations[v1alpha1.RefreshAnnotation]
	status.FreightHistory, status.FreightSummary, status.Health = nil, "N/A", nil
	status.CurrentPromotion, status.LastPromotion, status.AutoPromotionHolds = nil, nil, nil
	for _, kind := range []string{ConditionPromoting, ConditionHealthy, ConditionVerified} {
		meta.RemoveStatusCondition(&status.Conditions, kind)
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: ConditionReady, Status: metav1.ConditionTrue, Reason: ConditionReady, ObservedGeneration: stage.Generation, LastTransitionTime: metav1.Time{Time: now},
	})
	return status
}

// Seen is the status of a Freight after what a Stage does with it: whether it has the Freight, and has verified it. A control-flow Stage has verified
// what is available to it.
func Seen(stage *v1alpha1.Stage, freight *v1alpha1.Freight, now time.Time) v1alpha1.FreightStatus {
	if ControlFlow(stage) {
		after := Leave(freight.Status, stage.Name, now)
		if Available(stage, freight, now).Now {
			return Verified(after, stage.Name, now)
		}
		return after
	}
	current := Current(stage.Status.FreightHistory)
	if current == nil || current.Items[OriginKey(freight.Origin)].Name != freight.Name {
		return Leave(freight.Status, stage.Name, now)
	}
	after := Enter(freight.Status, stage.Name, now)
	if h := current.VerificationHistory; len(h) > 0 && h[0].Phase == v1alpha1.VerificationSuccessful {
		return Verified(after, stage.Name, now)
	}
	return after
}

// Forwards is when the next Freight becomes available to a control-flow Stage if nothing else happens; zero if none does, or that is unknown.
func Forwards(p Pipeline, now time.Time) time.Time {
	var soon time.Time
	for i := range p.Freight {
		at := Available(p.Stage, &p.Freight[i], now).At
		if !at.IsZero() && (soon.IsZero() || at.Before(soon)) {
			soon = at
		}
	}
	return soon
}
