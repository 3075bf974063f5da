package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workflow is one run: what is to be run, and how far it got.
//
// The API has no status subresource: spec, status and labels are written in one update.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=workflows,shortName=wf
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.phase`,description="Status of the workflow"
// +kubebuilder:printcolumn:name="Age",type=date,format=date-time,JSONPath=`.status.startedAt`,description="When the workflow was started"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,description="Human readable message indicating details about why the workflow is in this condition."
type Workflow struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	// Spec is what is to be run.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Spec WorkflowSpec `json:"spec"`
	// Status is how far it got.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Status WorkflowStatus `json:"status,omitzero"`
}

// WorkflowList is a list of Workflows.
//
// +kubebuilder:object:root=true
type WorkflowList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Workflow `json:"items"`
}

// WorkflowSpec is what is to be run.
type WorkflowSpec struct {
	// Templates are the units of execution, by name.
	Templates []Template `json:"templates,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Entrypoint is the template that is executed first.
	Entrypoint string `json:"entrypoint,omitempty"`
	// Arguments are for the entrypoint, and are available everywhere as workflow.parameters.
	Arguments Arguments `json:"arguments,omitzero"`
	// WorkflowTemplateRef names the template whose spec is merged below this one.
	WorkflowTemplateRef *WorkflowTemplateRef `json:"workflowTemplateRef,omitempty"`
	// TemplateDefaults are merged below every template.
	TemplateDefaults *Template `json:"templateDefaults,omitempty"`
	// OnExit is the template that is executed at the end.
	OnExit string `json:"onExit,omitempty"`
	// Hooks are executed once their expression is true; the one named exit at the end.
	Hooks LifecycleHooks `json:"hooks,omitempty"`

	// Suspend keeps anything new from starting.
	Suspend *bool `json:"suspend,omitempty"`
	// Shutdown ends the run: Stop executes exit handlers, Terminate does not.
	Shutdown ShutdownStrategy `json:"shutdown,omitempty"`
	// Parallelism is how many pods may run at a time.
	Parallelism *int64 `json:"parallelism,omitempty"`
	// ActiveDeadlineSeconds is how long the run may take.
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`
	// RetryStrategy is for templates that have none.
	RetryStrategy *RetryStrategy `json:"retryStrategy,omitempty"`
	// Priority orders runs among those that wait.
	Priority *int32 `json:"priority,omitempty"`

	// TTLStrategy says when a run that has ended is deleted.
	TTLStrategy *TTLStrategy `json:"ttlStrategy,omitempty"`
	// TTLSecondsAfterFinished is the older spelling of ttlStrategy.secondsAfterCompletion.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`
	// PodGC says when pods that have ended are deleted.
	PodGC *PodGC `json:"podGC,omitempty"`
	// VolumeClaimGC says when the claims of the run are deleted.
	VolumeClaimGC *VolumeClaimGC `json:"volumeClaimGC,omitempty"`
	// WorkflowMetadata is added to the run when it starts.
	WorkflowMetadata *WorkflowMetadata `json:"workflowMetadata,omitempty"`

	PodSettings `json:",inline"`
	LaterSpec   `json:",inline"`
}

// PodSettings are what pods of all templates have in common.
type PodSettings struct {
	// ServiceAccountName is the account of the pods.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// AutomountServiceAccountToken is false for pods without the token of the account.
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`
	// Volumes may be mounted by all templates.
	Volumes []corev1.Volume `json:"volumes,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// VolumeClaimTemplates are claims that exist as long as the run.
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`
	// PodMetadata is on all pods.
	PodMetadata *Metadata `json:"podMetadata,omitempty"`
	// NodeSelector selects the machines.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Affinity restricts the machines.
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// Tolerations permit machines with taints.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
	// ImagePullSecrets are for registries.
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// HostNetwork is set for pods in the network of their machine.
	HostNetwork *bool `json:"hostNetwork,omitempty"`
	// DNSPolicy of the pods.
	DNSPolicy *corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// DNSConfig of the pods.
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// SchedulerName of the pods.
	SchedulerName string `json:"schedulerName,omitempty"`
	// PodPriorityClassName of the pods.
	PodPriorityClassName string `json:"podPriorityClassName,omitempty"`
	// PodPriority is the older way to say it, as a number.
	PodPriority *int32 `json:"podPriority,omitempty"`
	// HostAliases are entries for the file of hosts.
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty" patchStrategy:"merge" patchMergeKey:"ip"`
	// SecurityContext of the pods.
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// PodSpecPatch is merged into the pods.
	PodSpecPatch string `json:"podSpecPatch,omitempty"`
}

// LaterSpec are the fields of a spec that nothing acts on yet.
type LaterSpec struct {
	// Synchronization are locks.
	Synchronization *runtime.RawExtension `json:"synchronization,omitempty"`
	// Metrics are emitted by the run.
	Metrics *runtime.RawExtension `json:"metrics,omitempty"`
	// PodDisruptionBudget is for the pods of the run.
	PodDisruptionBudget *runtime.RawExtension `json:"podDisruptionBudget,omitempty"`
	// ArtifactRepositoryRef names the store of artifacts.
	ArtifactRepositoryRef *runtime.RawExtension `json:"artifactRepositoryRef,omitempty"`
	// ArtifactGC says when artifacts are deleted.
	ArtifactGC *runtime.RawExtension `json:"artifactGC,omitempty"`
	// ArchiveLogs has logs stored as artifacts.
	ArchiveLogs *bool `json:"archiveLogs,omitempty"`
	// Executor configures the upstream's executor.
	Executor *runtime.RawExtension `json:"executor,omitempty"`
	// ExecutorPlugins are sidecars of the upstream's agent.
	ExecutorPlugins []runtime.RawExtension `json:"executorPlugins,omitempty"`
	// PodResources are requests and limits of each pod as a whole.
	PodResources *runtime.RawExtension `json:"podResources,omitempty"`
	// ResourceClaims are devices that each pod claims.
	ResourceClaims []runtime.RawExtension `json:"resourceClaims,omitempty"`
}

// ShutdownStrategy says how a run is ended.
type ShutdownStrategy string

// The ways to end a run.
const (
	ShutdownStop      ShutdownStrategy = "Stop"
	ShutdownTerminate ShutdownStrategy = "Terminate"
)

// TTLStrategy says how long a run is kept after it has ended. Without any of it, it is kept.
type TTLStrategy struct {
	// SecondsAfterCompletion is for any end.
	SecondsAfterCompletion *int32 `json:"secondsAfterCompletion,omitempty"`
	// SecondsAfterSuccess is for runs that have succeeded.
	SecondsAfterSuccess *int32 `json:"secondsAfterSuccess,omitempty"`
	// SecondsAfterFailure is for runs that have failed.
	SecondsAfterFailure *int32 `json:"secondsAfterFailure,omitempty"`
}

// PodGC says when pods that have ended are deleted.
type PodGC struct {
	// Strategy is when.
	Strategy PodGCStrategy `json:"strategy,omitempty"`
	// LabelSelector restricts it to some pods.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// DeleteDelayDuration is how much later.
	DeleteDelayDuration string `json:"deleteDelayDuration,omitempty"`
}

// PodGCStrategy is when pods that have ended are deleted.
type PodGCStrategy string

// The times at which pods are deleted.
const (
	PodGCOnPodCompletion      PodGCStrategy = "OnPodCompletion"
	PodGCOnPodSuccess         PodGCStrategy = "OnPodSuccess"
	PodGCOnWorkflowCompletion PodGCStrategy = "OnWorkflowCompletion"
	PodGCOnWorkflowSuccess    PodGCStrategy = "OnWorkflowSuccess"
)

// VolumeClaimGC says when the claims of a run are deleted.
type VolumeClaimGC struct {
	// Strategy is OnWorkflowCompletion or OnWorkflowSuccess, which is the default.
	Strategy string `json:"strategy,omitempty"`
}

// WorkflowMetadata is added to a run when it starts.
type WorkflowMetadata struct {
	// Labels are set as they are.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are set as they are.
	Annotations map[string]string `json:"annotations,omitempty"`
	// LabelsFrom are set to what expressions evaluate to.
	LabelsFrom map[string]LabelValueFrom `json:"labelsFrom,omitempty"`
}

// LabelValueFrom is an expression for the value of a label.
type LabelValueFrom struct {
	// Expression evaluates to a string.
	Expression string `json:"expression"`
}
