package digitalocean

import "github.com/headgate-dev/headgate/api/crossplane/resource"

// Reference names another managed resource, whose external name is taken.
type Reference struct {
	Name string `json:"name"`
	// Namespace is that of a namespaced resource; by default that of the resource that refers to it.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Policy *resource.ReferencePolicy `json:"policy,omitempty"`
}

// Selector selects another managed resource by its labels, or by its controller.
type Selector struct {
	// +optional
	MatchControllerRef *bool `json:"matchControllerRef,omitempty"`
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// Namespace is that of namespaced resources; by default that of the resource that selects.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// +optional
	Policy *resource.ReferencePolicy `json:"policy,omitempty"`
}

// ImageSource is where the image of a Droplet is taken from. The Droplet waits until it is there.
type ImageSource struct {
	// +optional
	SecretKeyRef *SecretKey `json:"secretKeyRef,omitempty"`
}

// SecretKey names a value in a Secret.
type SecretKey struct {
	Name string `json:"name"`
	// Namespace is required in a cluster-scoped resource; in a namespaced one it is that of the resource.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	Key       string `json:"key"`
}
