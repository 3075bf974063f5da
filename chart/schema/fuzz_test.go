package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// FuzzValidate holds what is true of all objects, hostile ones too: a validation ends without a panic, changes nothing, says the same
// twice, and names an object that is there.
func FuzzValidate(f *testing.F) {
	f.Add("{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: '!'}}", "{type: object, properties: {spec: {type: string}}}")
	f.Add(containers("[{name: c, image: x, ports: [null]}]"), "{anyOf: [{not: {}}], x-kubernetes-list-type: map}")
	f.Add("{apiVersion: b.c/v1, kind: A, metadata: {name: a}, spec: [{a: 1}, {a: 1}]}", "{properties: {spec: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {}}}}")
	f.Add("{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: List, items: 1}]}", "{additionalProperties: false, pattern: '('}")
	f.Add("{apiVersion: b.c/v1, kind: AList, items: [null]}", "{$ref: 'api.core.v1.Pod'}")
	f.Fuzz(func(t *testing.T, object, schema string) {
		var o, s any
		if yaml.Unmarshal([]byte(object), &o) != nil || yaml.Unmarshal([]byte(schema), &s) != nil {
			t.Skip()
		}
		fields, ok := o.(map[string]any)
		if !ok {
			t.Skip()
		}
		definition := map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "as.b.c"}, "spec": map[string]any{
			"group": "b.c", "scope": "Namespaced", "names": map[string]any{"kind": "A", "plural": "as"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": s}}},
		}}
		all := []map[string]any{fields, definition}
		before := []any{runtime.DeepCopyJSONValue(fields), runtime.DeepCopyJSONValue(definition)}
		first, second := Check{}.Validate(all), Check{}.Validate(all)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("the second time says something else:\n%s", diff)
		}
		if diff := cmp.Diff(before, []any{any(fields), any(definition)}); diff != "" {
			t.Errorf("the objects were changed:\n%s", diff)
		}
		for _, found := range first {
			if found.Manifest < 0 || found.Manifest >= len(all) || found.Message == "" {
				t.Errorf("a finding about no object: %+v", found)
			}
		}
	})
}
