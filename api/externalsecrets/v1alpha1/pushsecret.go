package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// PushSecret writes values of a Secret to stores.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories={external-secrets},shortName=ps
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
type PushSecret struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what is wanted.
	// +optional
	Spec PushSecretSpec `json:"spec,omitzero"`
	// Status is what was observed last.
	// +optional
	Status PushSecretStatus `json:"status,omitzero"`
}

// PushSecretList is a list of PushSecrets.
//
// +kubebuilder:object:root=true
type PushSecretList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PushSecret `json:"items"`
}

// UpdatePolicy says whether values that a store has are replaced.
//
// +kubebuilder:validation:Enum=Replace;IfNotExists
type UpdatePolicy string

// DeletionPolicy says what becomes of values when the PushSecret is deleted.
//
// +kubebuilder:validation:Enum=Delete;None
type DeletionPolicy string

// ConversionStrategy says how keys are converted.
//
// +kubebuilder:validation:Enum=None;ReverseUnicode
type ConversionStrategy string

// Policies and strategies.
const (
	UpdateReplace            UpdatePolicy       = "Replace"
	UpdateIfNotExists        UpdatePolicy       = "IfNotExists"
	DeletionDelete           DeletionPolicy     = "Delete"
	DeletionNone             DeletionPolicy     = "None"
	ConversionNone           ConversionStrategy = "None"
	ConversionReverseUnicode ConversionStrategy = "ReverseUnicode"
)

// PushSecretSpec is what a PushSecret declares.
type PushSecretSpec struct {
	// RefreshInterval is 1h by default.
	// +kubebuilder:default="1h0m0s"
	RefreshInterval string `json:"refreshInterval,omitempty"`
	// SecretStoreRefs are the stores.
	SecretStoreRefs []StoreRef `json:"secretStoreRefs"`
	// UpdatePolicy is Replace by default.
	// +kubebuilder:default="Replace"
	UpdatePolicy UpdatePolicy `json:"updatePolicy,omitempty"`
	// DeletionPolicy is None by default.
	// +kubebuilder:default="None"
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
	// Selector is the Secret, or a generator.
	Selector Selector `json:"selector"`
	// Data are the values.
	Data []Data `json:"data,omitempty"`
	// DataTo are values that are selected by their keys. It is not supported, and refused where it is set.
	DataTo []DataTo `json:"dataTo,omitempty"`
	// Template of what is written.
	Template *esv1.Template `json:"template,omitempty"`
}

// StoreRef names stores, by name or by labels.
type StoreRef struct {
	// Name of one store.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// LabelSelector selects stores.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// Kind is SecretStore, the default, or ClusterSecretStore.
	// +kubebuilder:validation:Enum=SecretStore;ClusterSecretStore
	// +kubebuilder:default="SecretStore"
	Kind string `json:"kind,omitempty"`
}

// Selector is where values come from.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type Selector struct {
	// Secret has them.
	Secret *SecretSelector `json:"secret,omitempty"`
	// GeneratorRef generates them.
	GeneratorRef *esv1.GeneratorRef `json:"generatorRef,omitempty"`
}

// SecretSelector names a Secret, or selects some.
type SecretSelector struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// Selector selects Secrets by labels.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// Data is a value that is written.
type Data struct {
	// Match is where it comes from and goes to.
	Match Match `json:"match"`
	// Metadata for the provider.
	Metadata *apiextensionsv1.JSON `json:"metadata,omitempty"`
	// ConversionStrategy is None by default.
	// +kubebuilder:default="None"
	ConversionStrategy ConversionStrategy `json:"conversionStrategy,omitempty"`
}

// DataTo is where all values go whose keys match.
//
// +kubebuilder:validation:XValidation:rule="has(self.storeRef) && (has(self.storeRef.name) || has(self.storeRef.labelSelector))",message="storeRef must specify either name or labelSelector"
type DataTo struct {
	// StoreRef is the store.
	StoreRef *StoreRef `json:"storeRef,omitempty"`
	// Match selects the keys; all without it.
	Match *KeyMatch `json:"match,omitempty"`
	// Rewrite changes the keys, in this order.
	Rewrite []KeyRewrite `json:"rewrite,omitempty"`
	// Metadata for the provider.
	Metadata *apiextensionsv1.JSON `json:"metadata,omitempty"`
	// ConversionStrategy is None by default.
	// +kubebuilder:default="None"
	ConversionStrategy ConversionStrategy `json:"conversionStrategy,omitempty"`
}

// KeyMatch selects keys.
type KeyMatch struct {
	// RegExp that they match.
	RegExp string `json:"regexp,omitempty"`
}

// KeyRewrite changes keys in one way.
//
// +kubebuilder:validation:XValidation:rule="has(self.regexp) != has(self.transform)",message="exactly one of regexp or transform must be set"
type KeyRewrite struct {
	// Regexp replaces what matches.
	Regexp *esv1.RewriteRegexp `json:"regexp,omitempty"`
	// Transform makes another key by a template.
	Transform *esv1.RewriteTransform `json:"transform,omitempty"`
}

// Match is where a value comes from and goes to.
type Match struct {
	// SecretKey in the Secret; none is all keys.
	SecretKey string `json:"secretKey,omitempty"`
	// RemoteRef in the store.
	RemoteRef RemoteRef `json:"remoteRef"`
}

// RemoteRef is a place in a store.
type RemoteRef struct {
	// RemoteKey is the key.
	RemoteKey string `json:"remoteKey"`
	// Property of the value.
	Property string `json:"property,omitempty"`
}

// PushSecretStatus is what became of a PushSecret.
type PushSecretStatus struct {
	// RefreshTime is when it was pushed last.
	// +nullable
	// +optional
	RefreshTime metav1.Time `json:"refreshTime,omitzero"`
	// SyncedResourceVersion says which state of the PushSecret was pushed.
	SyncedResourceVersion string `json:"syncedResourceVersion,omitempty"`
	// SyncedPushSecrets are the values that were pushed, by their stores and keys.
	SyncedPushSecrets map[string]map[string]Data `json:"syncedPushSecrets,omitempty"`
	// Conditions say where it stands.
	Conditions []esv1.Condition `json:"conditions,omitempty"`
}
