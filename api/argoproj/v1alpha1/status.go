package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApplicationStatus is what was seen last.
type ApplicationStatus struct {
	// Resources are the objects, each with its state.
	Resources []ResourceStatus `json:"resources,omitempty"`
	// Sync says whether the cluster is what the source says.
	// +optional
	Sync SyncStatus `json:"sync,omitzero"`
	// Health is that of the worst object.
	// +optional
	Health AppHealthStatus `json:"health,omitzero"`
	// History are past deployments.
	History []RevisionHistory `json:"history,omitempty"`
	// Conditions are what is wrong.
	Conditions []ApplicationCondition `json:"conditions,omitempty"`
	// ReconciledAt is when the newest revision was compared.
	ReconciledAt *metav1.Time `json:"reconciledAt,omitempty"`
	// OperationState is how far the last operation is.
	OperationState *OperationState `json:"operationState,omitempty"`
	// ObservedAt is when the objects were last seen; no longer written.
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
	// SourceType is the tool that built the objects.
	SourceType ApplicationSourceType `json:"sourceType,omitempty"`
	// Summary are images and URLs.
	// +optional
	Summary ApplicationSummary `json:"summary,omitzero"`
	// ResourceHealthSource is "appTree" where the health of objects is not in this status.
	ResourceHealthSource string `json:"resourceHealthSource,omitempty"`
	// SourceTypes are the tools that built the objects, one for each source.
	SourceTypes []ApplicationSourceType `json:"sourceTypes,omitempty"`
	// ControllerNamespace is that of the controller that wrote this.
	ControllerNamespace string `json:"controllerNamespace,omitempty"`
	// SourceHydrator is how far hydration is.
	// +optional
	SourceHydrator SourceHydratorStatus `json:"sourceHydrator,omitzero"`
}

// ApplicationSourceType is the tool that builds objects.
type ApplicationSourceType string

// The tools.
const (
	ApplicationSourceTypeHelm      ApplicationSourceType = "Helm"
	ApplicationSourceTypeKustomize ApplicationSourceType = "Kustomize"
	ApplicationSourceTypeDirectory ApplicationSourceType = "Directory"
	ApplicationSourceTypePlugin    ApplicationSourceType = "Plugin"
)

// SyncStatusCode says whether the cluster is what the source says.
type SyncStatusCode string

// The codes.
const (
	SyncStatusCodeUnknown   SyncStatusCode = "Unknown"
	SyncStatusCodeSynced    SyncStatusCode = "Synced"
	SyncStatusCodeOutOfSync SyncStatusCode = "OutOfSync"
)

// HealthStatusCode says how well an object is.
type HealthStatusCode string

// The codes, from the best to the worst.
const (
	HealthStatusHealthy     HealthStatusCode = "Healthy"
	HealthStatusSuspended   HealthStatusCode = "Suspended"
	HealthStatusProgressing HealthStatusCode = "Progressing"
	HealthStatusMissing     HealthStatusCode = "Missing"
	HealthStatusDegraded    HealthStatusCode = "Degraded"
	HealthStatusUnknown     HealthStatusCode = "Unknown"
)

// The conditions of an Application.
const (
	ApplicationConditionDeletionError           = "DeletionError"
	ApplicationConditionInvalidSpecError        = "InvalidSpecError"
	ApplicationConditionComparisonError         = "ComparisonError"
	ApplicationConditionSyncError               = "SyncError"
	ApplicationConditionUnknownError            = "UnknownError"
	ApplicationConditionSharedResourceWarning   = "SharedResourceWarning"
	ApplicationConditionRepeatedResourceWarning = "RepeatedResourceWarning"
	ApplicationConditionExcludedResourceWarning = "ExcludedResourceWarning"
	ApplicationConditionOrphanedResourceWarning = "OrphanedResourceWarning"
)

// ResourceStatus is the state of one object.
type ResourceStatus struct {
	// Group of the object.
	Group string `json:"group,omitempty"`
	// Version of the object.
	Version string `json:"version,omitempty"`
	// Kind of the object.
	Kind string `json:"kind,omitempty"`
	// Namespace of the object.
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	Name string `json:"name,omitempty"`
	// Status says whether the object is what the source says.
	Status SyncStatusCode `json:"status,omitempty"`
	// Health of the object.
	Health *HealthStatus `json:"health,omitempty"`
	// Hook is true for hooks.
	Hook bool `json:"hook,omitempty"`
	// RequiresPruning is true for what the source no longer holds.
	RequiresPruning bool `json:"requiresPruning,omitempty"`
	// SyncWave is the wave of the object.
	SyncWave int64 `json:"syncWave,omitempty"`
	// RequiresDeletionConfirmation is true for what waits for a person's word.
	RequiresDeletionConfirmation bool `json:"requiresDeletionConfirmation,omitempty"`
}

// HealthStatus is how well an object is.
type HealthStatus struct {
	// Status is the code.
	Status HealthStatusCode `json:"status,omitempty"`
	// Message says why.
	Message string `json:"message,omitempty"`
	// LastTransitionTime is when the code changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// AppHealthStatus is how well an Application is.
type AppHealthStatus struct {
	// Status is the code.
	Status HealthStatusCode `json:"status,omitempty"`
	// Message says why; no longer written.
	Message string `json:"message,omitempty"`
	// LastTransitionTime is when the code changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// SyncStatus says whether the cluster is what the source says.
type SyncStatus struct {
	// Status is the code.
	Status SyncStatusCode `json:"status"`
	// ComparedTo is what was compared.
	// +optional
	ComparedTo ComparedTo `json:"comparedTo,omitzero"`
	// Revision that was compared.
	Revision string `json:"revision,omitempty"`
	// Revisions that were compared, one for each source.
	Revisions []string `json:"revisions,omitempty"`
}

// ComparedTo is what was compared.
type ComparedTo struct {
	// Source of the objects.
	Source *ApplicationSource `json:"source,omitempty"`
	// Destination of the objects.
	Destination ApplicationDestination `json:"destination"`
	// Sources of the objects.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// IgnoreDifferences are fields that were left out.
	IgnoreDifferences []ResourceIgnoreDifferences `json:"ignoreDifferences,omitempty"`
}

// RevisionHistory is a past deployment.
type RevisionHistory struct {
	// Revision that was applied.
	Revision string `json:"revision,omitempty"`
	// DeployedAt is when it ended.
	DeployedAt metav1.Time `json:"deployedAt"`
	// ID counts the deployments.
	ID int64 `json:"id"`
	// Source that was applied.
	Source *ApplicationSource `json:"source,omitempty"`
	// DeployStartedAt is when it began.
	DeployStartedAt *metav1.Time `json:"deployStartedAt,omitempty"`
	// Sources that were applied.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions that were applied, one for each source.
	Revisions []string `json:"revisions,omitempty"`
	// InitiatedBy says who asked.
	// +optional
	InitiatedBy OperationInitiator `json:"initiatedBy,omitzero"`
}

// ApplicationCondition is something that is wrong.
type ApplicationCondition struct {
	// Type names it.
	Type string `json:"type"`
	// Message says what it is.
	Message string `json:"message"`
	// LastTransitionTime is when it was first seen.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ApplicationSummary are images and URLs.
type ApplicationSummary struct {
	// ExternalURLs are those at which the objects are reached.
	ExternalURLs []string `json:"externalURLs,omitempty"`
	// Images of the objects.
	Images []string `json:"images,omitempty"`
	// IsAppOfApps is true where Applications are among the objects.
	IsAppOfApps bool `json:"isAppOfApps,omitempty"`
}
