package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// The conditions of a Stage.
const (
	ConditionReady     = "Ready"
	ConditionPromoting = "Promoting"
	ConditionHealthy   = "Healthy"
	ConditionVerified  = "Verified"
)

// Conditions are those of a Stage that follow from the rest of its status, with the reasons and messages of the upstream. Times of transitions stay
// where nothing changed.
func Conditions(stage *v1alpha1.Stage, now metav1.Time) []metav1.Condition {
	all := make([]metav1.Condition, 0, len(stage.Status.Conditions))
	for _, c := range stage.Status.Conditions {
		all = append(all, *c.DeepCopy())
	}
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&all, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: stage.Generation, LastTransitionTime: now,
		})
	}
	if p := stage.Status.CurrentPromotion; p != nil {
		phase := v1alpha1.PromotionPending
		if p.Status != nil && p.Status.Phase != "" {
			phase = p.Status.Phase
		}
		set(ConditionPromoting, metav1.ConditionTrue, "ActivePromotion", fmt.Sprintf("Promotion %q is currently %s", p.Name, phase))
	} else {
		meta.RemoveStatusCondition(&all, ConditionPromoting)
	}
	set(ConditionHealthy, healthy(&stage.Status).Status, healthy(&stage.Status).Reason, healthy(&stage.Status).Message)
	verified := verifiedCondition(&stage.Status)
	set(ConditionVerified, verified.Status, verified.Reason, verified.Message)
	ready := verified
	for _, kind := range []string{ConditionHealthy, ConditionPromoting} {
		c := meta.FindStatusCondition(all, kind)
		if c != nil && (c.Status == metav1.ConditionTrue) == (kind == ConditionPromoting) {
			ready = metav1.Condition{Status: metav1.ConditionFalse, Reason: c.Reason, Message: c.Message}
		}
	}
	if ready.Status != metav1.ConditionTrue {
		ready.Status = metav1.ConditionFalse
	}
	set(ConditionReady, ready.Status, ready.Reason, ready.Message)
	return all
}

func healthy(status *v1alpha1.StageStatus) metav1.Condition {
	switch {
	case status.CurrentPromotion != nil:
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "ActivePromotion", Message: "Stage has a Promotion in progress"}
	case status.LastPromotion == nil:
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "NoFreight", Message: "Stage has no current Freight"}
	case status.Health == nil:
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Unknown", Message: "Stage health has not been evaluated"}
	case status.LastPromotion.Status == nil || status.LastPromotion.Status.Phase != v1alpha1.PromotionSucceeded:
		phase := v1alpha1.PromotionErrored
		if status.LastPromotion.Status != nil {
			phase = status.LastPromotion.Status.Phase
		}
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "LastPromotion" + string(phase), Message: "Last Promotion did not succeed"}
	}
	condition := metav1.Condition{Status: metav1.ConditionUnknown, Reason: string(status.Health.Status)}
	switch status.Health.Status {
	case v1alpha1.HealthHealthy, v1alpha1.HealthNotApplicable:
		condition.Status = metav1.ConditionTrue
	case v1alpha1.HealthUnhealthy:
		condition.Status = metav1.ConditionFalse
	case v1alpha1.HealthProgressing, v1alpha1.HealthUnknown:
	default:
		condition.Reason = string(v1alpha1.HealthUnknown)
	}
	condition.Message = fmt.Sprintf("Stage is %s (performed %d health checks)", condition.Reason, len(status.LastPromotion.Status.HealthChecks))
	return condition
}

func verifiedCondition(status *v1alpha1.StageStatus) metav1.Condition {
	current := Current(status.FreightHistory)
	if current == nil {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "NoFreight", Message: "Stage has no current Freight to verify"}
	}
	if len(current.VerificationHistory) == 0 {
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Pending", Message: "Freight has not been verified yet"}
	}
	last := current.VerificationHistory[0]
	switch {
	case last.Phase == v1alpha1.VerificationSuccessful:
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: "Verified", Message: "Freight has been verified"}
	case VerificationEnded(last.Phase):
		message := "Freight verification ended " + string(last.Phase)
		if last.Message != "" {
			message += ": " + last.Message
		}
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "Verification" + string(last.Phase), Message: message}
	default:
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: "Verification" + string(last.Phase), Message: "Freight is being verified"}
	}
}
