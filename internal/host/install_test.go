package host

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/workflow"
)

// TestDelivering has definitions wait for the engine exactly where nothing of a repository begins with their kinds.
func TestDelivering(t *testing.T) {
	first, later := dialects.All().All().Delivering()
	if diff := cmp.Diff(groupsOf(t, "flux", "argocd").Names(), first.Names()); diff != "" {
		t.Errorf("the groups with units (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(groupsOf(t, "workflows", "crossplane", "build", "virtual").Names(), later.Names()); diff != "" {
		t.Errorf("the groups without units (-want +got):\n%s", diff)
	}
	for kind, want := range map[string]bool{"Workflow": true, "Application": false, "Rollout": false} {
		if got := later.Knows(schema.GroupKind{Group: "argoproj.io", Kind: kind}); got != want {
			t.Errorf("%s is served later: %v", kind, got)
		}
	}
	for name, groups := range map[string][2][]string{
		"both":  {first.Names(), later.Names()},
		"first": {{argo.Group}, nil},
		"later": {nil, {workflow.Group}},
	} {
		some := append(groups[0], groups[1]...)
		first, later := groupsOf(t, some...).Delivering()
		if got := append(first.Names(), later.Names()...); strings.Join(got, " ") != strings.Join(some, " ") || len(first.Names()) != len(groups[0]) {
			t.Errorf("%s: %v come first, %v later", name, first.Names(), later.Names())
		}
	}
}

// TestReplacing has the same definitions of a repository left alone, parsed by the installation or on its own.
func TestReplacing(t *testing.T) {
	serve := dialects.All().All()
	first, laterGroups := serve.Delivering()
	installed, err := needsOf(first)
	if err != nil {
		t.Fatal(err)
	}
	later, err := needsOf(laterGroups)
	if err != nil {
		t.Fatal(err)
	}
	every, err := serve.Replaced()
	if err != nil {
		t.Fatal(err)
	}
	split, err := replacedBy(Config{Serve: serve, Installed: installed.names(), Later: laterGroups}, later)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := replacedBy(Config{Serve: serve}, needs{})
	if err != nil {
		t.Fatal(err)
	}
	for name, left := range map[string]bool{
		"kustomizations.kustomize.toolkit.fluxcd.io": true, "applications.argoproj.io": true, "workflows.argoproj.io": true,
		"objects.kubernetes.crossplane.io": true, "rollouts.argoproj.io": false,
	} {
		crd := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}}
		crd.SetName(name)
		if got := []bool{every.Why(crd) != "", split.Why(crd) != "", whole.Why(crd) != ""}; !cmp.Equal(got, []bool{left, left, left}) {
			t.Errorf("%s is left to Headgate: %v, want %v", name, got, left)
		}
	}
}
