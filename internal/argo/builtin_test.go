package argo

import (
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestGateOfCharts asks whether a VirtualCluster may be written that stands for a chart, and one that a repository declares itself.
func TestGateOfCharts(t *testing.T) {
	sets := metav1.GroupKind{Group: "apps", Kind: "StatefulSet"}
	clusters := metav1.GroupKind{Group: virtualClusterKind.Group, Kind: virtualClusterKind.Kind}
	entry := engine.Entry{ID: engine.ObjectID{Group: clusters.Group, Kind: clusters.Kind, Namespace: "team", Name: "dev"}, Version: "v1alpha1"}
	for name, tc := range map[string]struct {
		reason               string
		white, black         []metav1.GroupKind
		made, declared, gone bool
	}{
		"Open":       {reason: "a project without lists permits both", made: true, declared: true, gone: true},
		"Chart":      {reason: "where the chart could be installed, its stand-in may be written, and deleted again", white: []metav1.GroupKind{sets}, made: true, gone: true},
		"Listed":     {reason: "where the kind is listed, the chart need not be", white: []metav1.GroupKind{clusters}, made: true, declared: true, gone: true},
		"NoChart":    {reason: "what the chart consists of is barred", black: []metav1.GroupKind{sets}, declared: true},
		"NoClusters": {reason: "the kind itself is barred", black: []metav1.GroupKind{clusters}},
		"Neither":    {reason: "neither is listed", white: []metav1.GroupKind{{Kind: "ConfigMap"}}},
	} {
		t.Run(name, func(t *testing.T) {
			declared := configuration.Permissive()
			declared.Spec.NamespaceResourceWhitelist, declared.Spec.NamespaceResourceBlacklist = tc.white, tc.black
			project, err := policy.Effective(declared, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			g := gate{project: project, destination: clusterOf{Server: "https://kubernetes.default.svc"}, work: runner.Work{
				Kind: func(schema.GroupVersionKind) (schema.GroupVersionResource, bool, bool) {
					return schema.GroupVersionResource{}, true, true
				},
			}}
			permits := func(what string, err error, want bool) {
				t.Helper()
				if (err == nil) != want || err != nil && !errors.Is(err, policy.ErrKind) {
					t.Errorf("%s: %s: %v", tc.reason, what, err)
				}
			}
			permits("declared", g.visible(entry), tc.declared)
			permits("no longer declared", g.removable(entry), tc.gone)
			g.made = map[engine.ObjectID][]string{entry.ID: nil}
			permits("made", g.visible(entry), tc.made)
		})
	}
}

// TestMadeOf has nothing stand for a chart that somebody wrote.
func TestMadeOf(t *testing.T) {
	object := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cluster.headgate.dev/v1alpha1", "kind": "VirtualCluster", "metadata": map[string]any{"namespace": "team", "name": "dev"},
			"spec": map[string]any{"secretMappings": map[string]any{"shop/*": "a/*", "shop/b": "a/c", "": "a", "bad": "a"}},
		}}
	}
	made := object()
	result := &manifests.Result{BuiltIn: []*unstructured.Unstructured{made}}
	if got := madeOf(result, []*unstructured.Unstructured{made}); !slices.Equal(got[engine.IDOf(made)], []string{"shop", "team"}) || len(got) != 1 {
		t.Errorf("what was made is not known: %v", got)
	}
	if got := madeOf(result, []*unstructured.Unstructured{object()}); len(got) != 0 {
		t.Errorf("an object of the same name passes for one that was made: %v", got)
	}
}
