package commands

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// registered are clusters of which two have one name, one logs in by a program, and one has a name that would command a terminal.
func registered() settings.Settings {
	s := settings.Defaults()
	s.InCluster = false
	s.Clusters = []settings.Cluster{
		{Secret: "dev", Name: "dev", Server: "https://dev.example.com"},
		{Secret: "a", Name: "twin", Server: "https://a.example.com"},
		{Secret: "b", Name: "twin", Server: "https://b.example.com"},
		{Secret: "program", Name: "program", Server: "https://program.example.com", Unserved: []string{"execProviderConfig"}},
		{Secret: "bell", Name: "be\x1bll\u0085", Server: "https://bell.example.com"},
	}
	return s
}

func TestClustersOf(t *testing.T) {
	all := clustersOf(registered())
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		if c.Home != (c.Name == "in-cluster") || (c.Err != nil) != (c.Name == "program") || (c.Config != nil) != (!c.Home && c.Err == nil) {
			t.Errorf("%s: home %v, config %v: %v", c.Name, c.Home, c.Config != nil, c.Err)
		}
	}
	if want := []string{"in-cluster", "dev", "https://a.example.com", "https://b.example.com", "program", "be ll "}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if one := clustersOf(settings.Defaults()); len(one) != 1 || !one[0].Home {
		t.Errorf("without Secrets: got %v, want the cluster of the installation", one)
	}
}

func TestClusterOf(t *testing.T) {
	all := clustersOf(registered())
	for name, tc := range map[string]struct {
		kind        string
		destination map[string]any
		want        string
	}{
		"Name":      {"Application", map[string]any{"name": "dev"}, "dev"},
		"Server":    {"Application", map[string]any{"server": "https://dev.example.com/"}, "dev"},
		"Home":      {"Application", map[string]any{"server": "https://kubernetes.default.svc"}, "in-cluster"},
		"Twin":      {"Application", map[string]any{"server": "https://b.example.com"}, "https://b.example.com"},
		"Ambiguous": {"Application", map[string]any{"name": "twin"}, "twin"},
		"Unknown":   {"Application", map[string]any{"name": "go\x1bne"}, "go ne"},
		"Bell":      {"Application", map[string]any{"name": "be\x1bll\u0085"}, "be ll "},
		"None":      {"Application", map[string]any{"namespace": "web"}, ""},
		"Other":     {"AppProject", map[string]any{"name": "dev"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "argoproj.io/v1alpha1", "kind": tc.kind, "spec": map[string]any{"destination": tc.destination},
			}}
			if got := (Verbs{}).ClusterOf(u, all); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
