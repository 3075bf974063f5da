package resource

// ProviderConfigSpec is how a provider is configured: by its credentials.
type ProviderConfigSpec struct {
	Credentials Credentials `json:"credentials"`
}

// Credentials say where credentials are.
type Credentials struct {
	// +kubebuilder:validation:Enum=None;Secret;InjectedIdentity;Environment;Filesystem
	Source string `json:"source"`
	// +optional
	SecretRef *SecretKeySelector `json:"secretRef,omitempty"`
	// +optional
	Env *EnvSelector `json:"env,omitempty"`
	// +optional
	FS *FSSelector `json:"fs,omitempty"`
}

// SecretKeySelector names a value in a Secret.
type SecretKeySelector struct {
	Name string `json:"name"`
	// Namespace of the Secret. That of a namespaced configuration is always its own.
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
}

// EnvSelector names a variable of the environment.
type EnvSelector struct {
	Name string `json:"name"`
}

// FSSelector names a file.
type FSSelector struct {
	Path string `json:"path"`
}

// ProviderConfigStatus is what a configuration shows.
type ProviderConfigStatus struct {
	// Users are how many resources use the configuration.
	// +optional
	Users int64 `json:"users,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// Reference names a managed resource that uses a configuration.
type Reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	// +optional
	UID string `json:"uid,omitempty"`
}
