package acceptance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

func TestSurvey(t *testing.T) {
	one, two := engine.UnitID{Kind: "Kustomization", Namespace: "x", Name: "one"}, engine.UnitID{Kind: "Kustomization", Namespace: "x", Name: "two"}
	of := func(by engine.UnitID, text string) Declared { return Declared{By: by, Object: object(t, text)} }
	const (
		namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: apps}}"
		config    = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: apps}}"
		widget    = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: default}, spec: {size: 1}}"
		job       = "{apiVersion: batch/v1beta1, kind: CronJob, metadata: {name: a, namespace: default}}"
		host      = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: default}, spec: {rules: [{host: encrypted-A}]}}"
	)
	inNamespace := of(one, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
	inNamespace.Namespace = "default"
	standIn := of(one, host)
	standIn.StandIns = true
	type outcome struct{ Refused, Unknown []string }
	cases := map[string]struct {
		reason string
		all    []Declared
		around Surroundings
		want   outcome
	}{
		"nothing":    {reason: "an empty repository is accepted"},
		"later":      {reason: "definitions and namespaces count in whatever order they come", all: []Declared{of(one, config), of(one, widget), of(two, namespace), of(two, widgets)}},
		"there":      {reason: "what is there already counts", all: []Declared{of(one, config), of(one, widget)}, around: Surroundings{Definitions: []*unstructured.Unstructured{object(t, widgets)}, Namespaces: []string{"apps"}}},
		"perhaps":    {reason: "what may be applied counts, even if it is refused", all: []Declared{of(one, config), of(one, widget)}, around: Surroundings{Maybe: []*unstructured.Unstructured{object(t, widgets), object(t, namespace), object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}")}}},
		"its own":    {reason: "an object goes where its unit has it", all: []Declared{inNamespace}},
		"no space":   {reason: "a namespace is needed", all: []Declared{of(one, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")}, want: outcome{Refused: []string{"ConfigMap/a of Kustomization/x/one: metadata.namespace: required"}}},
		"cluster":    {reason: "a namespace on what has none is dropped", all: []Declared{of(one, "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a, namespace: none}, provisioner: a.example.com/b}")}},
		"missing":    {reason: "a namespace that nothing makes is said once for each unit", all: []Declared{of(one, config), of(one, "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: apps}}"), of(two, config)}, want: outcome{Refused: []string{`nothing creates namespace "apps": ConfigMap/apps/a and 1 more of Kustomization/x/one`, `nothing creates namespace "apps": ConfigMap/apps/a of Kustomization/x/two`}}},
		"maybe":      {reason: "what is not known may make it, and define kinds", all: []Declared{of(one, config), of(one, widget)}, around: Surroundings{Blind: true}, want: outcome{Unknown: []string{`nothing creates namespace "apps": ConfigMap/apps/a of Kustomization/x/one, unless something that is not rendered here does`, "kinds without a definition in what is rendered here: Widget.example.com"}}},
		"never":      {reason: "nothing defines kinds in the groups of the server", all: []Declared{of(one, job)}, around: Surroundings{Blind: true}, want: outcome{Refused: []string{"CronJob/default/a of Kustomization/x/one: apiVersion batch/v1beta1 is not served; use batch/v1"}}},
		"undefined":  {reason: "a kind that nothing defines", all: []Declared{of(one, widget)}, want: outcome{Refused: []string{"Widget/default/a of Kustomization/x/one: kind Widget is not served in example.com/v1, and nothing defines it"}}},
		"values":     {reason: "a value that is wrong", all: []Declared{of(one, host)}, want: outcome{Refused: []string{`Ingress/default/a of Kustomization/x/one: spec.rules[0].host: Invalid value: "encrypted-A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`}}},
		"stand-in":   {reason: "stand-ins are not judged", all: []Declared{standIn}},
		"definition": {reason: "a definition that is refused defines nothing, and is said itself", all: []Declared{of(one, widget), of(two, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: []}}")}, want: outcome{Refused: []string{"Widget/default/a of Kustomization/x/one: kind Widget is not served in example.com/v1, and nothing defines it", "CustomResourceDefinition/widgets.example.com of Kustomization/x/two: spec.versions: Invalid value: []: must have exactly one version marked as storage version; status.storedVersions: Invalid value: null: must have at least one stored version"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, err := New()
			if err != nil {
				t.Fatal(err)
			}
			got, err := server.Survey(t.Context(), c.all, c.around)
			if err != nil {
				t.Fatal(err)
			}
			out := outcome{Unknown: got.Unknown}
			for _, r := range got.Refused {
				out.Refused = append(out.Refused, r.String())
			}
			if diff := cmp.Diff(c.want, out); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
