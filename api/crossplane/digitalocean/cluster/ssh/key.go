package ssh

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// Key is a public SSH key.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=keys,scope=Cluster,categories=crossplane;managed;do
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=='Synced')].status`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type=string,JSONPath=`.metadata.annotations.crossplane\.io/external-name`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type Key struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec KeySpec `json:"spec"`
	// +optional
	Status KeyStatus `json:"status,omitempty"`
}

// KeySpec is what is declared.
//
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.name) || (has(self.initProvider) && has(self.initProvider.name))",message="spec.forProvider.name is a required parameter"
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.publicKey) || (has(self.initProvider) && has(self.initProvider.publicKey))",message="spec.forProvider.publicKey is a required parameter"
type KeySpec struct {
	resource.ClusterSpec           `json:",inline"`
	digitalocean.ReplacementPolicy `json:",inline"`
	// ForProvider is what is to be; a field that is absent is left as it is.
	ForProvider digitalocean.KeyParameters `json:"forProvider"`
	// InitProvider is what is only set when it is created.
	// +optional
	InitProvider *digitalocean.KeyParameters `json:"initProvider,omitempty"`
}

// KeyStatus is what is observed.
//
// +kubebuilder:object:generate=true
type KeyStatus struct {
	resource.Status `json:",inline"`
	// +optional
	AtProvider *digitalocean.KeyObservation `json:"atProvider,omitempty"`
}
