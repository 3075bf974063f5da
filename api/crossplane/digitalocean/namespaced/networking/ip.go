package networking

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// IP is a reserved IP.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=ips,scope=Namespaced,categories=crossplane;managed;do
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=='Synced')].status`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type=string,JSONPath=`.metadata.annotations.crossplane\.io/external-name`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type IP struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec IPSpec `json:"spec"`
	// +optional
	Status IPStatus `json:"status,omitempty"`
}

// IPSpec is what is declared.
//
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.region) || (has(self.initProvider) && has(self.initProvider.region))",message="spec.forProvider.region is a required parameter"
type IPSpec struct {
	resource.NamespacedSpec        `json:",inline"`
	digitalocean.ReplacementPolicy `json:",inline"`
	// ForProvider is what is to be; a field that is absent is left as it is.
	ForProvider digitalocean.IPParameters `json:"forProvider"`
	// InitProvider is what is only set when it is created.
	// +optional
	InitProvider *digitalocean.IPParameters `json:"initProvider,omitempty"`
}

// IPStatus is what is observed.
//
// +kubebuilder:object:generate=true
type IPStatus struct {
	resource.Status `json:",inline"`
	// +optional
	AtProvider *digitalocean.IPObservation `json:"atProvider,omitempty"`
}
