package kubernetes

import "github.com/headgate-dev/headgate/api/crossplane/resource"

// ConfigSpec says which cluster is meant, and as whom.
type ConfigSpec struct {
	resource.ProviderConfigSpec `json:",inline"`
	// Identity replaces the account of a kubeconfig by that of a cloud. It is not supported.
	// +optional
	Identity *Identity `json:"identity,omitempty"`
	// ServiceAccountRef is the account of this cluster as which Objects are applied whose credentials are an InjectedIdentity, and as which what
	// they refer to is read. It is no field of the upstream.
	// +optional
	ServiceAccountRef *ServiceAccountReference `json:"serviceAccountRef,omitempty"`
}

// ServiceAccountReference names a ServiceAccount.
type ServiceAccountReference struct {
	Name string `json:"name"`
	// Namespace of the account. That of a namespaced configuration is always its own; a cluster-scoped one for namespaced Objects means that of
	// each Object without it.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// Identity is an account of a cloud.
type Identity struct {
	Type                 string `json:"type"`
	resource.Credentials `json:",inline"`
}

// UsedConfig is a configuration that is used.
type UsedConfig struct {
	Name string `json:"name"`
	// +optional
	Kind string `json:"kind,omitempty"`
}
