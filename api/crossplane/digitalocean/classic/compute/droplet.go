package compute

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/digitalocean"
	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// Droplet is a virtual machine. Its name at DigitalOcean is the external name, or that of the resource.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=droplets,scope=Cluster,categories=crossplane;managed;do
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="SYNCED",type=string,JSONPath=`.status.conditions[?(@.type=='Synced')].status`
type Droplet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec DropletSpec `json:"spec"`
	// +optional
	Status DropletStatus `json:"status,omitempty"`
}

// DropletSpec is what is declared.
//
// +kubebuilder:object:generate=true
type DropletSpec struct {
	resource.ClusterSpec         `json:",inline"`
	digitalocean.DropletPolicies `json:",inline"`
	// ForProvider is what is to be; a field that is absent is left as it is.
	ForProvider digitalocean.ClassicDropletParameters `json:"forProvider"`
}

// DropletStatus is what is observed.
//
// +kubebuilder:object:generate=true
type DropletStatus struct {
	resource.Status `json:",inline"`
	// +optional
	AtProvider *digitalocean.ClassicDropletObservation `json:"atProvider,omitempty"`
}
