package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Arguments are what a template is called with.
type Arguments struct {
	// Parameters are strings.
	Parameters []Parameter `json:"parameters,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Artifacts are files.
	Artifacts []Artifact `json:"artifacts,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

// Inputs are what callers of a template supply.
type Inputs struct {
	// Parameters are strings.
	Parameters []Parameter `json:"parameters,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Artifacts are files.
	Artifacts []Artifact `json:"artifacts,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

// Outputs are what callers of a template get.
type Outputs struct {
	// Parameters are strings.
	Parameters []Parameter `json:"parameters,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Artifacts are files.
	Artifacts []Artifact `json:"artifacts,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Result is what was printed, or the body of a response.
	Result *string `json:"result,omitempty"`
	// ExitCode of the main container.
	ExitCode *string `json:"exitCode,omitempty"`
}

// Parameter is a string with a name.
type Parameter struct {
	// Name of the parameter.
	Name string `json:"name"`
	// Default is for inputs without a value.
	Default *AnyString `json:"default,omitempty"`
	// Value of the parameter.
	Value *AnyString `json:"value,omitempty"`
	// ValueFrom is where the value is read from.
	ValueFrom *ValueFrom `json:"valueFrom,omitempty"`
	// GlobalName has an output available everywhere, as workflow.outputs.parameters.
	GlobalName string `json:"globalName,omitempty"`
	// Enum are the values that are permitted.
	Enum []AnyString `json:"enum,omitempty"`
	// Description is for people.
	Description *AnyString `json:"description,omitempty"`
}

// ValueFrom is where the value of a parameter is read from.
type ValueFrom struct {
	// Path of a file in the main container.
	Path string `json:"path,omitempty"`
	// JSONPath into the object of a resource template.
	JSONPath string `json:"jsonPath,omitempty"`
	// JQFilter over the object of a resource template.
	JQFilter string `json:"jqFilter,omitempty"`
	// Event is an expression over an event.
	Event string `json:"event,omitempty"`
	// Parameter is the output of a step or task.
	Parameter string `json:"parameter,omitempty"`
	// Supplied is set when a suspended node is resumed.
	Supplied *SuppliedValueFrom `json:"supplied,omitempty"`
	// ConfigMapKeyRef names a key of a ConfigMap.
	ConfigMapKeyRef *corev1.ConfigMapKeySelector `json:"configMapKeyRef,omitempty"`
	// Default is for when the value cannot be read.
	Default *AnyString `json:"default,omitempty"`
	// Expression over the outputs of steps or tasks.
	Expression string `json:"expression,omitempty"`
}

// SuppliedValueFrom has no fields.
type SuppliedValueFrom struct{}
