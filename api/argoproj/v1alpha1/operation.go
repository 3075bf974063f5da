package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Operation asks for something to be done.
type Operation struct {
	// Sync has the objects applied.
	Sync *SyncOperation `json:"sync,omitempty"`
	// InitiatedBy says who asks.
	// +optional
	InitiatedBy OperationInitiator `json:"initiatedBy,omitzero"`
	// Info are lines for people.
	Info []Info `json:"info,omitempty"`
	// Retry says how often a failed sync is tried again.
	// +optional
	Retry RetryStrategy `json:"retry,omitzero"`
}

// ReasonInfo is the name of the line of an operation that says why someone requested it.
const ReasonInfo = "Reason"

// OperationInitiator is who asked.
type OperationInitiator struct {
	// Username of a person.
	Username string `json:"username,omitempty"`
	// Automated is true when no one asked.
	Automated bool `json:"automated,omitempty"`
}

// SyncOperation has objects applied.
type SyncOperation struct {
	// Revision to apply, the newest by default.
	Revision string `json:"revision,omitempty"`
	// Prune deletes what the source no longer holds.
	Prune bool `json:"prune,omitempty"`
	// DryRun changes nothing.
	DryRun bool `json:"dryRun,omitempty"`
	// SyncStrategy says whether hooks are run.
	SyncStrategy *SyncStrategy `json:"syncStrategy,omitempty"`
	// Resources are the only objects that are applied.
	Resources []SyncOperationResource `json:"resources,omitempty"`
	// Source is another than the declared one, for a rollback.
	Source *ApplicationSource `json:"source,omitempty"`
	// Manifests are objects as text, instead of a source.
	Manifests []string `json:"manifests,omitempty"`
	// SyncOptions are options as NAME=VALUE.
	SyncOptions []string `json:"syncOptions,omitempty"`
	// Sources are others than the declared ones.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions to apply, one for each source.
	Revisions []string `json:"revisions,omitempty"`
	// SelfHealAttemptsCount is how often changes by other managers were taken back at this revision.
	SelfHealAttemptsCount int64 `json:"autoHealAttemptsCount,omitempty"`
}

// SyncStrategy says whether hooks are run.
type SyncStrategy struct {
	// Apply runs none.
	Apply *SyncStrategyApply `json:"apply,omitempty"`
	// Hook runs them.
	Hook *SyncStrategyHook `json:"hook,omitempty"`
}

// SyncStrategyApply runs no hooks.
type SyncStrategyApply struct {
	// Force deletes and recreates what cannot be changed.
	Force bool `json:"force,omitempty"`
}

// SyncStrategyHook runs hooks.
type SyncStrategyHook struct {
	// Force deletes and recreates what cannot be changed.
	Force bool `json:"force,omitempty"`
}

// SyncOperationResource is one of the objects to apply.
type SyncOperationResource struct {
	// Group of the object.
	Group string `json:"group,omitempty"`
	// Kind of the object.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
	// Namespace of the object.
	Namespace string `json:"namespace,omitempty"`
}

// OperationPhase is how far an operation, or a hook, is.
type OperationPhase string

// The phases of an operation.
const (
	OperationRunning     OperationPhase = "Running"
	OperationTerminating OperationPhase = "Terminating"
	OperationFailed      OperationPhase = "Failed"
	OperationError       OperationPhase = "Error"
	OperationSucceeded   OperationPhase = "Succeeded"
)

// ResultCode is what came of one object.
type ResultCode string

// The results of objects.
const (
	ResultCodeSynced       ResultCode = "Synced"
	ResultCodeSyncFailed   ResultCode = "SyncFailed"
	ResultCodePruned       ResultCode = "Pruned"
	ResultCodePruneSkipped ResultCode = "PruneSkipped"
)

// OperationState is how far the last operation is.
type OperationState struct {
	// Operation is what was requested.
	Operation Operation `json:"operation"`
	// Phase is how far it is.
	Phase OperationPhase `json:"phase"`
	// Message says why.
	Message string `json:"message,omitempty"`
	// SyncResult is what came of the sync.
	SyncResult *SyncOperationResult `json:"syncResult,omitempty"`
	// StartedAt is when it began.
	StartedAt metav1.Time `json:"startedAt"`
	// FinishedAt is when it ended.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// RetryCount is how often it was tried again.
	RetryCount int64 `json:"retryCount,omitempty"`
}

// SyncOperationResult is what came of a sync.
type SyncOperationResult struct {
	// Resources are the objects, and what came of each.
	Resources []ResourceResult `json:"resources,omitempty"`
	// Revision that was applied.
	Revision string `json:"revision"`
	// Source that was applied.
	Source *ApplicationSource `json:"source,omitempty"`
	// Sources that were applied.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions that were applied, one for each source.
	Revisions []string `json:"revisions,omitempty"`
	// ManagedNamespaceMetadata was laid on the namespace.
	ManagedNamespaceMetadata *ManagedNamespaceMetadata `json:"managedNamespaceMetadata,omitempty"`
}

// ResourceResult is what came of one object.
type ResourceResult struct {
	// Group of the object.
	Group string `json:"group"`
	// Version of the object.
	Version string `json:"version"`
	// Kind of the object.
	Kind string `json:"kind"`
	// Namespace of the object.
	Namespace string `json:"namespace"`
	// Name of the object.
	Name string `json:"name"`
	// Status is the result.
	Status ResultCode `json:"status,omitempty"`
	// Message says more.
	Message string `json:"message,omitempty"`
	// HookType is that of a hook.
	HookType string `json:"hookType,omitempty"`
	// HookPhase is how far a hook is, or an object on its way to health.
	HookPhase OperationPhase `json:"hookPhase,omitempty"`
	// SyncPhase is the phase that the object belongs to.
	SyncPhase string `json:"syncPhase,omitempty"`
	// Images of the object.
	Images []string `json:"images,omitempty"`
}
