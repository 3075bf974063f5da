package kubernetes

import "github.com/headgate-dev/headgate/api/crossplane/resource"

// ClusterSpec is what a cluster-scoped Object declares as a managed resource. Its policies have two spellings, of which the one that an
// object has counts: there is no default.
type ClusterSpec struct {
	// ManagementPolicies are what may be done; everything by default.
	// +optional
	ManagementPolicies []resource.ManagementAction `json:"managementPolicies,omitempty"`
	// ManagementPolicy is the older spelling.
	// +optional
	// +kubebuilder:validation:Enum=Default;ObserveCreateUpdate;ObserveDelete;Observe
	ManagementPolicy string `json:"managementPolicy,omitempty"`
	// DeletionPolicy says what becomes of the object when the Object is deleted.
	// +optional
	// +kubebuilder:validation:Enum=Orphan;Delete
	// +kubebuilder:default=Delete
	DeletionPolicy string `json:"deletionPolicy,omitempty"`
	// ProviderConfigReference names the configuration that says which cluster is meant.
	// +optional
	// +kubebuilder:default={name: "default"}
	ProviderConfigReference *resource.ConfigReference `json:"providerConfigRef,omitempty"`
	// WriteConnectionSecretToReference names the Secret that gets the connection details.
	// +optional
	WriteConnectionSecretToReference *resource.SecretReference `json:"writeConnectionSecretToRef,omitempty"`
}
