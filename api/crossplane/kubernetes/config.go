package kubernetes

import "github.com/headgate-dev/headgate/api/crossplane/resource"

// ConfigSpec says which cluster is meant, and as whom.
type ConfigSpec struct {
	resource.ProviderConfigSpec `json:",inline"`
	// Identity replaces the account of a kubeconfig by that of a cloud. It is not supported.
	// +optional
	Identity *Identity `json:"identity,omitempty"`
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
