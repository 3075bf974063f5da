package kustomize

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Registry holds Kustomizations.
type Registry = declared.Registry[kustomizev1.Kustomization, *kustomizev1.Kustomization]

// NewRegistry returns an empty registry of Kustomizations.
func NewRegistry() *Registry {
	return declared.NewRegistry[kustomizev1.Kustomization](toolkit.KustomizationKind)
}
