package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VirtualCluster is an API of its own, with its own state, that the process of an embedded cluster serves.
//
// Secret vc-NAME of its namespace has its credentials, under the keys config, certificate-authority, client-certificate, client-key and token.
// Argo CD knows it by the name of its namespace, as that of a destination.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=virtualclusters
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 53",message="the name is that of a release: at most 53 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.status.server`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what the virtual cluster has of the host, and where it is registered.
	// +optional
	Spec VirtualClusterSpec `json:"spec,omitzero"`
	// Status is how it is reached.
	// +optional
	Status VirtualClusterStatus `json:"status,omitzero"`
}

// VirtualClusterList is a list of VirtualClusters.
//
// +kubebuilder:object:root=true
type VirtualClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []VirtualCluster `json:"items"`
}

// VirtualClusterSpec is what the virtual cluster has of the host, and where it is registered.
type VirtualClusterSpec struct {
	// SecretMappings has Secrets of the host appear in the virtual cluster, as sync.fromHost.secrets.mappings.byName of the vcluster
	// chart: "namespace/name" to "namespace/name", "namespace/*" to "namespace/*". Those of another namespace than that of the
	// VirtualCluster are refused, unless the Application permits them for whose chart it stands.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	SecretMappings map[string]string `json:"secretMappings,omitempty"`
	// ClusterSecret says how Argo CD knows the virtual cluster; without it, Argo CD does not.
	// +optional
	ClusterSecret *ClusterSecret `json:"clusterSecret,omitempty"`
}

// ClusterSecret is the Secret cluster-NAMESPACE by which Argo CD knows the cluster under the name of the namespace of the VirtualCluster.
type ClusterSecret struct {
	// Labels are those of the Secret, by which the cluster generator of ApplicationSets selects.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`
}

// VirtualClusterStatus is how the virtual cluster is reached.
type VirtualClusterStatus struct {
	// ObservedGeneration is that of the spec that the status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ControlPlane is the name that "headgate cluster status" and "headgate cluster kubeconfig" know it by.
	// +optional
	ControlPlane string `json:"controlPlane,omitempty"`
	// Server is the address of its API.
	// +optional
	Server string `json:"server,omitempty"`
	// Secret is the name of the one with the credentials.
	// +optional
	Secret string `json:"secret,omitempty"`
	// Cluster is the name by which Argo CD knows it.
	// +optional
	Cluster string `json:"cluster,omitempty"`
	// Conditions are Ready and SecretsSynced.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
