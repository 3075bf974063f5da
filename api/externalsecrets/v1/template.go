package v1

import corev1 "k8s.io/api/core/v1"

// MergePolicy says whether a template replaces what was fetched, or adds to it.
//
// +kubebuilder:validation:Enum=Replace;Merge
type MergePolicy string

// The policies for templates.
const (
	TemplateReplace MergePolicy = "Replace"
	TemplateMerge   MergePolicy = "Merge"
)

// Template of a Secret.
type Template struct {
	// Type of the Secret.
	Type corev1.SecretType `json:"type,omitempty"`
	// EngineVersion is v2.
	// +kubebuilder:validation:Enum=v2
	// +kubebuilder:default="v2"
	EngineVersion string `json:"engineVersion,omitempty"`
	// Metadata of the Secret.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`
	// MergePolicy is Replace by default.
	// +kubebuilder:default="Replace"
	MergePolicy MergePolicy `json:"mergePolicy,omitempty"`
	// Data are templates of values, by their keys.
	Data map[string]string `json:"data,omitempty"`
	// TemplateFrom are templates in other objects.
	TemplateFrom []TemplateFrom `json:"templateFrom,omitempty"`
}

// TemplateMetadata is laid on a Secret.
type TemplateMetadata struct {
	// Annotations, each a template.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels, each a template.
	Labels map[string]string `json:"labels,omitempty"`
	// Finalizers of the Secret.
	Finalizers []string `json:"finalizers,omitempty"`
}

// TemplateFrom are templates in a ConfigMap, in a Secret, or as they are written here.
type TemplateFrom struct {
	// ConfigMap with templates.
	ConfigMap *TemplateRef `json:"configMap,omitempty"`
	// Secret with templates.
	Secret *TemplateRef `json:"secret,omitempty"`
	// Target is Data, the default, Annotations or Labels, or a path for other kinds of objects.
	// +kubebuilder:default="Data"
	Target string `json:"target,omitempty"`
	// Literal is a template.
	Literal string `json:"literal,omitempty"`
}

// TemplateRef names an object with templates.
type TemplateRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Items are the keys with templates.
	Items []TemplateItem `json:"items"`
}

// TemplateItem is a key with a template.
type TemplateItem struct {
	// Key in the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
	// TemplateAs is Values, the default, or KeysAndValues.
	// +kubebuilder:validation:Enum=Values;KeysAndValues
	// +kubebuilder:default="Values"
	TemplateAs string `json:"templateAs,omitempty"`
}
