package scenario

import (
	"testing"

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
	w := newWorldOf(t, kit.Options{})
	f := &fleet{kit: w.kit, world: w, t: t}
	if err := w.put(locked); err != nil {
		t.Fatal(err)
	}
	f.conditionIn("flux-system", "FluxInstance", "flux", "True", "")
	w.inTurn(t, "testdata/tenants/lockdown/*.txtar")
}
