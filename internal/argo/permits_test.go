package argo

import (
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestPermits has an Application claim what its project permits, whatever step it is in, and nothing else.
func TestPermits(t *testing.T) {
	e := &Engine{apps: newRegistry(), projects: configuration.NewProjects(), settings: configuration.NewSettings("argocd"), options: Options{Namespace: "argocd"}}
	project := configuration.Permissive()
	project.Name, project.Spec.Destinations = "p", []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "a"}}
	e.projects.Put(project)
	e.projects.Reread(e.settings.Now())
	a, _ := e.apps.take(UnitID("argocd", "a"), declaration{obj: application("1")})
	e.derive(a)
	a.mu.Unlock()
	for namespace, want := range map[string]bool{"a": true, "b": false} {
		entry := engine.Entry{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: namespace, Name: "x"}, Version: "v1"}
		if err := (&driver{e}).Permits(a.id, entry, &cluster.Kinds{}); (err == nil) != want {
			t.Errorf("an object in namespace %s: %v", namespace, err)
		}
	}
}
