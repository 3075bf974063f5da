package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Promotion brings a Freight into a Stage.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName={promo,promos}
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Shard,type=string,JSONPath=`.metadata.labels.kargo\.akuity\.io/shard`
// +kubebuilder:printcolumn:name=Stage,type=string,JSONPath=`.spec.stage`
// +kubebuilder:printcolumn:name=Freight,type=string,JSONPath=`.spec.freight`
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Promotion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	Spec PromotionSpec `json:"spec"`
	// Status is what was observed last.
	// +optional
	Status PromotionStatus `json:"status,omitzero"`
}

// PromotionList is a list of Promotions.
//
// +kubebuilder:object:root=true
type PromotionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Promotion `json:"items"`
}

// PromotionSpec is what a Promotion declares.
type PromotionSpec struct {
	// Stage that gets the Freight.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
	Stage string `json:"stage"`
	// Freight that it gets.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Freight string `json:"freight,omitempty"`
	// Origin is that of the newest Freight, instead of a name.
	Origin *FreightOrigin `json:"origin,omitempty"`
	// Vars are variables for the expressions of the steps.
	Vars []ExpressionVariable `json:"vars,omitempty"`
	// Steps in their order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:XValidation:message="Promotion step must have uses set and must not reference a task",rule="has(self.uses) && !has(self.task)"
	Steps []PromotionStep `json:"steps"`
}

// PromotionStep is one step: a built-in one, or a task.
type PromotionStep struct {
	// Uses names a built-in step.
	// +kubebuilder:validation:MinLength=1
	Uses string `json:"uses,omitempty"`
	// Task names a task, instead of Uses.
	Task *PromotionTaskReference `json:"task,omitempty"`
	// As is the name by which later steps know its outputs.
	As string `json:"as,omitempty"`
	// If is an expression; the step is skipped where it is false.
	If string `json:"if,omitempty"`
	// ContinueOnError continues with the next step when this one fails.
	ContinueOnError bool `json:"continueOnError,omitempty"`
	// Retry says how often and for how long the step is tried.
	Retry *PromotionStepRetry `json:"retry,omitempty"`
	// Vars are variables for the expressions of the step.
	Vars []ExpressionVariable `json:"vars,omitempty"`
	// Config of the step, which may have expressions in it.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Config Config `json:"config,omitempty"`
}

// PromotionTaskReference names a task.
type PromotionTaskReference struct {
	// Name of it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
	Name string `json:"name"`
	// Kind is PromotionTask, the default, or ClusterPromotionTask.
	// +kubebuilder:validation:Enum=PromotionTask;ClusterPromotionTask
	Kind string `json:"kind,omitempty"`
}

// PromotionStepRetry says how often and for how long a step is tried.
type PromotionStepRetry struct {
	// Timeout for a step that is still running; none is that of the step.
	Timeout *metav1.Duration `json:"timeout,omitempty"`
	// ErrorThreshold is how many failures in a row end the Promotion; none is that of the step.
	ErrorThreshold int32 `json:"errorThreshold,omitempty"`
}

// PromotionPhase is where a Promotion is.
type PromotionPhase string

// The phases of a Promotion.
const (
	PromotionPending   PromotionPhase = "Pending"
	PromotionRunning   PromotionPhase = "Running"
	PromotionSucceeded PromotionPhase = "Succeeded"
	PromotionFailed    PromotionPhase = "Failed"
	PromotionErrored   PromotionPhase = "Errored"
	PromotionAborted   PromotionPhase = "Aborted"
)

// PromotionStatus is what became of a Promotion.
type PromotionStatus struct {
	// LastHandledRefresh is the value of the refresh annotation that was handled last.
	LastHandledRefresh string `json:"lastHandledRefresh,omitempty"`
	// Phase is where it is.
	Phase PromotionPhase `json:"phase,omitempty"`
	// Message says why.
	Message string `json:"message,omitempty"`
	// Freight that is promoted.
	Freight *FreightReference `json:"freight,omitempty"`
	// FreightCollection is what the Stage will have: that Freight, and that of other origins.
	FreightCollection *FreightCollection `json:"freightCollection,omitempty"`
	// HealthChecks are what tells the health of the Stage afterwards.
	HealthChecks []HealthCheckStep `json:"healthChecks,omitempty"`
	// StartedAt is when it began.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// FinishedAt is when it ended.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// CurrentStep is the index of the step that is next.
	CurrentStep int64 `json:"currentStep,omitempty"`
	// StepExecutionMetadata is what became of each step.
	StepExecutionMetadata []StepExecutionMetadata `json:"stepExecutionMetadata,omitempty"`
	// State are the outputs of the steps.
	State *apiextensionsv1.JSON `json:"state,omitempty"`
}

// StepExecutionMetadata is what became of a step.
type StepExecutionMetadata struct {
	// Alias of the step.
	Alias string `json:"alias,omitempty"`
	// StartedAt is when it was tried first.
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
	// FinishedAt is when it ended.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// ErrorCount is how often it failed in a row.
	ErrorCount int32 `json:"errorCount,omitempty"`
	// Status is how it ended.
	Status string `json:"status,omitempty"`
	// Message says why.
	Message string `json:"message,omitempty"`
	// ContinueOnError is that of the step.
	ContinueOnError bool `json:"continueOnError,omitempty"`
}

// HealthCheckStep is a check of a Stage's health.
type HealthCheckStep struct {
	// Uses names the check.
	// +kubebuilder:validation:MinLength=1
	Uses string `json:"uses"`
	// Config of the check.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Config Config `json:"config,omitempty"`
}

// PromotionReference is a Promotion as a Stage remembers it.
type PromotionReference struct {
	// Name of it.
	Name string `json:"name"`
	// Freight that is promoted.
	Freight *FreightReference `json:"freight,omitempty"`
	// Status of it.
	Status *PromotionStatus `json:"status,omitempty"`
	// FinishedAt is when it ended.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
}
