package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stage is a place that Freight is promoted to.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Shard,type=string,JSONPath=`.spec.shard`
// +kubebuilder:printcolumn:name=Current Freight,type=string,JSONPath=`.status.freightSummary`
// +kubebuilder:printcolumn:name=Health,type=string,JSONPath=`.status.health.status`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Status,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Stage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	Spec StageSpec `json:"spec"`
	// Status is what was observed last.
	// +optional
	Status StageStatus `json:"status,omitzero"`
}

// StageList is a list of Stages.
//
// +kubebuilder:object:root=true
type StageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Stage `json:"items"`
}

// StageSpec is what a Stage declares.
type StageSpec struct {
	// Shard is the controller that serves the Stage; none is the default one.
	Shard string `json:"shard,omitempty"`
	// Vars are variables for the expressions of the Stage.
	Vars []ExpressionVariable `json:"vars,omitempty"`
	// RequestedFreight is what Freight the Stage takes.
	// +kubebuilder:validation:MinItems=1
	RequestedFreight []FreightRequest `json:"requestedFreight"`
	// PromotionTemplate is how Freight gets into the Stage; without one, the Stage only passes Freight on.
	PromotionTemplate *PromotionTemplate `json:"promotionTemplate,omitempty"`
	// Verification is how Freight is verified in the Stage.
	Verification *Verification `json:"verification,omitempty"`
}

// ExpressionVariable is a variable for expressions.
type ExpressionVariable struct {
	// Name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=^[a-zA-Z_]\w*$
	Name string `json:"name"`
	// Value, which may have expressions in it.
	Value string `json:"value,omitempty"`
}

// FreightRequest is a Freight that a Stage takes.
type FreightRequest struct {
	// Origin of the Freight.
	Origin FreightOrigin `json:"origin"`
	// Sources are where the Stage gets it from.
	Sources FreightSources `json:"sources"`
}

// AvailabilityStrategy says in how many upstream Stages Freight has to be verified.
//
// +kubebuilder:validation:Enum=All;OneOf;""
type AvailabilityStrategy string

// The strategies of availability.
const (
	AvailableInAll   AvailabilityStrategy = "All"
	AvailableInOneOf AvailabilityStrategy = "OneOf"
)

// SelectionPolicy says which Freight is promoted to automatically.
//
// +kubebuilder:validation:Enum=NewestFreight;MatchUpstream
type SelectionPolicy string

// The policies of selection.
const (
	SelectNewestFreight SelectionPolicy = "NewestFreight"
	SelectMatchUpstream SelectionPolicy = "MatchUpstream"
)

// FreightSources are where a Stage gets Freight from: its Warehouse, other Stages, or both.
type FreightSources struct {
	// Direct takes it as soon as the Warehouse has it.
	Direct bool `json:"direct,omitempty"`
	// Stages are upstream Stages in which it has to be verified.
	Stages []string `json:"stages,omitempty"`
	// RequiredSoakTime is how long an upstream Stage has to have used it.
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	RequiredSoakTime string `json:"requiredSoakTime,omitempty"`
	// AvailabilityStrategy is OneOf by default.
	AvailabilityStrategy AvailabilityStrategy `json:"availabilityStrategy,omitempty"`
	// AutoPromotionOptions say what is promoted to automatically.
	AutoPromotionOptions *AutoPromotionOptions `json:"autoPromotionOptions,omitempty"`
}

// AutoPromotionOptions say what is promoted to automatically, if anything is.
type AutoPromotionOptions struct {
	// SelectionPolicy is NewestFreight by default.
	SelectionPolicy SelectionPolicy `json:"selectionPolicy,omitempty"`
}

// PromotionTemplate is how Promotions to a Stage are made.
type PromotionTemplate struct {
	// Spec of the Promotions.
	Spec PromotionTemplateSpec `json:"spec"`
}

// PromotionTemplateSpec is what Promotions to a Stage do.
type PromotionTemplateSpec struct {
	// Vars are variables for the expressions of the steps.
	Vars []ExpressionVariable `json:"vars,omitempty"`
	// Steps in their order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:XValidation:message="PromotionTemplate step must have exactly one of uses or task set",rule="(has(self.uses) ? !has(self.task) : has(self.task))"
	Steps []PromotionStep `json:"steps,omitempty"`
}

// Verification is how Freight is verified, by analyses of Argo Rollouts.
type Verification struct {
	// AnalysisTemplates are what is run.
	AnalysisTemplates []AnalysisTemplateReference `json:"analysisTemplates,omitempty"`
	// AnalysisRunMetadata is laid on the AnalysisRuns.
	AnalysisRunMetadata *AnalysisRunMetadata `json:"analysisRunMetadata,omitempty"`
	// Args of the AnalysisRuns.
	Args []AnalysisRunArgument `json:"args,omitempty"`
}

// AnalysisTemplateReference names an AnalysisTemplate.
type AnalysisTemplateReference struct {
	// Name of it.
	Name string `json:"name"`
	// Kind is AnalysisTemplate, the default, or ClusterAnalysisTemplate.
	// +kubebuilder:validation:Enum=AnalysisTemplate;ClusterAnalysisTemplate
	Kind string `json:"kind,omitempty"`
}

// AnalysisRunMetadata is laid on AnalysisRuns.
type AnalysisRunMetadata struct {
	// Labels of them.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of them.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AnalysisRunArgument is an argument of AnalysisRuns.
type AnalysisRunArgument struct {
	// Name of it.
	Name string `json:"name"`
	// Value of it.
	Value string `json:"value"`
}

// StageStatus is what became of a Stage.
type StageStatus struct {
	// Conditions say where the Stage stands.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastHandledRefresh is the value of the refresh annotation that was handled last.
	LastHandledRefresh string `json:"lastHandledRefresh,omitempty"`
	// FreightHistory is the Freight of the Stage, the current one first, ten at most.
	FreightHistory []*FreightCollection `json:"freightHistory,omitempty"`
	// FreightSummary says for people which Freight the Stage has.
	FreightSummary string `json:"freightSummary,omitempty"`
	// Health of the Stage.
	Health *Health `json:"health,omitempty"`
	// ObservedGeneration is the generation that was reconciled last.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// CurrentPromotion is the one that runs.
	CurrentPromotion *PromotionReference `json:"currentPromotion,omitempty"`
	// LastPromotion is the one that ended last.
	LastPromotion *PromotionReference `json:"lastPromotion,omitempty"`
	// AutoPromotionEnabled says whether the policies of the Project have the Stage promoted to automatically.
	AutoPromotionEnabled bool `json:"autoPromotionEnabled,omitempty"`
	// AutoPromotionHolds are origins that are not promoted from automatically for now, by "KIND/NAME".
	AutoPromotionHolds map[string]AutoPromotionHold `json:"autoPromotionHolds,omitempty"`
	// Metadata is what steps stored for others.
	Metadata map[string]apiextensionsv1.JSON `json:"metadata,omitempty"`
}

// AutoPromotionHold is why an origin is not promoted from automatically: another Freight than the newest was promoted by hand.
type AutoPromotionHold struct {
	// FreightName is that Freight.
	FreightName string `json:"freightName,omitempty"`
	// Origin of the Freight.
	// +optional
	Origin FreightOrigin `json:"origin,omitzero"`
	// PromotionName is the Promotion.
	PromotionName string `json:"promotionName,omitempty"`
	// Actor is who requested it.
	Actor string `json:"actor,omitempty"`
	// CreatedAt is when the Promotion was created.
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
}

// HealthState is how well a Stage is.
type HealthState string

// The states of health.
const (
	HealthHealthy       HealthState = "Healthy"
	HealthNotApplicable HealthState = "NotApplicable"
	HealthProgressing   HealthState = "Progressing"
	HealthUnknown       HealthState = "Unknown"
	HealthUnhealthy     HealthState = "Unhealthy"
)

// Health is how well a Stage is, and why.
type Health struct {
	// Status in a word.
	Status HealthState `json:"status,omitempty"`
	// Issues are what is wrong.
	Issues []string `json:"issues,omitempty"`
	// Config of the checks.
	Config *apiextensionsv1.JSON `json:"config,omitempty"`
	// Output of the checks.
	Output *apiextensionsv1.JSON `json:"output,omitempty"`
}

// VerificationPhase is where a verification is.
type VerificationPhase string

// The phases of a verification.
const (
	VerificationPending      VerificationPhase = "Pending"
	VerificationRunning      VerificationPhase = "Running"
	VerificationSuccessful   VerificationPhase = "Successful"
	VerificationFailed       VerificationPhase = "Failed"
	VerificationError        VerificationPhase = "Error"
	VerificationAborted      VerificationPhase = "Aborted"
	VerificationInconclusive VerificationPhase = "Inconclusive"
)

// VerificationInfo is one verification.
type VerificationInfo struct {
	// ID of the verification.
	ID string `json:"id,omitempty"`
	// Actor is who began or aborted it.
	Actor string `json:"actor,omitempty"`
	// StartTime is when it began.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// FinishTime is when it ended.
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// Phase is where it is.
	Phase VerificationPhase `json:"phase,omitempty"`
	// Message says why.
	Message string `json:"message,omitempty"`
	// AnalysisRun carries it out.
	AnalysisRun *AnalysisRunReference `json:"analysisRun,omitempty"`
}

// AnalysisRunReference names an AnalysisRun.
type AnalysisRunReference struct {
	// Namespace of it.
	Namespace string `json:"namespace"`
	// Name of it.
	Name string `json:"name"`
	// Phase is where it was when it was seen last.
	Phase string `json:"phase,omitempty"`
}
