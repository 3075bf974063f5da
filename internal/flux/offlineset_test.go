package flux

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

func TestOfflineResourceSet(t *testing.T) {
	tree := directoryOf(t, map[string]string{
		"root/set.yaml": `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: web, namespace: apps}
spec:
  inputsFrom: [{kind: ResourceSetInputProvider, selector: {matchLabels: {web: "yes"}}}]
  resources:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: "web-<< inputs.part >>"}}
`,
		"root/units.yaml": `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: parts, namespace: flux-system}
spec: {path: ./parts, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: flux-operator, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: flux-operator, sourceRef: {kind: HelmRepository, name: nowhere}}}}
`,
		"parts/providers.yaml": `apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSetInputProvider
metadata: {name: a, namespace: apps, labels: {web: "yes"}}
spec: {type: Static, defaultValues: {part: a}}
---
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSetInputProvider
metadata: {name: b, namespace: apps, labels: {web: "yes"}}
spec: {type: Static, defaultValues: {part: b}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: flux-system, labels: {app.kubernetes.io/part-of: flux}}
`,
	})
	replaced, err := dialect.Catalogue{New(Options{})}.All().Replaced()
	if err != nil {
		t.Fatal(err)
	}
	units := walked(t, dialect.Repository{Files: tree, Replaced: replaced, Fetch: func(engine.UnitID) bool { return true }}).Units
	got := map[string][]string{}
	for _, u := range units {
		if u.Err != nil {
			t.Errorf("%s: %v", u.Unit.ID, u.Err)
		}
		var names []string
		for _, o := range u.Objects {
			names = append(names, engine.IDOf(o).String())
		}
		slices.Sort(names)
		got[u.Unit.ID.String()] = names
	}
	want := map[string][]string{
		"Kustomization/flux-system/flux-system": {"HelmRelease/apps/flux-operator", "Kustomization/flux-system/parts", "ResourceSet/apps/web"},
		"Kustomization/flux-system/parts":       {"ResourceSetInputProvider/apps/a", "ResourceSetInputProvider/apps/b"},
		"ResourceSet/apps/web":                  {"ConfigMap/apps/web-a", "ConfigMap/apps/web-b"},
		"HelmRelease/apps/flux-operator":        nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what a ResourceSet makes has to come from the providers of all Kustomizations; nothing is installed of Flux itself:\n%s", diff)
	}
}
