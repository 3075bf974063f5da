package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDialectsAreApart keeps the kinds of Argo CD out of the chart: only clusters that serve them get them.
func TestDialectsAreApart(t *testing.T) {
	argo, err := ArgoCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io"}
	if diff := cmp.Diff(want, names(argo)); diff != "" {
		t.Errorf("the definitions of Argo CD (-want +got):\n%s", diff)
	}
	flux, err := CRDs()
	if err != nil {
		t.Fatal(err)
	}
	if len(flux) == 0 {
		t.Error("the chart has no definitions")
	}
	for _, d := range flux {
		if group, _, _ := unstructured.NestedString(d.Object, "spec", "group"); group == "argoproj.io" {
			t.Errorf("the chart has %s", d.GetName())
		}
	}
}

// TestWorkflowDefinitions keeps spec, status and labels of a run in one update, as clients of the upstream write them.
func TestWorkflowDefinitions(t *testing.T) {
	workflows, err := WorkflowCRDs()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"clusterworkflowtemplates.argoproj.io", "cronworkflows.argoproj.io", "workflows.argoproj.io", "workflowtemplates.argoproj.io",
	}
	if diff := cmp.Diff(want, names(workflows)); diff != "" {
		t.Errorf("the definitions of workflows (-want +got):\n%s", diff)
	}
	for _, d := range workflows {
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		if len(versions) != 1 {
			t.Fatalf("%s has %d versions, want 1", d.GetName(), len(versions))
		}
		version, _ := versions[0].(map[string]any)
		if _, found, _ := unstructured.NestedMap(version, "subresources", "status"); found {
			t.Errorf("%s has a status subresource", d.GetName())
		}
		for _, field := range []string{"spec", "status"} {
			part, found, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", field)
			if found && part["x-kubernetes-preserve-unknown-fields"] != true {
				t.Errorf("%s prunes unknown fields of its %s: nothing could name them", d.GetName(), field)
			}
		}
	}
}

func names(all []*unstructured.Unstructured) []string {
	var got []string
	for _, d := range all {
		got = append(got, d.GetName())
	}
	return got
}
