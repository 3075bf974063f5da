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

func names(all []*unstructured.Unstructured) []string {
	var got []string
	for _, d := range all {
		got = append(got, d.GetName())
	}
	return got
}
