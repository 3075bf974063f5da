package argo

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/dialect"
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

// TestGrants asks whose Secrets an Application has be read for the VirtualCluster that stands for its chart.
func TestGrants(t *testing.T) {
	object := engine.ObjectID{Group: virtualClusterKind.Group, Kind: virtualClusterKind.Kind, Namespace: "dev", Name: "dev"}
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		change    func(*v1alpha1.AppProjectSpec, *v1alpha1.Application)
		want      bool
	}{
		"Permitted":   {reason: "it requests them, and its project permits Secrets there", want: true},
		"Unrequested": {reason: "what its values do not name is not given, even if the VirtualCluster is edited", namespace: "vault"},
		"Destination": {reason: "the project does not permit the namespace", change: func(p *v1alpha1.AppProjectSpec, _ *v1alpha1.Application) {
			p.Destinations = append(p.Destinations, v1alpha1.ApplicationDestination{Server: "https://kubernetes.default.svc", Namespace: "!shop"})
		}},
		"Kind": {reason: "the project permits no Secrets", change: func(p *v1alpha1.AppProjectSpec, _ *v1alpha1.Application) {
			p.NamespaceResourceBlacklist = []metav1.GroupKind{{Kind: "Secret"}}
		}},
		"Source": {reason: "the project no longer permits the chart", change: func(p *v1alpha1.AppProjectSpec, _ *v1alpha1.Application) {
			p.SourceRepos = []string{"https://other.example/*"}
		}},
		"Elsewhere": {reason: "it is for another cluster by now", change: func(_ *v1alpha1.AppProjectSpec, a *v1alpha1.Application) {
			a.Spec.Destination.Server = "https://far.example"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{
				Host: &dialect.Host{Grants: &dialect.Grants{}}, apps: newRegistry(), projects: configuration.NewProjects(),
				settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"},
			}
			project, app := configuration.Permissive(), &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "dev"}}
			app.Spec = v1alpha1.ApplicationSpec{
				Project: project.Name, Source: &v1alpha1.ApplicationSource{RepoURL: "https://charts.loft.sh", Chart: "vcluster", TargetRevision: "0.26.0"},
				Destination: v1alpha1.ApplicationDestination{Server: "https://kubernetes.default.svc", Namespace: "dev"},
			}
			if tc.change != nil {
				tc.change(&project.Spec, app)
			}
			e.projects.Put(project)
			e.projects.Reread(e.settings.Now())
			a, _ := e.apps.take(UnitID("argocd", "dev"), declaration{obj: app})
			e.derive(a)
			a.mu.Unlock()
			told := 0
			e.Grants.OnChange(func() { told++ })
			for range 2 {
				e.makes(a, map[engine.ObjectID][]string{object: {"shop"}})
			}
			if told != 1 {
				t.Errorf("what is new was told %d times", told)
			}
			if got := e.grants(object, cmp.Or(tc.namespace, "shop")); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
			if e.grants(engine.ObjectID{Kind: object.Kind, Namespace: "dev", Name: "other"}, "shop") {
				t.Error("another object is given them")
			}
		})
	}
}

// TestMadeOf has nothing stand for a chart that someone wrote.
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
