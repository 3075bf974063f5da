package migration

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Those are paused first that would start the others again, the shards of a controller with it, and those last that serve artifacts: they are started
// first.
func TestTurns(t *testing.T) {
	list := []Controller{
		{Name: "source-controller"},
		{Name: "source-watcher"},
		{Name: "helm-controller-shard1"},
		{Name: "kustomize-controller"},
		{Name: "helm-controller"},
		{Name: "notification-controller"},
		{Name: "flux-operator"},
		{Name: "argocd-applicationset-controller"},
		{Name: "prod-application-controller", Kind: "StatefulSet"},
	}
	slices.SortStableFunc(list, byTurn)
	var got []string
	for _, d := range list {
		got = append(got, d.Name)
	}
	want := []string{
		"flux-operator", "kustomize-controller", "helm-controller-shard1", "helm-controller", "prod-application-controller",
		"notification-controller", "argocd-applicationset-controller", "source-watcher", "source-controller",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChanged(t *testing.T) {
	before := Fingerprint{"a": "u1 generation 1", "b": "u2 version 7", "c": "u3 generation 1", "d": "u4 generation 1", "e": "missing", "f": "u6 generation 2"}
	after := Fingerprint{"a": "u1 generation 1", "b": "u2 version 8", "c": "u9 generation 1", "d": "missing", "e": "missing"}
	want := []string{"b was changed", "c was recreated", "d was deleted", "f is no longer in an inventory"}
	if diff := cmp.Diff(want, before.Changed(after)); diff != "" {
		t.Error(diff)
	}
}

// What an engine leaves behind is served on: that of the other engine.
func TestRemaining(t *testing.T) {
	cases := map[string]struct {
		reason string
		of     Upstream
		served []string
		want   []string
	}{
		"Alone":     {reason: "nothing else is served", of: ArgoCD, served: []string{"argoproj.io"}},
		"Word":      {reason: "a word stands for groups", of: Flux, served: []string{"flux"}},
		"Both":      {reason: "the groups of the other engine go on", of: Flux, served: []string{"flux", "argocd"}, want: []string{"argoproj.io"}},
		"BothBack":  {reason: "in both directions", of: ArgoCD, served: []string{"kustomize.toolkit.fluxcd.io", "argoproj.io"}, want: []string{"kustomize.toolkit.fluxcd.io"}},
		"Workflows": {reason: "so do those that neither has", of: Flux, served: []string{"flux", "workflows"}, want: []string{"workflows.argoproj.io"}},
		"Unknown":   {reason: "what cannot be read is scaled to nothing", of: Flux, served: []string{"what"}},
		"NothingAt": {reason: "a Deployment that says nothing too", of: Flux},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := &Migration{of: tc.of}
			if got := m.remaining(tc.served); !slices.Equal(got, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestResourcesOf(t *testing.T) {
	const resources = `status: {resources: [
  {group: apps, version: v1, kind: Deployment, namespace: web, name: web, status: Synced},
  {version: v1, kind: Service, namespace: web, name: web},
  {group: argoproj.io, version: v1alpha1, kind: Application, namespace: argocd, name: child}]}`
	want := []engine.Entry{
		{Version: "v1", ID: engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "web", Name: "web"}},
		{Version: "v1", ID: engine.ObjectID{Kind: "Service", Namespace: "web", Name: "web"}},
	}
	cases := map[string]struct {
		reason, destination string
		want                []engine.Entry
	}{
		"Server": {"objects of this cluster, but no Applications", "{server: 'https://kubernetes.default.svc'}", want},
		"Name":   {"by its name", "{name: in-cluster}", want},
		"Far":    {"those of another cluster are not looked at", "{server: 'https://far.example'}", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("kind: Application\nspec: {destination: "+tc.destination+"}\n"+resources), &u.Object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, resourcesOf(u)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
