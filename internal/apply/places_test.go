package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	return readYAML(t, "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"+text)
}

func applied(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func pointers(t *testing.T, texts ...string) []engine.Pointer {
	t.Helper()
	var list []engine.Pointer
	for _, text := range texts {
		p, err := engine.ParsePointer(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// placed is a live object with lists and maps of each sort, and who owns them.
func placed(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	u := parsed(t, `
spec:
  replicas: 3
  containers:
  - {name: a, image: live-a, args: [one, two]}
  - {name: b, image: live-b}
  ports: [{port: 80, protocol: TCP, nodePort: 30000}]
  finalizers: [x, w]
  rules: [{path: /a, weight: 1}]
  selector: {app: live}
  template: {}
`)
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		applied("one", `{"f:spec":{"f:replicas":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:image":{},"f:args":{}}},"f:rules":{},"f:selector":{},"f:template":{}}}`),
		applied("two", `{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:protocol":{},"f:nodePort":{}}},"f:finalizers":{"v:\"x\"":{},"v:\"w\"":{}}}}`),
	})
	return u
}

func TestPlaces(t *testing.T) {
	cases := map[string]struct {
		reason, pointer, path string
		atomic                int
		found, none           bool
	}{
		"field":           {"a field of maps", "/spec/replicas", ".spec.replicas", 0, true, false},
		"missing":         {"a field that the live object does not have is left out all the same", "/spec/paused", ".spec.paused", 0, false, false},
		"missing below":   {"and so is one below it", "/spec/x/y", ".spec.x.y", 0, false, false},
		"keyed":           {"an element is known by its key", "/spec/containers/1/image", `.spec.containers[name="b"].image`, 0, true, false},
		"keyed whole":     {"an element as a whole", "/spec/containers/0", `.spec.containers[name="a"]`, 0, true, false},
		"two keys":        {"an element with two keys", "/spec/ports/0/nodePort", `.spec.ports[port=80,protocol="TCP"].nodePort`, 0, true, false},
		"key":             {"the key itself cannot be left out", "/spec/containers/0/name", `.spec.containers[name="a"].name`, 3, true, false},
		"set":             {"an element of a set is its value", "/spec/finalizers/1", `.spec.finalizers[="w"]`, 0, true, false},
		"atomic":          {"a list with one owner keeps its indexes", "/spec/rules/0/weight", ".spec.rules[0].weight", 2, true, false},
		"atomic absent":   {"a field that an element does not have", "/spec/rules/0/host", ".spec.rules[0].host", 2, false, false},
		"atomic itself":   {"the list itself can be left out", "/spec/rules", ".spec.rules", 0, true, false},
		"scalars":         {"a list of scalars inside of a keyed one", "/spec/containers/0/args/1", `.spec.containers[name="a"].args[1]`, 4, true, false},
		"atomic map":      {"a map with one owner", "/spec/selector/app", ".spec.selector.app", 2, true, false},
		"empty map":       {"an empty map says nothing about what may come into it", "/spec/template/x", ".spec.template.x", 0, false, false},
		"beyond":          {"an index beyond the end names nothing", "/spec/rules/7/weight", "", 0, false, true},
		"no index":        {"a list has no names", "/spec/rules/x", "", 0, false, true},
		"below a scalar":  {"a number has no fields", "/spec/replicas/x", "", 0, false, true},
		"negative number": {"nor has a list negative indexes", "/spec/rules/-1", "", 0, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			list, err := places(placed(t), pointers(t, c.pointer))
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 || c.none {
				if !c.none || len(list) != 0 {
					t.Errorf("%s: got %v", c.reason, list)
				}
				return
			}
			if p := list[0]; p.path.String() != c.path || p.atomic != c.atomic || p.found != c.found {
				t.Errorf("%s: got %s, %d, found %v; want %s, %d, found %v", c.reason, p.path, p.atomic, p.found, c.path, c.atomic, c.found)
			}
		})
	}
	broken := placed(t)
	broken.SetManagedFields([]metav1.ManagedFieldsEntry{applied("one", `{"f":{}}`)})
	if _, err := places(broken, pointers(t, "/spec/replicas")); err == nil {
		t.Error("managed fields that cannot be read are no error")
	}
}

func TestLeaving(t *testing.T) {
	const keyed = "spec: {containers: [{name: b, image: git}, {name: a, image: git}]}"
	cases := map[string]struct {
		reason, desired string
		pointers        []string
		without         string
		copied          bool
		keeping         string
	}{
		"field":      {"a field", "spec: {replicas: 1, paused: true}", []string{"/spec/replicas"}, "spec: {paused: true}", false, "spec: {replicas: 3, paused: true}"},
		"parents":    {"what becomes empty goes", "spec: {replicas: 1}", []string{"/spec/replicas"}, "", false, "spec: {replicas: 3}"},
		"empty":      {"what was empty stays", "spec: {replicas: 1, emptyDir: {}}", []string{"/spec/replicas"}, "spec: {emptyDir: {}}", false, "spec: {replicas: 3, emptyDir: {}}"},
		"absent":     {"the live object does not have it", "spec: {paused: true, x: 1}", []string{"/spec/paused"}, "spec: {x: 1}", false, "spec: {x: 1}"},
		"undeclared": {"what is not declared is added to what is tried alone", "spec: {x: 1}", []string{"/spec/replicas"}, "spec: {x: 1}", false, "spec: {replicas: 3, x: 1}"},
		"keyed": {
			"elements are found by their keys", keyed,
			[]string{"/spec/containers/0/image"},
			"spec: {containers: [{name: b, image: git}, {name: a}]}", false, "spec: {containers: [{name: b, image: git}, {name: a, image: live-a}]}",
		},
		"keyed missing": {
			"an element that is not declared is not made", "spec: {containers: [{name: c}]}",
			[]string{"/spec/containers/0/image"},
			"spec: {containers: [{name: c}]}", false, "spec: {containers: [{name: c}]}",
		},
		"element": {
			"an element", keyed,
			[]string{"/spec/containers/1"},
			"spec: {containers: [{name: a, image: git}]}", false, "spec: {containers: [{name: b, image: live-b}, {name: a, image: git}]}",
		},
		"last element": {
			"the last element takes the list with it", "spec: {x: 1, containers: [{name: a}]}",
			[]string{"/spec/containers/0"},
			"spec: {x: 1}", false, "spec: {x: 1, containers: [{name: a, image: live-a, args: [one, two]}]}",
		},
		"default key": {
			"a key that is left to its default", "spec: {ports: [{port: 80, nodePort: 1}]}",
			[]string{"/spec/ports/0/nodePort"},
			"spec: {ports: [{port: 80}]}", false, "spec: {ports: [{port: 80, nodePort: 30000}]}",
		},
		"ambiguous": {
			"unless two elements fit", "spec: {ports: [{port: 80, nodePort: 1}, {port: 80, nodePort: 2}]}",
			[]string{"/spec/ports/0/nodePort"},
			"spec: {ports: [{port: 80, nodePort: 1}, {port: 80, nodePort: 2}]}", false, "spec: {ports: [{port: 80, nodePort: 1}, {port: 80, nodePort: 2}]}",
		},
		"set": {"an element of a set", "spec: {finalizers: [w, z]}", []string{"/spec/finalizers/1"}, "spec: {finalizers: [z]}", false, "spec: {finalizers: [w, z]}"},
		"atomic": {
			"live values in a list with one owner", "spec: {rules: [{path: /b, weight: 9}, {path: /c}]}",
			[]string{"/spec/rules/0/weight"},
			"spec: {rules: [{path: /b, weight: 1}, {path: /c}]}", true, "spec: {rules: [{path: /b, weight: 1}, {path: /c}]}",
		},
		"atomic absent": {
			"what the live element does not have", "spec: {rules: [{host: h, path: /b}]}",
			[]string{"/spec/rules/0/host"},
			"spec: {rules: [{path: /b}]}", true, "spec: {rules: [{path: /b}]}",
		},
		"atomic emptied": {
			"elements keep their places", "spec: {rules: [{host: h}, {path: /b}]}",
			[]string{"/spec/rules/0/host"},
			"spec: {rules: [{}, {path: /b}]}", true, "spec: {rules: [{}, {path: /b}]}",
		},
		"atomic undeclared": {"a list that is not declared is not made", "spec: {x: 1}", []string{"/spec/rules/0/weight"}, "spec: {x: 1}", false, "spec: {x: 1}"},
		"atomic map":        {"a map with one owner", "spec: {selector: {app: git}}", []string{"/spec/selector/app"}, "spec: {selector: {app: live}}", true, "spec: {selector: {app: live}}"},
		"other type":        {"a declaration of another type is left to the server", "spec: {containers: 3}", []string{"/spec/containers/0/image"}, "spec: {containers: 3}", false, "spec: {containers: 3}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			list, err := places(placed(t), pointers(t, c.pointers...))
			if err != nil {
				t.Fatal(err)
			}
			desired := parsed(t, c.desired)
			before := desired.DeepCopy()
			out, copied := without(desired, list)
			if diff := cmp.Diff(parsed(t, c.without).Object, out.Object); diff != "" || copied != c.copied {
				t.Errorf("%s: copied %v, without (-want +got):\n%s", c.reason, copied, diff)
			}
			if diff := cmp.Diff(parsed(t, c.keeping).Object, keeping(desired, list).Object); diff != "" {
				t.Errorf("%s: keeping (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(before.Object, desired.Object); diff != "" {
				t.Errorf("%s: the declaration was changed (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
