package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The types of conditions.
const (
	// ConditionReady is true while all outputs are there and are of the current inputs.
	ConditionReady = "Ready"
	// ConditionBuilding is true while a run is active.
	ConditionBuilding = "Building"
	// ConditionStalled is true when nothing is done until the inputs change or a pass is requested.
	ConditionStalled = "Stalled"
	// ConditionReconciling is true while something happens, or will without a change from outside.
	ConditionReconciling = "Reconciling"
)

// BuildStatus is what was built last, and what is being built.
type BuildStatus struct {
	// ObservedGeneration is that of the spec that was acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastHandledReconcileAt is the last request for a pass that was acted on.
	// +optional
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`
	// ObservedDigest is that of the inputs, the workflow and the epoch.
	// +optional
	ObservedDigest string `json:"observedDigest,omitempty"`
	// RebuildEpoch counts rebuilds without a change of inputs: of outputs that were deleted, and by the schedule.
	// +optional
	RebuildEpoch int64 `json:"rebuildEpoch,omitempty"`
	// Active is the run whose end is awaited, or whose outputs are being written.
	// +optional
	Active *ActiveRun `json:"active,omitempty"`
	// Attempts is the number of the last run for the observed digest, as in its name.
	// +optional
	Attempts int64 `json:"attempts,omitempty"`
	// Failures are those of the observed digest in a row, since the last request.
	// +optional
	Failures int64 `json:"failures,omitempty"`
	// LastFailure is the run that failed last.
	// +optional
	LastFailure *FailedRun `json:"lastFailure,omitempty"`
	// NextAttemptTime is when a run that failed is repeated.
	// +optional
	NextAttemptTime *metav1.Time `json:"nextAttemptTime,omitempty"`
	// LastSuccess is what the outputs are of.
	// +optional
	LastSuccess *Success `json:"lastSuccess,omitempty"`
	// LastScheduleTime is the last time of the schedule that was acted on, or was over when it was noticed.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
	// NextScheduleTime is the next time of the schedule.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`
	// Conditions are Ready, Building, Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ActiveRun is a run whose end is awaited, or whose outputs are being written.
type ActiveRun struct {
	// Run is the name of the Workflow, which follows from the Build, the digest and the attempt.
	Run string `json:"run"`
	// UID is that of the Workflow; empty until it was seen.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Digest is what the run is of.
	Digest string `json:"digest"`
	// Attempt is the number of the run for the digest.
	Attempt int64 `json:"attempt"`
	// Epoch is the one that is a part of the digest.
	// +optional
	Epoch int64 `json:"epoch,omitempty"`
}

// FailedRun is a run that failed.
type FailedRun struct {
	// Run is the name of the Workflow.
	Run string `json:"run"`
	// Digest is what the run was of.
	Digest string `json:"digest"`
	// Reason and Message say why.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Time is when it ended.
	Time metav1.Time `json:"time,omitzero"`
}

// Success is a run whose outputs were written.
type Success struct {
	// Digest is what the run was of.
	Digest string `json:"digest"`
	// Run is the name of the Workflow.
	Run string `json:"run"`
	// RunUID is its UID.
	// +optional
	RunUID types.UID `json:"runUID,omitempty"`
	// Time is when the run ended.
	// +optional
	Time metav1.Time `json:"time,omitzero"`
	// Outputs are the Secrets.
	// +optional
	// +listType=map
	// +listMapKey=secret
	Outputs []WrittenOutput `json:"outputs,omitempty"`
	// Image is the one that was registered.
	// +optional
	Image *BuiltImage `json:"image,omitempty"`
}

// WrittenOutput is a Secret as it was written.
type WrittenOutput struct {
	// Secret is its name.
	Secret string `json:"secret"`
	// UID is that of the Secret. It is empty once the deletion of the Secret was acted on.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Digest is that of its values.
	// +optional
	Digest string `json:"digest,omitempty"`
	// Values are those that are no secret.
	// +optional
	Values map[string]string `json:"values,omitempty"`
}

// BuiltImage is an image that was registered.
type BuiltImage struct {
	// Resource is the name of the managed resource.
	Resource string `json:"resource,omitempty"`
	// UID is that of the managed resource. It is empty once the deletion of the resource was acted on.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// ID is the number that DigitalOcean gave the image.
	ID string `json:"id,omitempty"`
	// Name of the image.
	Name string `json:"name,omitempty"`
}
