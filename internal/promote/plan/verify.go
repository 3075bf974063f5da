package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// Health is that of a Stage: the worst of what its checks found. While a Promotion runs, and before there was one, there is none to be told; after one
// that did not succeed it is unhealthy; without checks it is healthy.
func Health(stage *v1alpha1.Stage, found []v1alpha1.Health) *v1alpha1.Health {
	last := stage.Status.LastPromotion
	switch {
	case stage.Status.CurrentPromotion != nil || last == nil:
		return nil
	case last.Status == nil || last.Status.Phase != v1alpha1.PromotionSucceeded:
		return &v1alpha1.Health{Status: v1alpha1.HealthUnhealthy, Issues: []string{"Last Promotion did not succeed"}}
	}
	health := &v1alpha1.Health{Status: v1alpha1.HealthHealthy}
	for _, one := range found {
		if severity(one.Status) > severity(health.Status) {
			health.Status = one.Status
		}
		health.Issues = append(health.Issues, one.Issues...)
	}
	if len(found) < len(last.Status.HealthChecks) && severity(health.Status) < severity(v1alpha1.HealthUnknown) {
		health.Status = v1alpha1.HealthUnknown
		health.Issues = append(health.Issues, "not all health checks were carried out")
	}
	return health
}

func severity(state v1alpha1.HealthState) int {
	switch state {
	case v1alpha1.HealthHealthy:
		return 0
	case v1alpha1.HealthNotApplicable:
		return 1
	case v1alpha1.HealthProgressing:
		return 2
	case v1alpha1.HealthUnhealthy:
		return 4
	default:
		return 3
	}
}

// Observes reports whether checks are about an Application.
func Observes(checks []v1alpha1.HealthCheckStep, namespace, name string) bool {
	for _, check := range checks {
		apps, _ := check.Config["apps"].([]any)
		for _, item := range apps {
			if app, is := item.(map[string]any); is && app["name"] == name && app["namespace"] == namespace {
				return true
			}
		}
	}
	return false
}

// Check is what is observed of the check that verifies a Stage: an HTTP request or a workflow.
type Check struct {
	Phase   v1alpha1.VerificationPhase
	Message string
	// Run names what carries it out, if an object does.
	Run *v1alpha1.AnalysisRunReference
}

// Verification is what happens next with the verification of what a Stage has.
type Verification struct {
	// Info is the state of it; nil if there is nothing to verify, or it is too early to begin.
	Info *v1alpha1.VerificationInfo
	// Start is true if the check has to be started.
	Start bool
	// Stop is true if the check has to be ended.
	Stop bool
}

// Verify is what happens next with the verification of what a Stage has. It begins when the Stage is healthy; a Stage without a check passes at once. What
// ended is not repeated, unless a person requests it by the annotation, whose value is the ID of the verification to repeat.
func Verify(stage *v1alpha1.Stage, check *Check, id string, now time.Time) Verification {
	current := Current(stage.Status.FreightHistory)
	if current == nil || stage.Status.CurrentPromotion != nil {
		return Verification{}
	}
	var last *v1alpha1.VerificationInfo
	if len(current.VerificationHistory) > 0 {
		last = current.VerificationHistory[0].DeepCopy()
	}
	again := last != nil && last.ID != "" && stage.Annotations[v1alpha1.ReverifyAnnotation] == last.ID
	if last != nil && VerificationEnded(last.Phase) && !again {
		return Verification{Info: last}
	}
	if last != nil && !VerificationEnded(last.Phase) {
		return observe(stage, last, check, now)
	}
	if stage.Status.Health == nil || stage.Status.Health.Status != v1alpha1.HealthHealthy {
		return Verification{Info: last}
	}
	info := &v1alpha1.VerificationInfo{ID: id, StartTime: &metav1.Time{Time: now}, Phase: v1alpha1.VerificationPending}
	if stage.Spec.Verification == nil {
		info.Phase, info.FinishTime = v1alpha1.VerificationSuccessful, &metav1.Time{Time: now}
		return Verification{Info: info}
	}
	return Verification{Info: info, Start: true}
}

// observe continues a verification that has not ended.
func observe(stage *v1alpha1.Stage, last *v1alpha1.VerificationInfo, check *Check, now time.Time) Verification {
	if stage.Annotations[v1alpha1.AbortAnnotation] == last.ID && last.ID != "" {
		last.Phase, last.Message, last.FinishTime = v1alpha1.VerificationAborted, "the verification was aborted", &metav1.Time{Time: now}
		return Verification{Info: last, Stop: true}
	}
	if check == nil {
		return Verification{Info: last, Start: true}
	}
	last.Phase, last.Message, last.AnalysisRun = check.Phase, check.Message, check.Run
	if VerificationEnded(last.Phase) {
		last.FinishTime = &metav1.Time{Time: now}
	}
	return Verification{Info: last}
}

// VerificationEnded reports whether a verification in a phase has ended.
func VerificationEnded(phase v1alpha1.VerificationPhase) bool {
	switch phase {
	case v1alpha1.VerificationSuccessful, v1alpha1.VerificationFailed, v1alpha1.VerificationError, v1alpha1.VerificationAborted,
		v1alpha1.VerificationInconclusive:
		return true
	default:
		return false
	}
}

// Record puts the state of a verification on top of those of a collection, in place of its earlier state.
func Record(history []v1alpha1.VerificationInfo, info v1alpha1.VerificationInfo) []v1alpha1.VerificationInfo {
	if len(history) > 0 && history[0].ID == info.ID {
		return append([]v1alpha1.VerificationInfo{info}, history[1:]...)
	}
	history = append([]v1alpha1.VerificationInfo{info}, history...)
	return history[:min(len(history), maxHistory)]
}
