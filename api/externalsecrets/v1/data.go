package v1

// Data is a key of the Secret.
type Data struct {
	// SecretKey is the key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern:=^[-._a-zA-Z0-9]+$
	SecretKey string `json:"secretKey"`
	// RemoteRef is the value in the store.
	RemoteRef RemoteRef `json:"remoteRef"`
	// SourceRef is another store for this key.
	SourceRef *SourceRef `json:"sourceRef,omitempty"`
}

// MetadataPolicy says whether tags are fetched instead of values.
//
// +kubebuilder:validation:Enum=None;Fetch
type MetadataPolicy string

// ConversionStrategy says what becomes of characters that keys of Secrets cannot have.
//
// +kubebuilder:validation:Enum=Default;Unicode
type ConversionStrategy string

// DecodingStrategy says how values are decoded.
//
// +kubebuilder:validation:Enum=Auto;Base64;Base64URL;None
type DecodingStrategy string

// NullBytePolicy says what becomes of values with zero bytes.
//
// +kubebuilder:validation:Enum=Ignore;Fail
type NullBytePolicy string

// Policies and strategies for values.
const (
	MetadataNone      MetadataPolicy     = "None"
	MetadataFetch     MetadataPolicy     = "Fetch"
	ConversionDefault ConversionStrategy = "Default"
	ConversionUnicode ConversionStrategy = "Unicode"
	DecodeAuto        DecodingStrategy   = "Auto"
	DecodeBase64      DecodingStrategy   = "Base64"
	DecodeBase64URL   DecodingStrategy   = "Base64URL"
	DecodeNone        DecodingStrategy   = "None"
	NullBytesIgnore   NullBytePolicy     = "Ignore"
	NullBytesFail     NullBytePolicy     = "Fail"
)

// RemoteRef is a value of a store.
type RemoteRef struct {
	// Key in the store.
	Key string `json:"key"`
	// Property of the value, if it has some.
	Property string `json:"property,omitempty"`
	// Version of the value.
	Version string `json:"version,omitempty"`
	// MetadataPolicy is None by default.
	// +kubebuilder:default="None"
	MetadataPolicy MetadataPolicy `json:"metadataPolicy,omitempty"`
	// ConversionStrategy is Default by default.
	// +kubebuilder:default="Default"
	ConversionStrategy ConversionStrategy `json:"conversionStrategy,omitempty"`
	// DecodingStrategy is None by default.
	// +kubebuilder:default="None"
	DecodingStrategy DecodingStrategy `json:"decodingStrategy,omitempty"`
	// NullBytePolicy is Ignore by default.
	// +kubebuilder:default="Ignore"
	NullBytePolicy NullBytePolicy `json:"nullBytePolicy,omitempty"`
}

// SourceRef is a store or a generator.
//
// +kubebuilder:validation:MaxProperties=1
type SourceRef struct {
	// StoreRef names a store.
	StoreRef *SecretStoreRef `json:"storeRef,omitempty"`
	// GeneratorRef names a generator.
	GeneratorRef *GeneratorRef `json:"generatorRef,omitempty"`
}

// GeneratorRef names a generator.
type GeneratorRef struct {
	// APIVersion is generators.external-secrets.io/v1alpha1 by default.
	// +kubebuilder:default="generators.external-secrets.io/v1alpha1"
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the generator: Password, UUID, ClusterGenerator.
	Kind string `json:"kind"`
	// Name of the generator.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// DataFrom is a set of keys: one of Extract, Find and a generator.
type DataFrom struct {
	// Extract takes all properties of one value.
	Extract *RemoteRef `json:"extract,omitempty"`
	// Find takes all values that match.
	Find *Find `json:"find,omitempty"`
	// Rewrite changes the keys, in this order.
	Rewrite []Rewrite `json:"rewrite,omitempty"`
	// SourceRef is another store, or a generator.
	SourceRef *SourceRef `json:"sourceRef,omitempty"`
}

// Find says which values of a store are taken.
type Find struct {
	// Path below which they are; "" and none differ.
	Path *string `json:"path,omitempty"`
	// Name that they have.
	Name *FindName `json:"name,omitempty"`
	// Tags that they have.
	Tags map[string]string `json:"tags,omitempty"`
	// ConversionStrategy is Default by default.
	// +kubebuilder:default="Default"
	ConversionStrategy ConversionStrategy `json:"conversionStrategy,omitempty"`
	// DecodingStrategy is None by default.
	// +kubebuilder:default="None"
	DecodingStrategy DecodingStrategy `json:"decodingStrategy,omitempty"`
	// NullBytePolicy is Ignore by default.
	// +kubebuilder:default="Ignore"
	NullBytePolicy NullBytePolicy `json:"nullBytePolicy,omitempty"`
}

// FindName is what a name has to match.
type FindName struct {
	// RegExp for the name.
	RegExp string `json:"regexp,omitempty"`
}

// Rewrite changes keys in one way.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type Rewrite struct {
	// Merge makes one set of several.
	Merge *RewriteMerge `json:"merge,omitempty"`
	// Regexp replaces what matches.
	Regexp *RewriteRegexp `json:"regexp,omitempty"`
	// Transform applies a template.
	Transform *RewriteTransform `json:"transform,omitempty"`
}

// RewriteMerge makes one set of several.
type RewriteMerge struct {
	// Into is the key of the JSON, for the strategy JSON.
	Into string `json:"into,omitempty"`
	// Priority are keys of sets, the strongest last.
	Priority []string `json:"priority,omitempty"`
	// PriorityPolicy is Strict, the default, or IgnoreNotFound.
	// +kubebuilder:validation:Enum=IgnoreNotFound;Strict
	// +kubebuilder:default="Strict"
	PriorityPolicy string `json:"priorityPolicy,omitempty"`
	// ConflictPolicy is Error, the default, or Ignore.
	// +kubebuilder:validation:Enum=Ignore;Error
	// +kubebuilder:default="Error"
	ConflictPolicy string `json:"conflictPolicy,omitempty"`
	// Strategy is Extract, the default, or JSON.
	// +kubebuilder:validation:Enum=Extract;JSON
	// +kubebuilder:default="Extract"
	Strategy string `json:"strategy,omitempty"`
}

// RewriteRegexp replaces what matches in a key.
type RewriteRegexp struct {
	// Source is a regular expression.
	Source string `json:"source"`
	// Target is what it is replaced by.
	Target string `json:"target"`
}

// RewriteTransform makes another key of a key.
type RewriteTransform struct {
	// Template with the key as .value.
	Template string `json:"template"`
}
