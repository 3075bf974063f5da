package custom

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// Image is an image that is imported from a URL.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=images,scope=Cluster,categories=crossplane;managed;do
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=='Synced')].status`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type=string,JSONPath=`.metadata.annotations.crossplane\.io/external-name`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type Image struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ImageSpec `json:"spec"`
	// +optional
	Status ImageStatus `json:"status,omitempty"`
}

// ImageSpec is what is declared.
//
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.name) || (has(self.initProvider) && has(self.initProvider.name))",message="spec.forProvider.name is a required parameter"
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.url) || (has(self.initProvider) && has(self.initProvider.url))",message="spec.forProvider.url is a required parameter"
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.regions) || (has(self.initProvider) && has(self.initProvider.regions))",message="spec.forProvider.regions is a required parameter"
type ImageSpec struct {
	resource.ClusterSpec           `json:",inline"`
	digitalocean.ReplacementPolicy `json:",inline"`
	// ForProvider is what is to be; a field that is absent is left as it is.
	ForProvider digitalocean.ImageParameters `json:"forProvider"`
	// InitProvider is what is only set when it is created.
	// +optional
	InitProvider *digitalocean.ImageParameters `json:"initProvider,omitempty"`
}

// ImageStatus is what is observed.
//
// +kubebuilder:object:generate=true
type ImageStatus struct {
	resource.Status `json:",inline"`
	// +optional
	AtProvider *digitalocean.ImageObservation `json:"atProvider,omitempty"`
}
