package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/kit"
)

// lockdown is a FluxInstance in no shard, and a tenant's unit of shard a that reads the source of another namespace.
const lockdown = `apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}, cluster: {multitenant: true, tenantDefaultServiceAccount: tenant}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shared, namespace: team, labels: {sharding.fluxcd.io/key: a}}
spec: {interval: 1h, retryInterval: 1h, path: ./a, prune: true, sourceRef: {kind: GitRepository, name: repo, namespace: fleet}}
`

// blind is an account that may do everything but read FluxInstances.
const blind = `apiVersion: v1
kind: ServiceAccount
metadata: {name: blind, namespace: flux-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: blind}
rules:
- {apiGroups: ["", apps, apiextensions.k8s.io, coordination.k8s.io, source.toolkit.fluxcd.io, source.extensions.fluxcd.io, kustomize.toolkit.fluxcd.io, helm.toolkit.fluxcd.io, notification.toolkit.fluxcd.io, image.toolkit.fluxcd.io], resources: ["*"], verbs: ["*"]}
- {apiGroups: [fluxcd.controlplane.io], resources: [resourcesets, resourcesetinputproviders], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: blind}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: blind}
subjects: [{kind: ServiceAccount, name: blind, namespace: flux-system}]
`

// TestLockdownOfShards has a FluxInstance of no shard lock every shard down, and a shard that cannot read it end.
func TestLockdownOfShards(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	f := newFleet(t, k)
	f.push("1")
	for _, text := range []string{lockdown, blind} {
		if err := f.world.put(text); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := egress.Run{}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	start := func(own *rest.Config, words ...string) error {
		t.Helper()
		serve, err := dialects.All().Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
		e, err := host.Start(ctx, host.Config{Cluster: own, Store: k.Store, Dir: k.Dir, Serve: serve, Selector: "sharding.fluxcd.io/key=a", Egress: policy})
		t.Cleanup(func() {
			if stop(); e != nil {
				e.Wait()
			}
		})
		return err
	}
	own, err := kit.Account(t.Context(), k.Config, "flux-system", "blind")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"flux"}, {"source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io"}} {
		if err := start(own, words...); err == nil || !strings.Contains(err.Error(), "FluxInstance") {
			t.Errorf("a shard of %v that may not read FluxInstances started, or ended with: %v", words, err)
		}
	}

	if err := start(k.Own, "flux"); err != nil {
		t.Fatal(err)
	}
	const refused = "GitRepository/fleet/repo is in another namespace; references across namespaces are blocked on this cluster"
	f.conditionIn("team", "ks", "shared", "False", refused)
	// The shard that has the FluxInstance answers for it; the others only follow it.
	m, _, err := f.world.resource("FluxInstance")
	if err != nil {
		t.Fatal(err)
	}
	instances := f.world.client.Resource(m.Resource).Namespace("flux-system")
	u, err := instances.Get(t.Context(), "flux", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := conditionOf(u, "Ready"); status != "" {
		t.Errorf("a shard has answered for what is not its own: %s %s", status, text)
	}
	if _, err := instances.Patch(t.Context(), "flux", types.MergePatchType, []byte(`{"spec":{"cluster":{"multitenant":false}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the unit is no longer locked out", func() (bool, string) {
		m, _, err := f.world.resource("ks")
		if err != nil {
			return false, err.Error()
		}
		u, err := f.world.client.Resource(m.Resource).Namespace("team").Get(t.Context(), "shared", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		_, text := conditionOf(u, "Ready")
		return !strings.Contains(text, refused), fmt.Sprint(text)
	})
}
