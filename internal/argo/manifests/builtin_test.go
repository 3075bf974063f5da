package manifests_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
)

// TestBuiltIn makes objects instead of a chart, of the values that the chart would have, and renders no chart.
func TestBuiltIn(t *testing.T) {
	made := func(release, namespace string, values map[string]any) (*unstructured.Unstructured, []string, error) {
		if values["bad"] != nil {
			return nil, nil, errors.New("value bad: unknown")
		}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": release, "namespace": namespace},
			"data": map[string]any{"values": fmt.Sprint(values)},
		}}, []string{"quiet"}, nil
	}
	for name, tc := range map[string]struct {
		reason, helm string
		want, values string
		fails        string
	}{
		"Plain":     {reason: "the release is called like the Application", helm: "{}", want: "ConfigMap/prod/shop", values: "map[]"},
		"Named":     {reason: "names and namespaces of releases", helm: "{releaseName: dev, namespace: elsewhere}", want: "ConfigMap/elsewhere/dev", values: "map[]"},
		"Values":    {reason: "files of other sources, values, and then parameters", helm: "{valueFiles: [$other/v.yaml], valuesObject: {a: 2}, parameters: [{name: b.c, value: x}]}", want: "ConfigMap/prod/shop", values: "map[a:2 b:map[c:x] d:4]"},
		"Refused":   {reason: "a value that is refused is named", helm: "{valuesObject: {bad: true}}", fails: "spec.sources[0].helm: value bad: unknown"},
		"OwnFile":   {reason: "the chart is not there, and so are its files", helm: "{valueFiles: [ci.yaml]}", fails: "spec.sources[0].helm.valueFiles[0]: ci.yaml: no such file or directory"},
		"Directory": {reason: "it is a chart", helm: "{}\ndirectory: {}", fails: "multiple application sources defined"},
	} {
		t.Run(name, func(t *testing.T) {
			request := manifests.Request{App: app(), Options: options(), Multiple: true, Sources: []manifests.Source{
				{Spec: spec(t, "repoURL: https://charts.example.com\nchart: web\ntargetRevision: 1.0.0\nhelm: "+tc.helm), BuiltIn: made, Revision: "1.0.0"},
				{Spec: spec(t, "repoURL: https://git.example.com/x\nref: other"), Tree: repo{"v.yaml": "a: 1\nd: 4\n"}.tree(t), Revision: "0123456789"},
			}}
			got := check(t, request, tc.want, tc.fails)
			if got == nil {
				return
			}
			if values := valuesOf(t, got); values != tc.values {
				t.Errorf("%s: values %s, want %s", tc.reason, values, tc.values)
			}
			if len(got.BuiltIn) != 1 || got.BuiltIn[0] != got.Objects[0] || strings.Join(got.Problems, "") != "spec.sources[0].helm: value quiet: without effect in this process" {
				t.Errorf("%s: made %v, problems %v", tc.reason, got.BuiltIn, got.Problems)
			}
			request.Sources[0].BuiltIn = nil
			if got.Unchanged(request.Sources) {
				t.Error("the chart itself would give the same")
			}
		})
	}
}
