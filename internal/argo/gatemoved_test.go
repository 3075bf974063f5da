package argo

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestGateOfAnother has an Application, its project or the settings change while a step is in progress whose work was begun
// before: what was decided for another cluster, account, project or declaration is neither written nor deleted.
func TestGateOfAnother(t *testing.T) {
	changed := func(change func(*v1alpha1.Application)) func(*Engine, *app) {
		return func(_ *Engine, a *app) {
			next := a.obj.DeepCopy()
			change(next)
			a.obj = next
		}
	}
	project := func(change func(*v1alpha1.AppProjectSpec)) func(*Engine, *app) {
		return func(e *Engine, _ *app) {
			p := configuration.Permissive()
			p.Name = "p"
			change(&p.Spec)
			e.projects.Put(p)
			e.projects.Reread(e.settings.Now())
		}
	}
	const moved = "changed meanwhile"
	for name, tc := range map[string]struct {
		reason         string
		change         func(*Engine, *app)
		write, removal string
	}{
		"Same":        {"nothing changed", func(*Engine, *app) {}, "", ""},
		"Destination": {"the objects were rendered for another namespace", changed(func(o *v1alpha1.Application) { o.Spec.Destination.Namespace = "b" }), moved, moved},
		"Cluster":     {"the work is about the previous cluster", changed(func(o *v1alpha1.Application) { o.Spec.Destination.Server = "https://far.example" }), moved, moved},
		"Project":     {"the other project was not asked about the source", changed(func(o *v1alpha1.Application) { o.Spec.Project = "default" }), moved, moved},
		"Source":      {"the objects are from another repository", changed(func(o *v1alpha1.Application) { o.Spec.Source.RepoURL = "https://git.example/other" }), moved, moved},
		"Account": {"the work is done as the engine, and the project names an account by now", func(_ *Engine, a *app) {
			a.place.User = "system:serviceaccount:a:syncer"
		}, moved, moved},
		"Repository": {"the project no longer permits the source of what was rendered", project(func(s *v1alpha1.AppProjectSpec) {
			s.SourceRepos = []string{"https://other.example/*"}
		}), "application repo https://git.example/repo is not permitted in project 'p'", ""},
		"Namespace": {
			"the project no longer permits the namespace", project(func(s *v1alpha1.AppProjectSpec) { s.Destinations[0].Namespace = "b" }),
			"do not match any of the allowed destinations in project 'p'", "namespace a is not permitted in project 'p'",
		},
		"Signature": {"the project requires a signature that what was rendered does not have", func(e *Engine, a *app) {
			a.origins = []origin{{address: "https://git.example/repo"}}
			project(func(s *v1alpha1.AppProjectSpec) {
				s.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: "4AEE18F83AFDEB23"}}
			})(e, a)
		}, "GIT/GPG: Failed verifying revision", ""},
		"Deleted": {"the project was deleted", func(e *Engine, _ *app) {
			e.projects.Drop("p")
			e.projects.Reread(e.settings.Now())
		}, "Application referencing project p which does not exist", "Application referencing project p which does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Engine{feeds: &feeds.Feeds{}, apps: newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}}
			project(func(*v1alpha1.AppProjectSpec) {})(e, nil)
			a, _ := e.apps.take(UnitID("argocd", "a"), declaration{obj: application("1")})
			e.derive(a)
			w := runner.Work{
				Unit: a.id, Key: engine.Key{Generation: a.generation}, Declared: engine.Unit{Target: a.place}, Cluster: &cluster.Cluster{},
				Kind: func(schema.GroupVersionKind) (schema.GroupVersionResource, bool, bool) {
					return schema.GroupVersionResource{}, true, true
				},
			}
			place := a.place
			tc.change(e, a)
			if a.place == place {
				e.derive(a)
			}
			a.mu.Unlock()
			g := (&driver{e}).gate(a, w)
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			u.SetNamespace("a")
			u.SetName("x")
			entry := engine.EntryOf(u)
			matches := func(what, want string, err error) {
				t.Helper()
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %s: %v, want %q", tc.reason, what, err, want)
				}
			}
			matches("a write", tc.write, g.permits(entry))
			matches("a deletion", tc.removal, g.visible(entry))
			if tc.removal != "" {
				// Without an applier, what is not refused would panic.
				matches("a deletion", tc.removal, g.remove(t.Context(), entry, metav1.DeletePropagationForeground).Err)
			}
			if stops := g.stale() != nil; stops != (tc.write != "") {
				t.Errorf("%s: the step stops: %v", tc.reason, stops)
			}
		})
	}
}
