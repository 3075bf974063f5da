package simulate_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestChart(t *testing.T) {
	demanded := []*unstructured.Unstructured{
		object(t, "{apiVersion: ceph.rook.io/v1, kind: CephCluster, metadata: {name: rook, namespace: rook}, spec: {text: '{{ .Values.secret }}'}}"),
		object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: other, namespace: apps}}"),
		object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: apps}}"),
		simulate.CRD(schema.GroupKind{Group: "e.io", Kind: "X"}, nil),
	}
	data, err := simulate.Chart("stubbed", "1.2.3+build", demanded)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := simulate.Chart("stubbed", "1.2.3+build", demanded); err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same arguments make other bytes (%v)", err)
	}
	chart, err := helm.LoadChart(data)
	if err != nil {
		t.Fatal(err)
	}
	if chart.Name() != "stubbed" || chart.Version() != "1.2.3+build" {
		t.Errorf("it is %s %s", chart.Name(), chart.Version())
	}
	values, err := helm.Compose(nil, helm.Layer{Data: []byte("auth: {password: hunter2, deep: {enabled: true}}\nlist: [a, b]\ntext: hunter2\nnumber: 4711\nnothing: null\n")})
	if err != nil {
		t.Fatal(err)
	}
	out, err := helm.Template(t.Context(), helm.TemplateOptions{Common: helm.Common{Name: "web", Namespace: "apps", Chart: chart, Values: values}})
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, o := range out.Objects {
		objects = append(objects, o.GetKind()+"/"+o.GetName())
		if o.GetLabels()[simulate.Label] != "true" {
			t.Errorf("%s has no label", o.GetName())
		}
		shown(t, o)
	}
	want := []string{"ConfigMap/web-values", "Service/web", "Deployment/other", "Deployment/web", "CephCluster/rook"}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(out.CRDs) != 1 {
		t.Errorf("there are %d definitions", len(out.CRDs))
	}
}

// shown inspects what an object shows of the values.
func shown(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if o.GetKind() == "CephCluster" {
		if text, _, _ := unstructured.NestedString(o.Object, "spec", "text"); text != "{{ .Values.secret }}" {
			t.Errorf("an object is taken for a template: %q", text)
		}
	}
	if o.GetKind() != "ConfigMap" {
		return
	}
	text, _, _ := unstructured.NestedString(o.Object, "data", "values")
	want := "auth:\n  deep:\n    enabled: true\n  password: (a value)\nlist: (2 items)\nnothing: (nothing)\nnumber: (a value)\ntext: (a value)"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestChartThatCannotBe(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"", "1.0.0", "not a chart name"},
		{"../up", "1.0.0", "not a chart name"},
		{"a", "latest", `chart "a": version "latest"`},
		{"a", "", `chart "a": version ""`},
		{"a", ">=1.0.0", `version ">=1.0.0"`},
	} {
		if _, err := simulate.Chart(c.name, c.version, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v", c, err)
		}
	}
}
