package scenario

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/headgate-dev/headgate/internal/kit"
)

// locked is a FluxInstance that locks all namespaces down.
const locked = `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}, cluster: {multitenant: true, tenantDefaultServiceAccount: tenant}}
`

// TestLockedTenants runs scripts about tenants on a cluster that is locked down.
func TestLockedTenants(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/tenants/lockdown/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	w := newWorldOf(t, kit.Options{})
	f := &fleet{kit: w.kit, world: w, t: t}
	if err := w.put(locked); err != nil {
		t.Fatal(err)
	}
	f.conditionIn("flux-system", "FluxInstance", "flux", "True", "")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			testscript.Run(t, testscript.Params{Files: []string{file}, Setup: w.setup, Cmds: w.commands(), RequireUniqueNames: true})
		})
	}
}
