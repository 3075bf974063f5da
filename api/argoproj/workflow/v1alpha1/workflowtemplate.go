package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkflowTemplate is a spec for runs to refer to, and a library of templates, in one namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=workflowtemplates,shortName=wftmpl
type WorkflowTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is merged below that of a run.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec WorkflowSpec `json:"spec"`
}

// WorkflowTemplateList is a list of WorkflowTemplates.
//
// +kubebuilder:object:root=true
type WorkflowTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []WorkflowTemplate `json:"items"`
}

// ClusterWorkflowTemplate is the same for all namespaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=clusterworkflowtemplates,scope=Cluster,shortName=clusterwftmpl;cwft
type ClusterWorkflowTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is merged below that of a run.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec WorkflowSpec `json:"spec"`
}

// ClusterWorkflowTemplateList is a list of ClusterWorkflowTemplates.
//
// +kubebuilder:object:root=true
type ClusterWorkflowTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []ClusterWorkflowTemplate `json:"items"`
}

// WorkflowTemplateRef names a WorkflowTemplate or a ClusterWorkflowTemplate.
type WorkflowTemplateRef struct {
	// Name of the object.
	Name string `json:"name,omitempty"`
	// ClusterScope is set for a ClusterWorkflowTemplate.
	ClusterScope bool `json:"clusterScope,omitempty"`
}

// TemplateRef names one template of another object.
type TemplateRef struct {
	// Name of the object.
	Name string `json:"name,omitempty"`
	// Template is the name of the template in it.
	Template string `json:"template,omitempty"`
	// ClusterScope is set for a ClusterWorkflowTemplate.
	ClusterScope bool `json:"clusterScope,omitempty"`
	// RuntimeResolution is an older field without effect.
	RuntimeResolution bool `json:"runtimeResolution,omitempty"`
}
