package v1

import (
	"github.com/fluxcd/pkg/apis/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ResourceSetKind is the kind of ResourceSets.
const ResourceSetKind = "ResourceSet"

// The ways in which the inputs of several providers come together.
const (
	InputStrategyFlatten = "Flatten"
	InputStrategyPermute = "Permute"
)

// Input is one set of values, by their names.
type Input map[string]*apiextensionsv1.JSON

// ResourceSetSpec is what a ResourceSet declares.
type ResourceSetSpec struct {
	// CommonMetadata is laid on every object.
	// +optional
	CommonMetadata *CommonMetadata `json:"commonMetadata,omitempty"`
	// InputStrategy says how the inputs of several providers come together.
	// +optional
	InputStrategy *InputStrategy `json:"inputStrategy,omitempty"`
	// Inputs are sets of values for the templates.
	// +optional
	Inputs []Input `json:"inputs,omitempty"`
	// InputsFrom are providers of more such sets.
	// +optional
	InputsFrom []InputReference `json:"inputsFrom,omitempty"`
	// Resources are the templates of objects.
	// +optional
	Resources []*apiextensionsv1.JSON `json:"resources,omitempty"`
	// ResourcesTemplate is a template of YAML documents, an object each.
	// +optional
	ResourcesTemplate string `json:"resourcesTemplate,omitempty"`
	// Steps are groups of objects that are applied one after the other.
	// +kubebuilder:validation:MaxItems=20
	// +optional
	Steps []Step `json:"steps,omitempty"`
	// DependsOn are objects that have to be there before anything is applied.
	// +optional
	DependsOn []Dependency `json:"dependsOn,omitempty"`
	// ServiceAccountName is the account as which the objects are applied.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Wait has the health of all objects waited for.
	// +optional
	Wait bool `json:"wait,omitempty"`
}

// InputStrategy says how inputs come together.
type InputStrategy struct {
	// Name is Flatten or Permute.
	// +kubebuilder:validation:Enum=Flatten;Permute
	Name string `json:"name"`
}

// InputReference names providers of inputs, by their name or by their labels.
type InputReference struct {
	// APIVersion is that of the provider.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is ResourceSetInputProvider.
	// +kubebuilder:validation:Enum=ResourceSetInputProvider
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name is that of one provider.
	// +optional
	Name string `json:"name,omitempty"`
	// Selector chooses providers by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// Step is a group of objects.
type Step struct {
	// Name is that of the step.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Resources are the templates of objects.
	// +optional
	Resources []*apiextensionsv1.JSON `json:"resources,omitempty"`
	// ResourcesTemplate is a template of YAML documents.
	// +optional
	ResourcesTemplate string `json:"resourcesTemplate,omitempty"`
	// Timeout bounds the wait for the health of the objects.
	// +optional
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// Dependency is an object that has to be there.
type Dependency struct {
	// APIVersion of the object.
	APIVersion string `json:"apiVersion"`
	// Kind of the object.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
	// Namespace of the object.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Ready is set when the object has to be ready too.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// ReadyExpr is the CEL expression that reports whether it is.
	// +optional
	ReadyExpr string `json:"readyExpr,omitempty"`
}

// ResourceSetStatus is what became of a ResourceSet.
type ResourceSetStatus struct {
	meta.ReconcileRequestStatus `json:",inline"`

	// Conditions say where the object stands.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Inventory are the objects that were applied.
	// +optional
	Inventory *ResourceInventory `json:"inventory,omitempty"`
	// LastAppliedRevision is the digest of the objects that were applied last.
	// +optional
	LastAppliedRevision string `json:"lastAppliedRevision,omitempty"`
	// History are the last passes.
	// +optional
	History meta.History `json:"history,omitempty"`
}

// ResourceSet makes objects from templates and from sets of inputs.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rset
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
type ResourceSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ResourceSetSpec   `json:"spec,omitempty"`
	Status ResourceSetStatus `json:"status,omitempty"`
}

// ResourceSetList is a list of ResourceSets.
// +kubebuilder:object:root=true
type ResourceSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ResourceSet `json:"items"`
}
