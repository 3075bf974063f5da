package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ApplicationSet makes Applications: one for each set of parameters that its generators give.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applicationsets,shortName=appset;appsets
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="app.kubernetes.io/name=applicationsets.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=argocd"
type ApplicationSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is wanted.
	Spec ApplicationSetSpec `json:"spec"`
	// Status is what was seen last.
	// +optional
	Status ApplicationSetStatus `json:"status,omitzero"`
}

// ApplicationSetList is a list of ApplicationSets.
//
// +kubebuilder:object:root=true
type ApplicationSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ApplicationSet `json:"items"`
}

// ApplicationSetSpec is what an ApplicationSet declares.
type ApplicationSetSpec struct {
	// GoTemplate has the templates read as those of Go.
	GoTemplate bool `json:"goTemplate,omitempty"`
	// Generators give the parameters.
	Generators []ApplicationSetGenerator `json:"generators"`
	// Template is that of the Applications.
	Template ApplicationSetTemplate `json:"template"`
	// SyncPolicy says what may be done to the Applications.
	SyncPolicy *ApplicationSetSyncPolicy `json:"syncPolicy,omitempty"`
	// Strategy says in which order they change.
	Strategy *ApplicationSetStrategy `json:"strategy,omitempty"`
	// PreservedFields are labels and annotations that others set.
	PreservedFields *ApplicationPreservedFields `json:"preservedFields,omitempty"`
	// GoTemplateOptions are options of templates of Go.
	GoTemplateOptions []string `json:"goTemplateOptions,omitempty"`
	// ApplyNestedSelectors is no longer read: selectors of nested generators always hold.
	ApplyNestedSelectors bool `json:"applyNestedSelectors,omitempty"`
	// IgnoreApplicationDifferences are fields of the Applications that are left to others.
	IgnoreApplicationDifferences []ApplicationSetIgnoreDifferences `json:"ignoreApplicationDifferences,omitempty"`
	// TemplatePatch is a template of a patch for each Application.
	TemplatePatch *string `json:"templatePatch,omitempty"`
}

// ApplicationSetTemplate is a template of Applications.
type ApplicationSetTemplate struct {
	// Metadata of the Applications.
	Metadata ApplicationSetTemplateMeta `json:"metadata"`
	// Spec of the Applications.
	Spec ApplicationSpec `json:"spec"`
}

// ApplicationSetTemplateMeta is the metadata of Applications.
type ApplicationSetTemplateMeta struct {
	// Name of the Application.
	Name string `json:"name,omitempty"`
	// Namespace is that of the ApplicationSet, whatever is said here.
	Namespace string `json:"namespace,omitempty"`
	// Labels of the Application.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the Application.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Finalizers of the Application.
	Finalizers []string `json:"finalizers,omitempty"`
}

// ApplicationsSyncPolicy says what may be done to Applications.
type ApplicationsSyncPolicy string

// The policies.
const (
	ApplicationsSyncPolicyCreateOnly   ApplicationsSyncPolicy = "create-only"
	ApplicationsSyncPolicyCreateUpdate ApplicationsSyncPolicy = "create-update"
	ApplicationsSyncPolicyCreateDelete ApplicationsSyncPolicy = "create-delete"
	ApplicationsSyncPolicySync         ApplicationsSyncPolicy = "sync"
)

// ApplicationSetSyncPolicy says what may be done to Applications.
type ApplicationSetSyncPolicy struct {
	// PreserveResourcesOnDeletion keeps the objects of Applications that are deleted.
	PreserveResourcesOnDeletion bool `json:"preserveResourcesOnDeletion,omitempty"`
	// ApplicationsSync is the policy.
	// +kubebuilder:validation:Enum=create-only;create-update;create-delete;sync
	ApplicationsSync *ApplicationsSyncPolicy `json:"applicationsSync,omitempty"`
}

// ApplicationPreservedFields are labels and annotations that others set.
type ApplicationPreservedFields struct {
	// Annotations are their names.
	Annotations []string `json:"annotations,omitempty"`
	// Labels are their names.
	Labels []string `json:"labels,omitempty"`
}

// ApplicationSetIgnoreDifferences are fields of Applications that are left to others.
type ApplicationSetIgnoreDifferences struct {
	// Name of one Application, of all by default.
	Name string `json:"name,omitempty"`
	// JSONPointers are fields as RFC 6901 writes them.
	JSONPointers []string `json:"jsonPointers,omitempty"`
	// JQPathExpressions are fields as jq writes them.
	JQPathExpressions []string `json:"jqPathExpressions,omitempty"`
}

// ApplicationSetStrategy says in which order Applications change.
type ApplicationSetStrategy struct {
	// Type is AllAtOnce or RollingSync.
	Type string `json:"type,omitempty"`
	// RollingSync are the steps of that type.
	RollingSync *ApplicationSetRolloutStrategy `json:"rollingSync,omitempty"`
	// DeletionOrder is AllAtOnce or Reverse.
	DeletionOrder string `json:"deletionOrder,omitempty"`
}

// ApplicationSetRolloutStrategy has Applications change in steps.
type ApplicationSetRolloutStrategy struct {
	// Steps, the next one when all of the last one are healthy.
	Steps []ApplicationSetRolloutStep `json:"steps,omitempty"`
}

// ApplicationSetRolloutStep are some of the Applications.
type ApplicationSetRolloutStep struct {
	// MatchExpressions choose them by their labels.
	MatchExpressions []ApplicationMatchExpression `json:"matchExpressions,omitempty"`
	// MaxUpdate is how many change at once: a number or a percentage.
	MaxUpdate *intstr.IntOrString `json:"maxUpdate,omitempty"`
}

// ApplicationMatchExpression chooses Applications by a label.
type ApplicationMatchExpression struct {
	// Key of the label.
	Key string `json:"key,omitempty"`
	// Operator is In or NotIn.
	Operator string `json:"operator,omitempty"`
	// Values of the label.
	Values []string `json:"values,omitempty"`
}

// ApplicationSetStatus is what was seen last.
type ApplicationSetStatus struct {
	// Conditions say how it went.
	Conditions []ApplicationSetCondition `json:"conditions,omitempty"`
	// ApplicationStatus is how far each Application is in a rollout.
	ApplicationStatus []ApplicationSetApplicationStatus `json:"applicationStatus,omitempty"`
	// Resources are the Applications.
	Resources []ResourceStatus `json:"resources,omitempty"`
	// ResourcesCount is their number, even where the list is cut short.
	ResourcesCount int64 `json:"resourcesCount,omitempty"`
	// Health is that of the worst Application.
	// +optional
	Health HealthStatus `json:"health,omitzero"`
}

// The conditions of an ApplicationSet.
const (
	ApplicationSetConditionErrorOccurred       = "ErrorOccurred"
	ApplicationSetConditionParametersGenerated = "ParametersGenerated"
	ApplicationSetConditionResourcesUpToDate   = "ResourcesUpToDate"
	ApplicationSetConditionRolloutProgressing  = "RolloutProgressing"
)

// ApplicationSetCondition says how something went.
type ApplicationSetCondition struct {
	// Type names it.
	Type string `json:"type"`
	// Message says what it is.
	Message string `json:"message"`
	// LastTransitionTime is when it changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// Reason in one word.
	Reason string `json:"reason"`
}

// ApplicationSetApplicationStatus is how far an Application is in a rollout.
type ApplicationSetApplicationStatus struct {
	// Application is its name.
	Application string `json:"application"`
	// LastTransitionTime is when its status changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// Message says why.
	Message string `json:"message"`
	// Status is Waiting, Pending, Progressing or Healthy.
	Status string `json:"status"`
	// Step is the number of its step.
	Step string `json:"step"`
	// TargetRevisions are those that it is to have.
	TargetRevisions []string `json:"targetRevisions"`
}
