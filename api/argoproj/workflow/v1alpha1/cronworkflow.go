package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CronWorkflow creates Workflows by a schedule.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=cronworkflows,shortName=cwf;cronwf
type CronWorkflow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is run, and when.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec CronWorkflowSpec `json:"spec"`
	// Status is what was run last.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Status CronWorkflowStatus `json:"status,omitzero"`
}

// CronWorkflowList is a list of CronWorkflows.
//
// +kubebuilder:object:root=true
type CronWorkflowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []CronWorkflow `json:"items"`
}

// CronWorkflowSpec is what is run, and when.
type CronWorkflowSpec struct {
	// WorkflowSpec is the spec of each run.
	WorkflowSpec WorkflowSpec `json:"workflowSpec"`
	// WorkflowMetadata is on each run.
	WorkflowMetadata *metav1.ObjectMeta `json:"workflowMetadata,omitempty"`
	// Schedules are when, in the format of cron.
	Schedules []string `json:"schedules,omitempty"`
	// Schedule is the older spelling, for one.
	Schedule string `json:"schedule,omitempty"`
	// Timezone of the schedules, such as Europe/Berlin; UTC by default.
	Timezone string `json:"timezone,omitempty"`
	// ConcurrencyPolicy says what happens while an earlier run is active.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`
	// Suspend keeps new runs from being created.
	Suspend bool `json:"suspend,omitempty"`
	// StartingDeadlineSeconds is how much later a missed run may start.
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	// SuccessfulJobsHistoryLimit is how many runs that have succeeded are kept, 3 by default.
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	// FailedJobsHistoryLimit is how many runs that have failed are kept, 1 by default.
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
	// When is an expression that has to be true for a run to be created.
	When string `json:"when,omitempty"`
	// StopStrategy ends the schedule for good.
	StopStrategy *StopStrategy `json:"stopStrategy,omitempty"`
}

// ConcurrencyPolicy says what happens when a run is due while an earlier one is active.
type ConcurrencyPolicy string

// The policies.
const (
	AllowConcurrent   ConcurrencyPolicy = "Allow"
	ForbidConcurrent  ConcurrencyPolicy = "Forbid"
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// StopStrategy ends a schedule once an expression is true.
type StopStrategy struct {
	// Expression is over the number of runs that have succeeded and failed.
	Expression string `json:"expression,omitempty"`
	// Condition is the older spelling.
	Condition string `json:"condition,omitempty"`
}

// CronWorkflowStatus is what was run last.
type CronWorkflowStatus struct {
	// Active are the runs that have not ended.
	Active []corev1.ObjectReference `json:"active,omitempty"`
	// LastScheduledTime is when a run was due last.
	LastScheduledTime *metav1.Time `json:"lastScheduledTime,omitempty"`
	// Conditions say what keeps runs from being created.
	Conditions []Condition `json:"conditions,omitempty"`
	// Succeeded counts runs.
	Succeeded int64 `json:"succeeded,omitempty"`
	// Failed counts runs.
	Failed int64 `json:"failed,omitempty"`
	// Phase is Stopped once the stop strategy has ended the schedule.
	Phase CronWorkflowPhase `json:"phase,omitempty"`
}

// CronWorkflowPhase is whether a schedule still creates runs.
type CronWorkflowPhase string

// The phases of a schedule.
const (
	CronActive  CronWorkflowPhase = "Active"
	CronStopped CronWorkflowPhase = "Stopped"
)
