package boot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTalosGates(t *testing.T) {
	for name, c := range map[string]struct {
		reason, text string
		want         map[string]bool
	}{
		"machine config":   {"a whole configuration", "version: v1alpha1\ncluster:\n  apiServer:\n    extraArgs: {feature-gates: 'A=true,B=false', other: x}\n", map[string]bool{"A": true, "B": false}},
		"list of values":   {"newer ones have lists", "cluster: {apiServer: {extraArgs: {feature-gates: [A=true, B=true]}}}\n", map[string]bool{"A": true, "B": true}},
		"talconfig":        {"patches are texts in a file of talhelper", "clusterName: x\ncontrolPlane:\n  patches:\n  - |-\n    cluster:\n      apiServer:\n        extraArgs:\n          feature-gates: A=true\n", map[string]bool{"A": true}},
		"JSON patch":       {"a patch by its path", "- op: add\n  path: /cluster/apiServer/extraArgs\n  value: {feature-gates: A=true}\n", map[string]bool{"A": true}},
		"JSON patch, deep": {"or of the one argument", "- {op: add, path: /cluster/apiServer/extraArgs/feature-gates, value: A=true}\n", map[string]bool{"A": true}},
		"documents":        {"one document of several", "a: b\n---\ncluster: {apiServer: {extraArgs: {feature-gates: A=true}}}\n", map[string]bool{"A": true}},
		"other parts":      {"gates of other parts are not those of the API server", "cluster: {scheduler: {extraArgs: {feature-gates: A=true}}, controllerManager: {extraArgs: {feature-gates: B=true}}}\nmachine: {kubelet: {extraArgs: {feature-gates: C=true}}}\n", map[string]bool{}},
		"template":         {"a template is searched without its tags", "{{ if x }}\ncluster: {apiServer: {extraArgs: {feature-gates: A=true}}}\n{{ end }}\n", map[string]bool{"A": true}},
		"Jinja":            {"tags may be anywhere", "{% if x %}\ncluster:\n  network: {subnets: {{ subnets }}, dns: [{{ dns }}]}\n  apiServer:\n    {# gates #}\n    extraArgs:\n      feature-gates: A=true,B=false\n{% endif %}\n", map[string]bool{"A": true, "B": false}},
		"makejinja":        {"with delimiters that YAML takes for comments", "#% if x %#\ncluster:\n  id: #{ id }#\n  apiServer: {extraArgs: {feature-gates: A=true}}\n#% endif %#\n", map[string]bool{"A": true}},
		"no YAML":          {"what is none is left out", "a: [\nfeature-gates: A=true\n", map[string]bool{}},
	} {
		if diff := cmp.Diff(c.want, talosGatesOf([]byte(c.text))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}
