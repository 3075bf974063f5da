package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Template is a unit of execution: one pod, one request, one wait, or steps or a graph of other templates.
type Template struct {
	// Name of the template.
	Name string `json:"name,omitempty"`
	// Inputs are what callers supply.
	Inputs Inputs `json:"inputs,omitzero"`
	// Outputs are what callers get.
	Outputs Outputs `json:"outputs,omitzero"`

	// Container runs an image.
	Container *corev1.Container `json:"container,omitempty"`
	// Script runs source code in an image.
	Script *ScriptTemplate `json:"script,omitempty"`
	// Resource reads, writes or deletes an object of a cluster.
	Resource *ResourceTemplate `json:"resource,omitempty"`
	// HTTP sends a request.
	HTTP *HTTPTemplate `json:"http,omitempty"`
	// Suspend waits.
	Suspend *SuspendTemplate `json:"suspend,omitempty"`
	// Steps are groups, one after the other, of steps that run at the same time.
	Steps []ParallelSteps `json:"steps,omitempty"`
	// DAG is a graph of tasks.
	DAG *DAGTemplate `json:"dag,omitempty"`

	// RetryStrategy says whether and how often a failure is retried.
	RetryStrategy *RetryStrategy `json:"retryStrategy,omitempty"`
	// ActiveDeadlineSeconds is how long a pod may run.
	ActiveDeadlineSeconds *intstr.IntOrString `json:"activeDeadlineSeconds,omitempty"`
	// Timeout is how long an execution may take, with the time that it waits for a machine.
	Timeout string `json:"timeout,omitempty"`
	// PendingTimeout is how long it may wait for a machine.
	PendingTimeout string `json:"pendingTimeout,omitempty"`
	// Parallelism is how many children may run at a time.
	Parallelism *int64 `json:"parallelism,omitempty"`
	// FailFast ends steps and graphs as soon as one child has failed.
	FailFast *bool `json:"failFast,omitempty"`
	// Metadata is on the pod.
	Metadata Metadata `json:"metadata,omitzero"`
	// Annotations are for people and dashboards; one of them is a name to show.
	Annotations map[string]string `json:"annotations,omitempty"`

	TemplatePodSettings `json:",inline"`
	LaterTemplate       `json:",inline"`
	OlderTemplate       `json:",inline"`
}

// TemplatePodSettings are what the pod of a template has; they override those of the run.
type TemplatePodSettings struct {
	// ServiceAccountName is the account of the pod.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// AutomountServiceAccountToken is false for a pod without the token of the account.
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`
	// Volumes may be mounted by the containers.
	Volumes []corev1.Volume `json:"volumes,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// InitContainers run before the main one.
	InitContainers []UserContainer `json:"initContainers,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// NodeSelector selects the machines.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Affinity restricts the machines.
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// Tolerations permit machines with taints.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
	// SchedulerName of the pod.
	SchedulerName string `json:"schedulerName,omitempty"`
	// PriorityClassName of the pod.
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Priority is the older way to say it, as a number.
	Priority *int32 `json:"priority,omitempty"`
	// HostAliases are entries for the file of hosts.
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty" patchStrategy:"merge" patchMergeKey:"ip"`
	// SecurityContext of the pod.
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// PodSpecPatch is merged into the pod.
	PodSpecPatch string `json:"podSpecPatch,omitempty"`
}

// LaterTemplate are the fields of a template that nothing acts on yet.
type LaterTemplate struct {
	// ContainerSet runs several images in one pod.
	ContainerSet *runtime.RawExtension `json:"containerSet,omitempty"`
	// Data transforms lists of artifacts.
	Data *runtime.RawExtension `json:"data,omitempty"`
	// Plugin calls a plugin of the executor.
	Plugin *runtime.RawExtension `json:"plugin,omitempty"`
	// Daemon keeps the pod running while what follows is executed.
	Daemon *bool `json:"daemon,omitempty"`
	// Sidecars run beside the main container.
	Sidecars []runtime.RawExtension `json:"sidecars,omitempty"`
	// Memoize takes outputs of earlier executions.
	Memoize *runtime.RawExtension `json:"memoize,omitempty"`
	// Synchronization are locks.
	Synchronization *runtime.RawExtension `json:"synchronization,omitempty"`
	// Metrics are emitted by the template.
	Metrics *runtime.RawExtension `json:"metrics,omitempty"`
	// ArchiveLocation is where artifacts are stored.
	ArchiveLocation *runtime.RawExtension `json:"archiveLocation,omitempty"`
	// Executor configures the upstream's executor.
	Executor *runtime.RawExtension `json:"executor,omitempty"`
	// PodResources are requests and limits of the pod as a whole.
	PodResources *runtime.RawExtension `json:"podResources,omitempty"`
	// ResourceClaims are devices that the pod claims.
	ResourceClaims []runtime.RawExtension `json:"resourceClaims,omitempty"`
}

// OlderTemplate are fields of early versions, which the upstream accepts and does not act on either.
type OlderTemplate struct {
	// Template was the name of a base.
	Template string `json:"template,omitempty"`
	// Arguments were those for the base.
	Arguments *Arguments `json:"arguments,omitempty"`
	// TemplateRef was a base in another object.
	TemplateRef *TemplateRef `json:"templateRef,omitempty"`
	// ResubmitPendingPods is what is always done now.
	ResubmitPendingPods *bool `json:"resubmitPendingPods,omitempty"`
}

// Metadata are labels and annotations.
type Metadata struct {
	// Labels to set.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations to set.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// UserContainer is a container beside the main one.
type UserContainer struct {
	corev1.Container `json:",inline"`
	// MirrorVolumeMounts mounts what the main container mounts.
	MirrorVolumeMounts *bool `json:"mirrorVolumeMounts,omitempty"`
}

// ScriptTemplate runs source code in an image.
type ScriptTemplate struct {
	corev1.Container `json:",inline"`
	// Source is the code; the command gets the path of a file with it.
	Source string `json:"source,omitempty"`
}

// ResourceTemplate reads, writes or deletes an object of a cluster.
type ResourceTemplate struct {
	// Action is get, create, apply, delete, replace or patch.
	Action string `json:"action,omitempty"`
	// MergeStrategy of a patch: strategic, merge or json.
	MergeStrategy string `json:"mergeStrategy,omitempty"`
	// Manifest is the object, or the patch with the object's name.
	Manifest string `json:"manifest,omitempty"`
	// ManifestFrom reads the manifest from an artifact.
	ManifestFrom *ManifestFrom `json:"manifestFrom,omitempty"`
	// SetOwnerReference has the object deleted with the run.
	SetOwnerReference bool `json:"setOwnerReference,omitempty"`
	// SuccessCondition is waited for, in the syntax of label selectors over paths in the object.
	SuccessCondition string `json:"successCondition,omitempty"`
	// FailureCondition ends the wait with a failure.
	FailureCondition string `json:"failureCondition,omitempty"`
	// Flags are for kubectl.
	Flags []string `json:"flags,omitempty"`
}

// ManifestFrom is where a manifest is read from.
type ManifestFrom struct {
	// Artifact that holds it.
	Artifact *Artifact `json:"artifact,omitempty"`
}

// SuspendTemplate waits for a resumption, or for a time.
type SuspendTemplate struct {
	// Duration after which it resumes; without it, a user has to resume it.
	Duration string `json:"duration,omitempty"`
}

// HTTPTemplate sends a request.
type HTTPTemplate struct {
	// Method is GET by default.
	Method string `json:"method,omitempty"`
	// URL of the request.
	URL string `json:"url"`
	// Headers of the request.
	Headers []HTTPHeader `json:"headers,omitempty"`
	// TimeoutSeconds of the request, 30 by default, and 300 at most.
	TimeoutSeconds *int64 `json:"timeoutSeconds,omitempty"`
	// SuccessCondition is an expression over request and response; by default, the status has to be 2xx.
	SuccessCondition string `json:"successCondition,omitempty"`
	// Body of the request.
	Body string `json:"body,omitempty"`
	// BodyFrom is a body of bytes.
	BodyFrom *HTTPBodySource `json:"bodyFrom,omitempty"`
	// InsecureSkipVerify accepts any certificate.
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
}

// HTTPBodySource is a body of bytes.
type HTTPBodySource struct {
	// Bytes of the body.
	Bytes []byte `json:"bytes,omitempty"`
}

// HTTPHeader is a header of a request.
type HTTPHeader struct {
	// Name of the header.
	Name string `json:"name"`
	// Value of the header.
	Value string `json:"value,omitempty"`
	// ValueFrom is where the value is read from.
	ValueFrom *HTTPHeaderSource `json:"valueFrom,omitempty"`
}

// HTTPHeaderSource is where the value of a header is read from.
type HTTPHeaderSource struct {
	// SecretKeyRef names a key of a Secret.
	SecretKeyRef *corev1.SecretKeySelector `json:"secretKeyRef,omitempty"`
}
