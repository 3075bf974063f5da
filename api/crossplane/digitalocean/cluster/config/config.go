package config

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/crossplane/resource"
)

// ProviderConfig says by which credentials DigitalOcean is called.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=providerconfigs,scope=Cluster,categories=crossplane;provider;do
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="SECRET-NAME",type=string,JSONPath=`.spec.credentials.secretRef.name`,priority=1
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec resource.ProviderConfigSpec `json:"spec"`
	// +optional
	Status resource.ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigUsage says that a resource uses a configuration.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=providerconfigusages,scope=Cluster,categories=crossplane;provider;do
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="CONFIG-NAME",type=string,JSONPath=`.providerConfigRef.name`
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type=string,JSONPath=`.resourceRef.kind`
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type=string,JSONPath=`.resourceRef.name`
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	ProviderConfigReference resource.ConfigReference `json:"providerConfigRef"`
	ResourceReference       resource.Reference       `json:"resourceRef"`
}
