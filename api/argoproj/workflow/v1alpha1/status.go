package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// WorkflowPhase is how far a run got.
type WorkflowPhase string

// The phases of a run; before it was seen, it has none.
const (
	WorkflowPending   WorkflowPhase = "Pending"
	WorkflowRunning   WorkflowPhase = "Running"
	WorkflowSucceeded WorkflowPhase = "Succeeded"
	WorkflowFailed    WorkflowPhase = "Failed"
	WorkflowError     WorkflowPhase = "Error"
)

// Completed reports whether a run has ended.
func (p WorkflowPhase) Completed() bool {
	return p == WorkflowSucceeded || p == WorkflowFailed || p == WorkflowError
}

// NodePhase is how far a node got.
type NodePhase string

// The phases of a node. Failed is the fault of what was executed, Error that of the engine or the cluster. Skipped nodes had a
// condition that was false, Omitted ones depended on results that did not come.
const (
	NodePending   NodePhase = "Pending"
	NodeRunning   NodePhase = "Running"
	NodeSucceeded NodePhase = "Succeeded"
	NodeSkipped   NodePhase = "Skipped"
	NodeFailed    NodePhase = "Failed"
	NodeError     NodePhase = "Error"
	NodeOmitted   NodePhase = "Omitted"
)

// Completed reports whether something was executed to its end.
func (p NodePhase) Completed() bool { return p == NodeSucceeded || p.Bad() }

// Fulfilled reports whether nothing happens anymore.
func (p NodePhase) Fulfilled() bool { return p.Completed() || p == NodeSkipped || p == NodeOmitted }

// Bad reports whether it failed, for either reason.
func (p NodePhase) Bad() bool { return p == NodeFailed || p == NodeError }

// NodeType is what a node stands for.
type NodeType string

// The types of nodes.
const (
	NodeTypePod       NodeType = "Pod"
	NodeTypeContainer NodeType = "Container"
	NodeTypeSteps     NodeType = "Steps"
	NodeTypeStepGroup NodeType = "StepGroup"
	NodeTypeDAG       NodeType = "DAG"
	NodeTypeTaskGroup NodeType = "TaskGroup"
	NodeTypeRetry     NodeType = "Retry"
	NodeTypeSkipped   NodeType = "Skipped"
	NodeTypeSuspend   NodeType = "Suspend"
	NodeTypeHTTP      NodeType = "HTTP"
	NodeTypePlugin    NodeType = "Plugin"
)

// WorkflowStatus is how far a run got.
type WorkflowStatus struct {
	// Phase of the run.
	Phase WorkflowPhase `json:"phase,omitempty"`
	// StartedAt is when it started.
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	// FinishedAt is when it ended.
	FinishedAt metav1.Time `json:"finishedAt,omitempty"`
	// EstimatedDuration in seconds.
	EstimatedDuration int64 `json:"estimatedDuration,omitempty"`
	// Progress is how much of the known work is done, as N/M.
	Progress string `json:"progress,omitempty"`
	// Message says why it is in its phase.
	Message string `json:"message,omitempty"`
	// Nodes are what was executed, by ID.
	Nodes Nodes `json:"nodes,omitempty"`
	// CompressedNodes are the upstream's way to store many nodes.
	CompressedNodes string `json:"compressedNodes,omitempty"`
	// OffloadNodeStatusVersion is the upstream's way to store them elsewhere.
	OffloadNodeStatusVersion string `json:"offloadNodeStatusVersion,omitempty"`
	// StoredTemplates are the templates of other objects as they were when first used.
	StoredTemplates map[string]Template `json:"storedTemplates,omitempty"`
	// StoredWorkflowSpec is the merged spec as it was when the run started.
	StoredWorkflowSpec *WorkflowSpec `json:"storedWorkflowTemplateSpec,omitempty"`
	// PersistentVolumeClaims are the claims of the run.
	PersistentVolumeClaims []corev1.Volume `json:"persistentVolumeClaims,omitempty"`
	// Outputs are those with a global name.
	Outputs *Outputs `json:"outputs,omitempty"`
	// Conditions of the run.
	Conditions []Condition `json:"conditions,omitempty"`
	// ResourcesDuration is what the upstream estimates.
	ResourcesDuration map[string]int64 `json:"resourcesDuration,omitempty"`
	// Synchronization is the upstream's record of locks.
	Synchronization *runtime.RawExtension `json:"synchronization,omitempty"`
	// ArtifactRepositoryRef is the upstream's record of its store.
	ArtifactRepositoryRef *runtime.RawExtension `json:"artifactRepositoryRef,omitempty"`
	// ArtifactGCStatus is the upstream's record of deletions.
	ArtifactGCStatus *runtime.RawExtension `json:"artifactGCStatus,omitempty"`
	// TaskResultsCompletionStatus is the upstream's record of results.
	TaskResultsCompletionStatus map[string]bool `json:"taskResultsCompletionStatus,omitempty"`
}

// Nodes are nodes by ID.
type Nodes map[string]NodeStatus

// NodeStatus is how far one node got.
type NodeStatus struct {
	// ID follows from the name.
	ID string `json:"id"`
	// Name is the path from the root.
	Name string `json:"name"`
	// DisplayName is the last part of it.
	DisplayName string `json:"displayName,omitempty"`
	// Type is what the node stands for.
	Type NodeType `json:"type"`
	// TemplateName is the template of the same object.
	TemplateName string `json:"templateName,omitempty"`
	// TemplateRef is the template of another object.
	TemplateRef *TemplateRef `json:"templateRef,omitempty"`
	// TemplateScope is the object whose templates it names.
	TemplateScope string `json:"templateScope,omitempty"`
	// Phase of the node.
	Phase NodePhase `json:"phase,omitempty"`
	// BoundaryID is the steps or graph that it is part of.
	BoundaryID string `json:"boundaryID,omitempty"`
	// Message says why it is in its phase.
	Message string `json:"message,omitempty"`
	// StartedAt is when it started.
	StartedAt metav1.Time `json:"startedAt,omitempty"`
	// FinishedAt is when it ended.
	FinishedAt metav1.Time `json:"finishedAt,omitempty"`
	// EstimatedDuration in seconds.
	EstimatedDuration int64 `json:"estimatedDuration,omitempty"`
	// Progress is how much of the known work is done, as N/M.
	Progress string `json:"progress,omitempty"`
	// ResourcesDuration is what the upstream estimates.
	ResourcesDuration map[string]int64 `json:"resourcesDuration,omitempty"`
	// PodIP of a pod that keeps running.
	PodIP string `json:"podIP,omitempty"`
	// Daemoned is set for a pod that keeps running.
	Daemoned *bool `json:"daemoned,omitempty"`
	// NodeFlag says whether it is a hook or a retry.
	NodeFlag *NodeFlag `json:"nodeFlag,omitempty"`
	// Inputs with their values.
	Inputs *Inputs `json:"inputs,omitempty"`
	// Outputs with their values.
	Outputs *Outputs `json:"outputs,omitempty"`
	// Children are the IDs of what follows.
	Children []string `json:"children,omitempty"`
	// OutboundNodes are the IDs of the last nodes of steps or a graph.
	OutboundNodes []string `json:"outboundNodes,omitempty"`
	// HostNodeName is the machine.
	HostNodeName string `json:"hostNodeName,omitempty"`
	// MemoizationStatus is the upstream's record of a cache.
	MemoizationStatus *runtime.RawExtension `json:"memoizationStatus,omitempty"`
	// SynchronizationStatus is the upstream's record of a lock.
	SynchronizationStatus *runtime.RawExtension `json:"synchronizationStatus,omitempty"`
	// TaskResultSynced is the upstream's record of a result.
	TaskResultSynced *bool `json:"taskResultSynced,omitempty"`
	// FailedPodRestarts is the upstream's count of pods that were started again.
	FailedPodRestarts int32 `json:"failedPodRestarts,omitempty"`
	// RestartingPodUID is the upstream's record of a pod that is started again.
	RestartingPodUID string `json:"restartingPodUID,omitempty"`
}

// Hooked reports whether the node is a hook.
func (n *NodeStatus) Hooked() bool { return n.NodeFlag != nil && n.NodeFlag.Hooked }

// Retried reports whether the node is an attempt below a node of type Retry.
func (n *NodeStatus) Retried() bool { return n.NodeFlag != nil && n.NodeFlag.Retried }

// NodeFlag says whether a node is a hook or a retry.
type NodeFlag struct {
	// Hooked is set for hooks.
	Hooked bool `json:"hooked,omitempty"`
	// Retried is set for attempts below a node of type Retry.
	Retried bool `json:"retried,omitempty"`
}

// ConditionType is what a condition is about.
type ConditionType string

// The conditions of runs and schedules.
const (
	ConditionCompleted       ConditionType = "Completed"
	ConditionPodRunning      ConditionType = "PodRunning"
	ConditionSpecWarning     ConditionType = "SpecWarning"
	ConditionSpecError       ConditionType = "SpecError"
	ConditionMetricsError    ConditionType = "MetricsError"
	ConditionSubmissionError ConditionType = "SubmissionError"
)

// Condition of a run or a schedule.
type Condition struct {
	// Type is what it is about.
	Type ConditionType `json:"type,omitempty"`
	// Status is True or False.
	Status metav1.ConditionStatus `json:"status,omitempty"`
	// Message says more.
	Message string `json:"message,omitempty"`
}
