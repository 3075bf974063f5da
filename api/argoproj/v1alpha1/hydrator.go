package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SourceHydrator has what was rendered pushed to a branch, from which it is applied.
type SourceHydrator struct {
	// DrySource is what is rendered.
	DrySource DrySource `json:"drySource"`
	// SyncSource is what is applied.
	SyncSource SyncSource `json:"syncSource"`
	// HydrateTo is a branch that is pushed to instead of the one that is applied.
	HydrateTo *HydrateTo `json:"hydrateTo,omitempty"`
}

// DrySource is what is rendered.
type DrySource struct {
	// RepoURL is the address of a Git repository.
	RepoURL string `json:"repoURL"`
	// TargetRevision is a branch, a tag or a commit.
	TargetRevision string `json:"targetRevision"`
	// Path is a directory in the repository.
	Path string `json:"path"`
	// Helm says how a chart is rendered.
	Helm *ApplicationSourceHelm `json:"helm,omitempty"`
	// Kustomize says how a kustomization is changed before it is built.
	Kustomize *ApplicationSourceKustomize `json:"kustomize,omitempty"`
	// Directory says which files of a directory are read.
	Directory *ApplicationSourceDirectory `json:"directory,omitempty"`
	// Plugin names a program that makes the objects.
	Plugin *ApplicationSourcePlugin `json:"plugin,omitempty"`
}

// SyncSource is what is applied.
type SyncSource struct {
	// TargetBranch is the branch.
	TargetBranch string `json:"targetBranch"`
	// Path is a directory in it, which may not be the root.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^.{2,}|[^./]$`
	Path string `json:"path"`
	// RepoURL is another repository than the one that is rendered.
	RepoURL string `json:"repoURL,omitempty"`
}

// HydrateTo is a branch.
type HydrateTo struct {
	// TargetBranch is the branch.
	TargetBranch string `json:"targetBranch"`
}

// The phases of a hydration.
const (
	HydrateOperationPhaseHydrating HydrateOperationPhase = "Hydrating"
	HydrateOperationPhaseFailed    HydrateOperationPhase = "Failed"
	HydrateOperationPhaseHydrated  HydrateOperationPhase = "Hydrated"
)

// HydrateOperationPhase is how far a hydration is.
//
// +kubebuilder:validation:Enum=Hydrating;Failed;Hydrated
type HydrateOperationPhase string

// SourceHydratorStatus is how far hydration is.
type SourceHydratorStatus struct {
	// LastSuccessfulOperation is the last one that succeeded.
	LastSuccessfulOperation *SuccessfulHydrateOperation `json:"lastSuccessfulOperation,omitempty"`
	// CurrentOperation is the last one.
	CurrentOperation *HydrateOperation `json:"currentOperation,omitempty"`
	// LastComparedDryRevision is the commit of the source that was compared last.
	LastComparedDryRevision string `json:"lastComparedDryRevision,omitempty"`
}

// HydrateOperation is one hydration.
type HydrateOperation struct {
	// StartedAt is when it began.
	// +optional
	StartedAt metav1.Time `json:"startedAt,omitzero"`
	// FinishedAt is when it ended.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// Phase is how far it is.
	Phase HydrateOperationPhase `json:"phase"`
	// Message says what went wrong.
	Message string `json:"message"`
	// DrySHA is the commit that is rendered.
	DrySHA string `json:"drySHA,omitempty"`
	// HydratedSHA is the commit that was pushed.
	HydratedSHA string `json:"hydratedSHA,omitempty"`
	// SourceHydrator is what was requested.
	SourceHydrator *SourceHydrator `json:"sourceHydrator,omitempty"`
}

// SuccessfulHydrateOperation is a hydration that succeeded.
type SuccessfulHydrateOperation struct {
	// DrySHA is the commit that was rendered.
	DrySHA string `json:"drySHA,omitempty"`
	// HydratedSHA is the commit that was pushed.
	HydratedSHA string `json:"hydratedSHA,omitempty"`
	// SourceHydrator is what was requested.
	SourceHydrator *SourceHydrator `json:"sourceHydrator,omitempty"`
}
