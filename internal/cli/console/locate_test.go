package console

import (
	"errors"
	"testing"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// hinted is the command that an error suggests.
func hinted(err error) string {
	var hint *dialect.HintError
	if !errors.As(err, &hint) {
		return ""
	}
	return hint.Next
}

// TestMeant suggests what a person probably meant, and nothing where nothing is like it.
func TestMeant(t *testing.T) {
	ids := []engine.ObjectID{
		{Group: "apps", Kind: "Deployment", Namespace: "home", Name: "web"},
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		{Kind: "Service", Namespace: "shop", Name: "web"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "settings"},
	}
	for name, c := range map[string]struct {
		reason string
		sought Sought
		want   string
	}{
		"Name":       {"a slip in the name", Sought{Kind: "deploy", Namespace: "shop", Name: "wbe"}, "; did you mean Deployment/shop/web"},
		"Namespace":  {"a slip in the namespace", Sought{Kind: "deploy", Namespace: "shpo", Name: "web"}, "; there is Deployment/shop/web"},
		"Elsewhere":  {"another namespace", Sought{Kind: "cm", Namespace: "home", Name: "settings"}, "; there is ConfigMap/shop/settings"},
		"Prefix":     {"the beginning of a kind", Sought{Kind: "dep", Name: "web", Anywhere: true}, "; did you mean Deployment/home/web"},
		"Alias":      {"a slip in a short name", Sought{Kind: "sv", Namespace: "shop", Name: "web"}, "; did you mean Service/shop/web"},
		"Kind":       {"a slip in a kind", Sought{Kind: "Servcie", Name: "web", Anywhere: true}, "; did you mean Service/shop/web"},
		"Pair":       {"a slip in NAMESPACE/NAME", Sought{Kind: "shpo", Name: "web", Anywhere: true}, "; did you mean Deployment/shop/web"},
		"Other kind": {"another kind has the name", Sought{Kind: "sts", Namespace: "shop", Name: "settings"}, "; did you mean ConfigMap/shop/settings"},
		"Nothing":    {"nothing is like it", Sought{Kind: "deploy", Name: "database", Anywhere: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			meant, words := c.sought.meant(ids)
			got := words
			if words != "" {
				got += meant.String()
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

// TestNone says where what has a name is, and how it is named there.
func TestNone(t *testing.T) {
	n := namesakes{others: []string{"PersistentVolumeClaim/s/data", "Deployment/shop/web"}, names: []string{"data", "web"}}
	for name, c := range map[string]struct{ reason, name, namespace, want, next string }{
		"Elsewhere": {"it is in another namespace", "data", "shop", `nothing is named "data" in namespace "shop"; there is PersistentVolumeClaim/s/data`, "headgate why PersistentVolumeClaim/s/data"},
		"Slip":      {"a slip", "wbe", "", `nothing is named "wbe"; did you mean "web"?`, "headgate why web"},
		"Slip in":   {"a slip, in a namespace", "wbe", "s", `nothing is named "wbe" in namespace "s"; did you mean Deployment/shop/web?`, "headgate why Deployment/shop/web"},
		"Nothing":   {"nothing is like it", "unlike", "", `nothing is named "unlike": neither a unit or a source, nor an object of a unit`, "headgate get all"},
	} {
		t.Run(name, func(t *testing.T) {
			err := n.none(c.name, c.namespace, "why")
			if err.Error() != c.want || hinted(err) != c.next {
				t.Errorf("%s: got %q, try %q", c.reason, err, hinted(err))
			}
		})
	}
}

// TestTargets tells objects apart that differ in their groups alone.
func TestTargets(t *testing.T) {
	ids := []engine.ObjectID{{Group: "a.example", Kind: "Gateway", Namespace: "n", Name: "x"}, {Group: "b.example", Kind: "Gateway", Namespace: "n", Name: "x"}, {Kind: "Pod", Namespace: "n", Name: "x"}}
	want := []string{"Gateway.a.example/n/x", "Gateway.b.example/n/x", "Pod/n/x"}
	for i, got := range targetsOf(ids) {
		if got != want[i] {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}

// TestJoined reads a target in one argument or in two.
func TestJoined(t *testing.T) {
	for want, args := range map[string][]string{
		"ks/apps": {"ks", "apps"}, "Application/argocd/root": {"Application argocd/root"}, "Kustomization/flux-system/apps": {"Kustomization", "flux-system/apps"}, "web": {"web"},
	} {
		if got := Joined(args); got != want {
			t.Errorf("%q: got %s, want %s", args, got, want)
		}
	}
}

// TestUnversioned leaves the version out of a kind as kubectl takes it.
func TestUnversioned(t *testing.T) {
	for kind, want := range map[string]string{
		"deployment.v1.apps": "deployment.apps", "pods.v1.": "pods", "hpa.v2beta1.autoscaling": "hpa.autoscaling", "deployments.apps": "deployments.apps",
		"kustomizations.v1.kustomize.toolkit.fluxcd.io": "kustomizations.kustomize.toolkit.fluxcd.io", "pod": "pod",
	} {
		if got := unversioned(kind); got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}
