package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PromotionTask are steps that promotion templates of a Project share.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName={promotask,promotasks}
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type PromotionTask struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what the task does.
	Spec PromotionTaskSpec `json:"spec"`
}

// PromotionTaskList is a list of PromotionTasks.
//
// +kubebuilder:object:root=true
type PromotionTaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PromotionTask `json:"items"`
}

// ClusterPromotionTask are steps that promotion templates of all Projects share.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName={clusterpromotask,clusterpromotasks}
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterPromotionTask struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what the task does.
	Spec PromotionTaskSpec `json:"spec"`
}

// ClusterPromotionTaskList is a list of ClusterPromotionTasks.
//
// +kubebuilder:object:root=true
type ClusterPromotionTaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterPromotionTask `json:"items"`
}

// PromotionTaskSpec is what a task does.
type PromotionTaskSpec struct {
	// Vars are variables with their defaults; one without a value has to get one from the step that names the task.
	Vars []ExpressionVariable `json:"vars,omitempty"`
	// Steps in their order.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:XValidation:message="PromotionTask step must have uses set and must not reference another task",rule="has(self.uses) && !has(self.task)"
	Steps []PromotionStep `json:"steps"`
}
