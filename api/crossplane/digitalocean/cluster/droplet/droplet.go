package droplet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// Droplet is a virtual machine.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=droplets,scope=Cluster,categories=crossplane;managed;do
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=='Synced')].status`
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="EXTERNAL-NAME",type=string,JSONPath=`.metadata.annotations.crossplane\.io/external-name`
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
type Droplet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
	// +optional
	Status Status `json:"status,omitempty"`
}

// Spec is what is declared. Without a name the Droplet has that of the resource, where upstream refuses it.
//
// +kubebuilder:object:generate=true
// +kubebuilder:validation:XValidation:rule="!('*' in self.managementPolicies || 'Create' in self.managementPolicies || 'Update' in self.managementPolicies) || has(self.forProvider.size) || (has(self.initProvider) && has(self.initProvider.size))",message="spec.forProvider.size is a required parameter"
type Spec struct {
	resource.ClusterSpec         `json:",inline"`
	digitalocean.DropletPolicies `json:",inline"`
	// ForProvider is what is to be; a field that is absent is left as it is.
	ForProvider digitalocean.DropletParameters `json:"forProvider"`
	// InitProvider is what is only set when it is created.
	// +optional
	InitProvider *digitalocean.DropletParameters `json:"initProvider,omitempty"`
}

// Status is what is observed.
//
// +kubebuilder:object:generate=true
type Status struct {
	resource.Status `json:",inline"`
	// +optional
	AtProvider *digitalocean.DropletObservation `json:"atProvider,omitempty"`
}
