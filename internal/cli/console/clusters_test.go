package console

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// clustered are commands that know the clusters, of which home is the first.
func clustered(names ...string) (*Globals, *Clusters) {
	g := &Globals{Catalogue: dialects.All()}
	c := &Clusters{g: g}
	for _, d := range g.Catalogue {
		if of, is := d.(dialect.Destined); is {
			c.of = append(c.of, of)
		}
	}
	for i, name := range names {
		c.all = append(c.all, dialect.Cluster{Name: name, Home: i == 0, Server: "https://" + name})
	}
	return g, c
}

// application is an Application that holds a Deployment in a cluster.
func application(name, cluster, namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": name, "namespace": "argocd"},
		"spec": map[string]any{"destination": map[string]any{"name": cluster}},
		"status": map[string]any{"resources": []any{
			map[string]any{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": namespace, "name": "web"},
		}},
	}}
}

func TestLocate(t *testing.T) {
	g, clusters := clustered("in-cluster", "dev", "staging")
	units := []*unstructured.Unstructured{
		application("a", "dev", "web"), application("b", "staging", "web"), application("c", "staging", "other"), application("d", "gone", "lost"),
	}
	for name, tc := range map[string]struct {
		target, namespace, cluster string
		unit, err                  string
	}{
		"Chosen":    {"Deployment/web/web", "", "staging", "b", ""},
		"Lower":     {"deployment/web", "web", "dev", "a", ""},
		"Namespace": {"Deployment/other/web", DefaultNamespace, "", "c", ""},
		"Flag":      {"Deployment/web", "other", "", "c", ""},
		"Gone":      {"Deployment/lost/web", "", "", "d", ""},
		"Several":   {"Deployment/web/web", "", "", "", "Deployment/web is in several clusters: Deployment/web/web in dev, Deployment/web/web in staging"},
		"Elsewhere": {"Deployment/other/web", "", "dev", "", `no unit holds Deployment/web in namespace "other" of cluster dev`},
		"Nowhere":   {"Deployment/third/web", "", "", "", `no unit holds Deployment/web in namespace "third"`},
		"Any":       {"deploy/web", "", "staging", "", `several objects are named "deploy/web": Deployment/other/web, Deployment/web/web`},
		"Given":     {"deploy/web", DefaultNamespace, "", "", `no unit holds deploy/web in namespace "flux-system"; there is Deployment/lost/web`},
		"Version":   {"deployment.v1.apps/web", "other", "", "c", ""},
		"Long":      {"a/b/c/d", "", "", "", "want KIND/NAME or KIND/NAMESPACE/NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			sought, err := Seek(tc.target, tc.namespace, tc.cluster)
			var found Found
			if err == nil {
				found, err = g.Locate(clusters, units, sought, "why")
			}
			switch {
			case tc.err == "" && err != nil:
				t.Error(err)
			case tc.err == "" && (found.Unit.GetName() != tc.unit || found.Cluster != clusters.Of(found.Unit)):
				t.Errorf("got %s in %s, want %s", found.Unit.GetName(), found.Cluster, tc.unit)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("got %v, want %s", err, tc.err)
			}
		})
	}
}

// TestSeveral prints nothing of clusters where there is one, also where it cannot be read whether there are more.
func TestSeveral(t *testing.T) {
	home, away := application("a", "in-cluster", "web"), application("b", "dev", "web")
	for name, tc := range map[string]struct {
		clusters []string
		err      error
		units    []*unstructured.Unstructured
		want     bool
	}{
		"One":       {[]string{"in-cluster"}, nil, []*unstructured.Unstructured{home}, false},
		"Two":       {[]string{"in-cluster", "dev"}, nil, []*unstructured.Unstructured{home}, true},
		"Forbidden": {[]string{"in-cluster"}, errors.New("forbidden"), []*unstructured.Unstructured{home}, false},
		"Said":      {[]string{"in-cluster"}, errors.New("forbidden"), []*unstructured.Unstructured{home, away}, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, clusters := clustered(tc.clusters...)
			clusters.err = tc.err
			if got := clusters.Several(tc.units); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	_, clusters := clustered("in-cluster", "dev")
	if chosen, err := clusters.Choose("dev"); err != nil || len(chosen) != 1 || chosen[0].Name != "dev" {
		t.Errorf("got %v: %v", chosen, err)
	}
	if chosen, err := clusters.Choose(""); err != nil || len(chosen) != 2 {
		t.Errorf("got %v: %v", chosen, err)
	}
	if err := clusters.Check("prod"); err == nil || !strings.Contains(err.Error(), "there are in-cluster, dev") {
		t.Errorf("got %v, want the names that there are", err)
	}
	if got := clusters.Named("https://dev"); got != "dev" {
		t.Errorf("got %q, want dev", got)
	}
	if got := clusters.Named("https://other"); got != "https://other" {
		t.Errorf("got %q, want the address", got)
	}
}
