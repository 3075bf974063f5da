package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestShare(t *testing.T) {
	cases := map[string]struct {
		reason   string
		declared []string
		whole    string
		// disputes are by unit ("u1" is the second): whose the fields are, and the fields.
		disputes map[string]map[string][]string
	}{
		"same": {
			"the same content, and no labels of its owner but the first one's",
			[]string{
				`{kind: ConfigMap, metadata: {name: x, labels: {own/name: a, own/namespace: n, app: web}}, data: {k: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x, labels: {own/name: b, owner: n, app: web}}, data: {k: "1"}}`,
			},
			`{kind: ConfigMap, metadata: {name: x, labels: {own/name: a, own/namespace: n, app: web}}, data: {k: "1"}}`, nil,
		},
		"marks": {
			"how one unit treats an object is not how another one does",
			[]string{
				`{kind: ConfigMap, metadata: {name: x, annotations: {own/prune: disabled}}, data: {k: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x, annotations: {own/prune: enabled, own/ssa: Merge}}, data: {k: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x, annotations: {own/force: enabled, note: y}}}`,
			},
			`{kind: ConfigMap, metadata: {name: x, annotations: {own/prune: disabled, note: y}}, data: {k: "1"}}`, nil,
		},
		"a field of one": {
			"a field that only one declares is that one's, on either side and below others",
			[]string{
				`{kind: ConfigMap, metadata: {name: x, labels: {own/name: a}}, data: {k: "1", a: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x, labels: {own/name: b, app: b}}, data: {k: "1", b: "1"}, immutable: false}`,
			},
			`{kind: ConfigMap, metadata: {name: x, labels: {own/name: a, app: b}}, data: {k: "1", a: "1", b: "1"}, immutable: false}`, nil,
		},
		"disputed": {
			"the first one's value stays, and the other fields of the second count",
			[]string{
				`{kind: ConfigMap, metadata: {name: x}, data: {k: "1", l: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x}, data: {k: "2", l: "2", b: "1"}}`,
			},
			`{kind: ConfigMap, metadata: {name: x}, data: {k: "1", l: "1", b: "1"}}`,
			map[string]map[string][]string{"u1": {"u0": {"data.k", "data.l"}}},
		},
		"several": {
			"a dispute names whose the field is",
			[]string{
				`{kind: ConfigMap, metadata: {name: x}, data: {a: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x}, data: {b: "1"}}`,
				`{kind: ConfigMap, metadata: {name: x}, data: {a: "2", b: "2", c: "2"}}`,
			},
			`{kind: ConfigMap, metadata: {name: x}, data: {a: "1", b: "1", c: "2"}}`,
			map[string]map[string][]string{"u2": {"u0": {"data.a"}, "u1": {"data.b"}}},
		},
		"lists": {
			"a list is somebody's as a whole",
			[]string{
				`{kind: Role, metadata: {name: x}, rules: [{verbs: [get]}], other: [1, 2]}`,
				`{kind: Role, metadata: {name: x}, rules: [{verbs: [get]}, {verbs: [list]}], other: [1, 2], more: [3]}`,
			},
			`{kind: Role, metadata: {name: x}, rules: [{verbs: [get]}], other: [1, 2], more: [3]}`,
			map[string]map[string][]string{"u1": {"u0": {"rules"}}},
		},
		"other shapes": {
			"a map and a value are different; what is null is not declared",
			[]string{
				`{kind: X, metadata: {name: x, creationTimestamp: null}, a: {b: 1}, c: 2, d: null}`,
				`{kind: X, metadata: {name: x, creationTimestamp: null}, a: 1, c: {d: 2}, d: 4}`,
			},
			`{kind: X, metadata: {name: x, creationTimestamp: null}, a: {b: 1}, c: 2, d: 4}`,
			map[string]map[string][]string{"u1": {"u0": {"a", "c"}}},
		},
		"versions": {
			"another version of the API is another content",
			[]string{`{apiVersion: x/v1, kind: X, metadata: {name: x}}`, `{apiVersion: x/v2, kind: X, metadata: {name: x}}`},
			`{apiVersion: x/v1, kind: X, metadata: {name: x}}`,
			map[string]map[string][]string{"u1": {"u0": {"apiVersion"}}},
		},
		"secrets": {
			"a value in clear is the same as its encoding",
			[]string{
				`{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {k: YQ==, l: YQ==}}`,
				`{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {k: a, l: b}}`,
			},
			`{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {k: YQ==, l: YQ==}}`,
			map[string]map[string][]string{"u1": {"u0": {"data.l"}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var declared []Declaration
			for i, text := range c.declared {
				declared = append(declared, Declaration{Unit: UnitID{Name: "u" + string(rune('0'+i))}, Object: parsed(t, text)})
			}
			whole, found := Share(declared, "own/", "", "owner")
			disputes := map[string]map[string][]string{}
			for unit, all := range found {
				disputes[unit.Name] = map[string][]string{}
				for _, d := range all {
					disputes[unit.Name][d.Owner.Name] = d.Fields
				}
			}
			if c.disputes == nil {
				c.disputes = map[string]map[string][]string{}
			}
			if diff := cmp.Diff(parsed(t, c.whole).Object, whole.Object); diff != "" {
				t.Errorf("%s: object: %s", c.reason, diff)
			}
			if diff := cmp.Diff(c.disputes, disputes); diff != "" {
				t.Errorf("%s: disputes: %s", c.reason, diff)
			}
			for i, text := range c.declared {
				if diff := cmp.Diff(parsed(t, text).Object, declared[i].Object.Object); diff != "" {
					t.Errorf("a declaration was changed: %s", diff)
				}
			}
		})
	}
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}
