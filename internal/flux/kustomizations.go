package flux

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/declared"
)

// kustomizationRegistry holds Kustomizations.
type kustomizationRegistry = declared.Registry[kustomizev1.Kustomization, *kustomizev1.Kustomization]

func newKustomizations() *kustomizationRegistry {
	return declared.NewRegistry[kustomizev1.Kustomization](kustomizationKind)
}
