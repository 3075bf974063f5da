package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// The statuses of a step, as they are shown.
const (
	StepRunning   = "Running"
	StepSucceeded = "Succeeded"
	StepSkipped   = "Skipped"
	StepFailed    = "Failed"
	StepErrored   = "Errored"
	StepAborted   = "Aborted"
)

// Outcome is what an attempt at a step gave.
type Outcome struct {
	// Status is one of those of a step. Errored may be tried again, Failed is what the step found and is final, Running is to be observed again.
	Status string
	// Message says why.
	Message string
	// Terminal says that trying again after Errored is pointless.
	Terminal bool
	// HealthChecks tell the health of the Stage from now on.
	HealthChecks []v1alpha1.HealthCheckStep
}

// Limits are what a step does when its declaration says nothing.
type Limits struct {
	// Timeout since the first attempt; zero is none.
	Timeout time.Duration
	// Threshold is how many errors in a row are final; less than one is one.
	Threshold int32
}

// Begin notes that an attempt at the current step is made, so that a process that ends meanwhile leaves a record of it.
func Begin(promotion *v1alpha1.Promotion, now time.Time) v1alpha1.PromotionStatus {
	status := *promotion.Status.DeepCopy()
	if status.Phase == "" || status.Phase == v1alpha1.PromotionPending {
		status.Phase, status.StartedAt = v1alpha1.PromotionRunning, &metav1.Time{Time: now}
	}
	if int(status.CurrentStep) >= len(promotion.Spec.Steps) {
		return status
	}
	meta := metadata(&status, promotion.Spec.Steps)
	if meta.StartedAt == nil {
		meta.StartedAt = &metav1.Time{Time: now}
	}
	meta.Status = StepRunning
	return status
}

// metadata is that of the current step, which is added if it is missing.
func metadata(status *v1alpha1.PromotionStatus, steps []v1alpha1.PromotionStep) *v1alpha1.StepExecutionMetadata {
	for i := len(status.StepExecutionMetadata); i <= int(status.CurrentStep); i++ {
		status.StepExecutionMetadata = append(status.StepExecutionMetadata, v1alpha1.StepExecutionMetadata{
			Alias: Alias(steps[i], i), ContinueOnError: steps[i].ContinueOnError,
		})
	}
	return &status.StepExecutionMetadata[status.CurrentStep]
}

// Alias is the name by which other steps know the outputs of a step: the one that it was given, or one of its index.
func Alias(step v1alpha1.PromotionStep, index int) string {
	switch {
	case step.As != "":
		return step.As
	case step.Task != nil:
		return fmt.Sprintf("task-%d", index)
	default:
		return fmt.Sprintf("step-%d", index)
	}
}

// Advance is what becomes of a Promotion after an attempt at its current step, and how long to wait before the next pass.
func Advance(promotion *v1alpha1.Promotion, outcome Outcome, limits Limits, now time.Time) (v1alpha1.PromotionStatus, time.Duration) {
	status := Begin(promotion, now)
	if int(status.CurrentStep) >= len(promotion.Spec.Steps) {
		return conclude(status, now), 0
	}
	step := promotion.Spec.Steps[status.CurrentStep]
	if step.Retry != nil {
		if step.Retry.Timeout != nil {
			limits.Timeout = step.Retry.Timeout.Duration
		}
		if step.Retry.ErrorThreshold > 0 {
			limits.Threshold = step.Retry.ErrorThreshold
		}
	}
	meta := metadata(&status, promotion.Spec.Steps)
	meta.Message = outcome.Message
	late := limits.Timeout > 0 && now.Sub(meta.StartedAt.Time) >= limits.Timeout
	switch {
	case outcome.Status == StepRunning && !late:
		meta.ErrorCount = 0
		return status, pause
	case outcome.Status == StepErrored:
		meta.ErrorCount++
		if !outcome.Terminal && !late && meta.ErrorCount < max(1, limits.Threshold) {
			meta.Status = StepErrored
			return status, Backoff(meta.ErrorCount)
		}
	}
	if late && (outcome.Status == StepRunning || outcome.Status == StepErrored) {
		outcome.Status = StepErrored
		meta.Message = fmt.Sprintf("step %q timed out after %s", meta.Alias, limits.Timeout)
		if outcome.Message != "" {
			meta.Message += ": " + outcome.Message
		}
	}
	meta.Status, meta.FinishedAt = outcome.Status, &metav1.Time{Time: now}
	if outcome.Status == StepSucceeded {
		meta.ErrorCount = 0
		status.HealthChecks = append(status.HealthChecks, outcome.HealthChecks...)
	}
	status.CurrentStep++
	if int(status.CurrentStep) < len(promotion.Spec.Steps) {
		return status, 0
	}
	return conclude(status, now), 0
}

// pause is how long a step that is in progress is left alone, if nothing is reported before.
const pause = 5 * time.Second

// Backoff is how long to wait after a number of errors in a row: five seconds, twice as long each time, five minutes at most.
func Backoff(errors int32) time.Duration {
	const longest = 5 * time.Minute
	delay := 5 * time.Second
	for ; errors > 1 && delay < longest; errors-- {
		delay *= 2
	}
	return min(delay, longest)
}

// Worst is how the steps went so far, for the functions of conditions: Errored, Failed or Succeeded. Steps that may fail do not count.
func Worst(status *v1alpha1.PromotionStatus) v1alpha1.PromotionPhase {
	phase := v1alpha1.PromotionSucceeded
	for _, step := range status.StepExecutionMetadata {
		switch {
		case step.ContinueOnError || step.FinishedAt == nil:
		case step.Status == StepErrored:
			return v1alpha1.PromotionErrored
		case step.Status == StepFailed:
			phase = v1alpha1.PromotionFailed
		}
	}
	return phase
}

func conclude(status v1alpha1.PromotionStatus, now time.Time) v1alpha1.PromotionStatus {
	status.Phase, status.FinishedAt, status.Message = Worst(&status), &metav1.Time{Time: now}, ""
	if status.Phase == v1alpha1.PromotionSucceeded {
		return status
	}
	for _, step := range status.StepExecutionMetadata {
		if !step.ContinueOnError && (step.Status == StepErrored || step.Status == StepFailed) {
			status.Message = fmt.Sprintf("step %q: %s", step.Alias, step.Message)
			break
		}
	}
	return status
}

// End ends a Promotion without another step, for a reason.
func End(promotion *v1alpha1.Promotion, why string, now time.Time) v1alpha1.PromotionStatus {
	status := *promotion.Status.DeepCopy()
	status.Phase, status.Message, status.FinishedAt = v1alpha1.PromotionAborted, why, &metav1.Time{Time: now}
	if int(status.CurrentStep) < len(status.StepExecutionMetadata) {
		step := &status.StepExecutionMetadata[status.CurrentStep]
		step.Status, step.FinishedAt = StepAborted, &metav1.Time{Time: now}
	}
	return status
}
