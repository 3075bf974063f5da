package boot

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TestUnlogged says which unit of the journal was probably meant.
func TestUnlogged(t *testing.T) {
	kustomization := func(name string) engine.UnitID {
		return engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: name}
	}
	logged := []engine.UnitID{{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: "database"}, kustomization("shop")}
	for name, c := range map[string]struct{ reason, unit, want string }{
		"Slip":    {"a slip", "shpo", "the journal has no line of Kustomization/flux-system/shpo; did you mean Kustomization/flux-system/shop?"},
		"Kind":    {"another kind has the name", "database", "the journal has no line of Kustomization/flux-system/database; there is Application/argocd/database"},
		"Nothing": {"nothing is like it", "unlike", "the journal has no line of Kustomization/flux-system/unlike"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unlogged(kustomization(c.unit), logged).Error(); got != c.want {
				t.Errorf("%s: got %q", c.reason, got)
			}
		})
	}
}
