package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceSetInputProviderKind is the kind of ResourceSetInputProviders.
const ResourceSetInputProviderKind = "ResourceSetInputProvider"

// InputProviderStatic is the type of a provider that exports its own default values.
const InputProviderStatic = "Static"

// ResourceSetInputProviderSpec is what a ResourceSetInputProvider declares.
type ResourceSetInputProviderSpec struct {
	// Type says where the values come from.
	// +kubebuilder:validation:MinLength=1
	Type string `json:"type"`
	// URL is the address of a service.
	// +optional
	URL string `json:"url,omitempty"`
	// ServiceAccountName is the account as which a service of a cloud is asked.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// SecretRef names the login.
	// +optional
	SecretRef *LocalReference `json:"secretRef,omitempty"`
	// CertSecretRef names the certificates.
	// +optional
	CertSecretRef *LocalReference `json:"certSecretRef,omitempty"`
	// Insecure permits plain HTTP.
	// +optional
	Insecure bool `json:"insecure,omitempty"`
	// DefaultValues are in every exported set.
	// +optional
	DefaultValues Input `json:"defaultValues,omitempty"`
	// Filter chooses among what a service has.
	// +optional
	Filter *InputFilter `json:"filter,omitempty"`
	// Skip leaves out what is not to be updated now.
	// +optional
	Skip *InputSkip `json:"skip,omitempty"`
	// Schedule are the times at which a service is asked.
	// +optional
	Schedule []Schedule `json:"schedule,omitempty"`
}

// InputFilter chooses among what a service has.
type InputFilter struct {
	// IncludeBranch is an expression for the names of branches.
	// +optional
	IncludeBranch string `json:"includeBranch,omitempty"`
	// ExcludeBranch is an expression for the names of branches that are left out.
	// +optional
	ExcludeBranch string `json:"excludeBranch,omitempty"`
	// IncludeTag is an expression for tags.
	// +optional
	IncludeTag string `json:"includeTag,omitempty"`
	// ExcludeTag is an expression for tags that are left out.
	// +optional
	ExcludeTag string `json:"excludeTag,omitempty"`
	// IncludeEnvironment is an expression for the names of environments.
	// +optional
	IncludeEnvironment string `json:"includeEnvironment,omitempty"`
	// ExcludeEnvironment is an expression for the names of environments that are left out.
	// +optional
	ExcludeEnvironment string `json:"excludeEnvironment,omitempty"`
	// Labels are those that a request has to carry.
	// +optional
	Labels []string `json:"labels,omitempty"`
	// Limit is the largest number of sets.
	// +optional
	Limit int `json:"limit,omitempty"`
	// Semver is a range of versions.
	// +optional
	Semver string `json:"semver,omitempty"`
	// Alphabetical is asc or desc.
	// +optional
	Alphabetical string `json:"alphabetical,omitempty"`
	// Numerical is asc or desc.
	// +optional
	Numerical string `json:"numerical,omitempty"`
}

// InputSkip leaves out what is not to be updated now.
type InputSkip struct {
	// Labels are those of requests that are left as they are.
	// +optional
	Labels []string `json:"labels,omitempty"`
}

// Schedule is a time at which a service is asked.
type Schedule struct {
	// Cron is the expression.
	Cron string `json:"cron"`
	// TimeZone is that of the expression.
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
	// Window is how long after that time a service may be asked.
	// +optional
	Window *metav1.Duration `json:"window,omitempty"`
}

// NextSchedule is when a service is asked next.
type NextSchedule struct {
	Schedule `json:",inline"`

	// When is the time.
	When metav1.Time `json:"when"`
}

// ResourceSetInputProviderStatus is what became of a ResourceSetInputProvider.
type ResourceSetInputProviderStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`
	meta.ForceRequestStatus     `json:",inline"`

	// Conditions say where the object stands.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ExportedInputs are the sets of values.
	// +optional
	ExportedInputs []Input `json:"exportedInputs,omitempty"`
	// LastExportedRevision is the digest of these.
	// +optional
	LastExportedRevision string `json:"lastExportedRevision,omitempty"`
	// NextSchedule is when a service is asked next.
	// +optional
	NextSchedule *NextSchedule `json:"nextSchedule,omitempty"`
}

// ResourceSetInputProvider provides sets of inputs to ResourceSets.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rsip
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
type ResourceSetInputProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ResourceSetInputProviderSpec   `json:"spec,omitempty"`
	Status ResourceSetInputProviderStatus `json:"status,omitempty"`
}

// ResourceSetInputProviderList is a list of ResourceSetInputProviders.
// +kubebuilder:object:root=true
type ResourceSetInputProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ResourceSetInputProvider `json:"items"`
}
