package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Build runs a workflow for each digest of its inputs, and keeps the outputs of the last run that succeeded. A run is created when the inputs
// change, when an output was deleted, by a schedule, and never for any other reason.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=builds
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name is the value of a label: at most 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Run",type=string,JSONPath=`.status.active.run`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.lastSuccess.image.id`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Build struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is built of what.
	Spec BuildSpec `json:"spec"`
	// Status is what was built last.
	// +optional
	Status BuildStatus `json:"status,omitzero"`
}

// BuildList is a list of Builds.
//
// +kubebuilder:object:root=true
type BuildList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Build `json:"items"`
}

// BuildSpec is what is built of what.
//
// +kubebuilder:validation:XValidation:rule="has(self.workflowTemplateRef) != has(self.workflow)",message="one of workflowTemplateRef and workflow is required"
type BuildSpec struct {
	// WorkflowTemplateRef names the template that is run.
	// +optional
	WorkflowTemplateRef *workflow.WorkflowTemplateRef `json:"workflowTemplateRef,omitempty"`
	// Workflow is the spec of the run, where there is no template.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Workflow *runtime.RawExtension `json:"workflow,omitempty"`
	// ServiceAccountName is the account, in the namespace of the Build, as which inputs are read, runs are created and outputs are
	// written. It is "default" by default. The pods of the run have it too, unless the workflow names another one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Inputs are what the outputs depend on, besides the workflow.
	// +optional
	Inputs Inputs `json:"inputs,omitzero"`
	// Outputs are what a run that succeeded leaves.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	Outputs []Output `json:"outputs,omitempty"`
	// Image has an image registered with DigitalOcean from what the run uploaded, once per digest.
	// +optional
	Image *ImageOutput `json:"image,omitempty"`
	// Concurrency says what becomes of a run when the inputs change.
	// +optional
	Concurrency Concurrency `json:"concurrency,omitzero"`
	// Retry says how often a run that failed is repeated.
	// +optional
	Retry Retry `json:"retry,omitzero"`
	// Schedule has the same inputs built again from time to time.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`
	// History says how many runs that have ended are kept.
	// +optional
	History History `json:"history,omitzero"`
	// GC says which images are kept; without it, all are.
	// +optional
	GC *GC `json:"gc,omitempty"`
	// RestoreOutput says whether an output that was deleted is written again from the last run, if that is still there, instead of
	// being built again.
	// +optional
	// +kubebuilder:validation:Enum=Never;Always
	RestoreOutput RestoreOutput `json:"restoreOutput,omitempty"`
	// Suspend has nothing be done for the Build until it is false; a run that is active continues.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// Inputs are what the outputs depend on.
type Inputs struct {
	// Parameters become arguments of the run, by their names, but for those from Secrets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is one input.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.valueFrom)",message="one of value and valueFrom is required"
type Parameter struct {
	// Name is that of the argument.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Value is the value itself.
	// +optional
	Value *string `json:"value,omitempty"`
	// ValueFrom is where the value is read.
	// +optional
	ValueFrom *ValueFrom `json:"valueFrom,omitempty"`
}

// ValueFrom is where a value is read, in the namespace of the Build.
//
// +kubebuilder:validation:XValidation:rule="[has(self.source), has(self.configMapKeyRef), has(self.secretKeyRef)].filter(x, x).size() == 1",message="one of source, configMapKeyRef and secretKeyRef is required"
type ValueFrom struct {
	// Source is a source of Flux.
	// +optional
	Source *SourceValue `json:"source,omitempty"`
	// ConfigMapKeyRef is a value of a ConfigMap.
	// +optional
	ConfigMapKeyRef *KeyRef `json:"configMapKeyRef,omitempty"`
	// SecretKeyRef is a value of a Secret. A change of it has the outputs built again; the value itself is not given to the run, which
	// would show it in its status: the workflow reads the Secret.
	// +optional
	SecretKeyRef *KeyRef `json:"secretKeyRef,omitempty"`
}

// KeyRef names a value.
type KeyRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Key of the value.
	// +kubebuilder:validation:MinLength=1
	Key string `json:"key"`
}

// SourceValue is a value of what a source fetched last.
type SourceValue struct {
	// Kind of the source: GitRepository by default.
	// +optional
	// +kubebuilder:validation:Enum=GitRepository;OCIRepository;Bucket;HelmChart;ExternalArtifact
	Kind string `json:"kind,omitempty"`
	// Name of the source.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Field is the revision by default; the digest changes only with the content; the commit is the revision without a branch, and
	// the URL is where the artifact is fetched from.
	// +optional
	// +kubebuilder:validation:Enum=revision;digest;commit;url
	Field string `json:"field,omitempty"`
}

// Output is something that a run leaves.
type Output struct {
	// Secret is one in the namespace of the Build.
	Secret SecretOutput `json:"secret"`
}

// SecretOutput is a Secret that names what was built.
type SecretOutput struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// Keys are the values of the Secret, all written at once when everything is there. Tags in them are replaced:
	// {{outputs.parameters.NAME}} of the run, {{inputs.parameters.NAME}}, {{image.id}}, {{image.name}}, {{image.url}}, {{digest}}, {{run.name}} and
	// {{run.finishedAt}}. Without keys and without an image the run writes the Secret itself.
	// +optional
	Keys map[string]string `json:"keys,omitempty"`
	// Public are keys whose values are no secret, such as the number of an image; the status shows them.
	// +optional
	// +listType=set
	Public []string `json:"public,omitempty"`
}
