// Package v1 holds the types of the version v1 of the group external-secrets.io: ExternalSecret, ClusterExternalSecret, SecretStore and
// ClusterSecretStore. They were written from the public definitions of the API, of External Secrets Operator 1.3 to 2.9, and take what those
// take. Providers of stores that are used most have types; what configures the others is kept as it is written.
//
// Durations are strings ("1h", "10m"), so that what is written is what was said.
//
// +kubebuilder:object:generate=true
// +groupName=external-secrets.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and the version of the types.
var GroupVersion = schema.GroupVersion{Group: "external-secrets.io", Version: "v1"}

// The kinds of the group in this version.
const (
	ExternalSecretKind        = "ExternalSecret"
	ClusterExternalSecretKind = "ClusterExternalSecret"
	SecretStoreKind           = "SecretStore"
	ClusterSecretStoreKind    = "ClusterSecretStore"
)

// AddToScheme makes the types known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ExternalSecret{}, &ExternalSecretList{}, &ClusterExternalSecret{}, &ClusterExternalSecretList{},
		&SecretStore{}, &SecretStoreList{}, &ClusterSecretStore{}, &ClusterSecretStoreList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// SecretKeySelector names a key of a Secret.
type SecretKeySelector struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// Namespace of the Secret, for ClusterSecretStores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Key in the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern:=^[-._a-zA-Z0-9]+$
	Key string `json:"key,omitempty"`
}

// ServiceAccountSelector names a ServiceAccount.
type ServiceAccountSelector struct {
	// Name of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the ServiceAccount, for ClusterSecretStores.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// Audiences of its token.
	Audiences []string `json:"audiences,omitempty"`
}

// CAProvider names a key of a Secret or ConfigMap with the certificates of an authority.
type CAProvider struct {
	// Type is Secret or ConfigMap.
	// +kubebuilder:validation:Enum=Secret;ConfigMap
	Type string `json:"type"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Namespace of the object, for ClusterSecretStores.
	Namespace string `json:"namespace,omitempty"`
	// Key in the object.
	Key string `json:"key,omitempty"`
}
