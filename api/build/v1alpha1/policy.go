package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The names of the defaults.
const (
	// DefaultAccount is the account of a Build that names none.
	DefaultAccount = "default"
	// DefaultImageAPIVersion is that of images that are registered.
	DefaultImageAPIVersion = "custom.digitalocean.m.crossplane.io/v1alpha1"
	// ImageKind is their kind.
	ImageKind = "Image"
)

// ImageOutput is an image that is registered with DigitalOcean, as a managed resource.
type ImageOutput struct {
	// APIVersion of the managed resource of kind Image. One with a namespace is in that of the Build.
	// +optional
	// +kubebuilder:validation:Enum=custom.digitalocean.m.crossplane.io/v1alpha1;custom.digitalocean.crossplane.io/v1alpha1
	APIVersion string `json:"apiVersion,omitempty"`
	// ProviderConfigRef names the credentials.
	// +optional
	ProviderConfigRef *ProviderConfigReference `json:"providerConfigRef,omitempty"`
	// NamePrefix begins the name of each image, which continues with the day, the revision and the digest; it is the name of the Build by
	// default.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	NamePrefix string `json:"namePrefix,omitempty"`
	// Revision is a part of the name, of which seven characters are taken. Tags are replaced as in the keys of a Secret.
	// +optional
	Revision string `json:"revision,omitempty"`
	// URL is where the image is imported from; tags are replaced as in the keys of a Secret.
	// +kubebuilder:validation:MinLength=1
	URL string `json:"url"`
	// Regions are those in which the image is available.
	// +kubebuilder:validation:MinItems=1
	Regions []string `json:"regions"`
	// Distribution is shown by DigitalOcean; what it does not know, such as NixOS, is "Unknown" there.
	// +optional
	Distribution string `json:"distribution,omitempty"`
	// Tags are on the image, besides those of Headgate.
	// +optional
	// +listType=set
	Tags []string `json:"tags,omitempty"`
}

// ProviderConfigReference names a provider configuration.
type ProviderConfigReference struct {
	// Kind is ProviderConfig or ClusterProviderConfig.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the configuration.
	Name string `json:"name"`
}

// OnNewInputs says what becomes of an active run when the inputs change.
type OnNewInputs string

// The policies for new inputs.
const (
	// Queue has the run end, and the latest inputs built after it.
	Queue OnNewInputs = "Queue"
	// Cancel terminates the run.
	Cancel OnNewInputs = "Cancel"
)

// Concurrency says what becomes of a run when the inputs change.
type Concurrency struct {
	// OnNewInputs is Queue by default: the run ends first, and the latest inputs are built after it. Cancel terminates it.
	// +optional
	// +kubebuilder:validation:Enum=Queue;Cancel
	OnNewInputs OnNewInputs `json:"onNewInputs,omitempty"`
}

// Retry says how often a run that failed is repeated.
type Retry struct {
	// Limit is how many more runs there are after the first one for the same inputs; 3 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Limit *int32 `json:"limit,omitempty"`
	// Backoff is how long is waited between them.
	// +optional
	Backoff Backoff `json:"backoff,omitzero"`
}

// Backoff is a wait that grows.
type Backoff struct {
	// Duration is the first wait; 1m by default.
	// +optional
	Duration *metav1.Duration `json:"duration,omitempty"`
	// Factor is what each wait is multiplied with for the next; 2 by default.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Factor *int32 `json:"factor,omitempty"`
	// Cap is the longest wait; 1h by default.
	// +optional
	Cap *metav1.Duration `json:"cap,omitempty"`
}

// Schedule has the same inputs built again. The outputs stay until the new ones are ready.
type Schedule struct {
	// Cron is when, in five fields or as @daily.
	// +kubebuilder:validation:MinLength=1
	Cron string `json:"cron"`
	// Timezone of it; UTC by default.
	// +optional
	Timezone string `json:"timezone,omitempty"`
	// Suspend has no time be due.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// History says how many runs that have ended are kept. The run of the current outputs is always kept.
type History struct {
	// Successful runs; 3 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Successful *int32 `json:"successful,omitempty"`
	// Failed runs; 3 by default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed *int32 `json:"failed,omitempty"`
}

// GC says which images are kept. What is in use is never deleted: by an output, by a Droplet, or by a run that has not ended.
type GC struct {
	// KeepImages is how many of the newest are kept; 3 by default.
	// +optional
	// +kubebuilder:validation:Minimum=1
	KeepImages *int32 `json:"keepImages,omitempty"`
	// MinAge is how long each is kept at least; 24h by default.
	// +optional
	MinAge *metav1.Duration `json:"minAge,omitempty"`
}

// RestoreOutput says whether an output that was deleted is written again without a run.
type RestoreOutput string

// The policies for outputs that were deleted.
const (
	// RestoreNever builds again: to delete the Secret is how people request a new image.
	RestoreNever RestoreOutput = "Never"
	// RestoreAlways writes what the last run gave, as long as that run exists.
	RestoreAlways RestoreOutput = "Always"
)
