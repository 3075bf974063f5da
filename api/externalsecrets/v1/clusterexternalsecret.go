package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterExternalSecret makes an ExternalSecret in each of several namespaces.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={external-secrets},shortName=ces
// +kubebuilder:printcolumn:name="Store",type=string,JSONPath=`.spec.externalSecretSpec.secretStoreRef.name`
// +kubebuilder:printcolumn:name="Refresh Interval",type=string,JSONPath=`.spec.refreshTime`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
type ClusterExternalSecret struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec ClusterExternalSecretSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status ClusterExternalSecretStatus `json:"status,omitzero"`
}

// ClusterExternalSecretList is a list of ClusterExternalSecrets.
//
// +kubebuilder:object:root=true
type ClusterExternalSecretList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterExternalSecret `json:"items"`
}

// ClusterExternalSecretSpec is what a ClusterExternalSecret declares.
type ClusterExternalSecretSpec struct {
	// ExternalSecretSpec is that of the ExternalSecrets.
	ExternalSecretSpec ExternalSecretSpec `json:"externalSecretSpec"`
	// ExternalSecretName is the name of the ExternalSecrets; none is that of this object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ExternalSecretName string `json:"externalSecretName,omitempty"`
	// ExternalSecretMetadata is laid on the ExternalSecrets.
	// +optional
	ExternalSecretMetadata ExternalSecretMetadata `json:"externalSecretMetadata,omitzero"`
	// NamespaceSelector selects namespaces; NamespaceSelectors is preferred.
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// NamespaceSelectors select namespaces, one of which has to match.
	NamespaceSelectors []*metav1.LabelSelector `json:"namespaceSelectors,omitempty"`
	// Namespaces by their names; NamespaceSelectors is preferred.
	Namespaces []string `json:"namespaces,omitempty"`
	// RefreshTime is how often the namespaces are searched.
	RefreshTime string `json:"refreshTime,omitempty"`
}

// ExternalSecretMetadata is laid on ExternalSecrets.
type ExternalSecretMetadata struct {
	// Annotations of them.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels of them.
	Labels map[string]string `json:"labels,omitempty"`
}

// ClusterExternalSecretStatus is what became of a ClusterExternalSecret.
type ClusterExternalSecretStatus struct {
	// ExternalSecretName is the name of the ExternalSecrets.
	ExternalSecretName string `json:"externalSecretName,omitempty"`
	// FailedNamespaces are those in which none could be made.
	FailedNamespaces []NamespaceFailure `json:"failedNamespaces,omitempty"`
	// ProvisionedNamespaces are those in which one was made.
	ProvisionedNamespaces []string `json:"provisionedNamespaces,omitempty"`
	// Conditions say where it stands.
	Conditions []ClusterCondition `json:"conditions,omitempty"`
}

// NamespaceFailure is a namespace in which no ExternalSecret could be made.
type NamespaceFailure struct {
	// Namespace by its name.
	Namespace string `json:"namespace"`
	// Reason of the failure.
	Reason string `json:"reason,omitempty"`
}

// ClusterCondition says where a ClusterExternalSecret stands.
type ClusterCondition struct {
	// Type is Ready.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`
	// Message for people.
	Message string `json:"message,omitempty"`
}
