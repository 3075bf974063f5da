package chart_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
)

// ExampleObject_Patch changes what a Go type does not have, after everything else.
func ExampleObject_Patch() {
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "web", chart.Props{})
	chart.Add(c, "server", &corev1.ConfigMap{}).Patch(
		chart.JSONPatch{{Op: "add", Path: "/metadata/annotations", Value: map[string]string{"example.com/a": "b"}}},
		chart.Merge{With: map[string]any{"newField": map[string]any{"enabled": true}}},
	)
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: web-server
	//   annotations:
	//     example.com/a: b
	// newField:
	//   enabled: true
}

func base() map[string]any {
	return map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x", "namespace": "n"},
		"list": []any{"a", "b"}, "map": map[string]any{"k": 1, "a/b~": true},
	}
}

const written = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\n  namespace: \"n\"\n"

func TestPatches(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		patches []chart.Patch
		want    string
		err     string
	}{
		"Order": {
			"keys that are added come last, in the order of operations",
			[]chart.Patch{chart.JSONPatch{{Op: "add", Path: "/metadata/labels", Value: map[string]string{"b": "1", "a": "2"}}, {Op: "add", Path: "/metadata/annotations", Value: map[string]any{}}, {Op: "add", Path: "/aa", Value: nil}}},
			"apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: x\n  namespace: \"n\"\n  labels:\n    a: \"2\"\n    b: \"1\"\n  annotations: {}\nlist:\n  - a\n  - b\nmap:\n  a/b~: true\n  k: 1\naa: null\n", "",
		},
		"Lists": {
			"elements are inserted, replaced, removed and appended",
			[]chart.Patch{chart.JSONPatch{{Op: "add", Path: "/list/0", Value: "first"}, {Op: "replace", Path: "/list/1", Value: 1}, {Op: "remove", Path: "/list/2"}, {Op: "add", Path: "/list/-", Value: "last"}, {Op: "remove", Path: "/map"}}},
			written + "list:\n  - first\n  - 1\n  - last\n", "",
		},
		"Moves": {
			"move, copy, test and escapes",
			[]chart.Patch{chart.JSONPatch{{Op: "test", Path: "/map/a~1b~0", Value: true}, {Op: "test", Path: "/map/k", Value: 1.0}, {Op: "move", From: "/map/k", Path: "/k"}, {Op: "copy", From: "/list", Path: "/map/list"}, {Op: "add", Path: "/map/list/0", Value: "z"}, {Op: "remove", Path: "/map/a~1b~0"}}},
			written + "list:\n  - a\n  - b\nmap:\n  list:\n    - z\n    - a\n    - b\nk: 1\n", "",
		},
		"Merge": {
			"a merge patch of RFC 7386: lists are replaced, nil removes",
			[]chart.Patch{chart.Merge{With: map[string]any{"list": []string{"c"}, "map": map[string]any{"k": nil, "new": map[string]any{"x": 1}}}}},
			written + "list:\n  - c\nmap:\n  a/b~: true\n  new:\n    x: 1\n", "",
		},
		"Test":      {"a test that fails", []chart.Patch{chart.JSONPatch{{Op: "test", Path: "/map/k", Value: 2}}}, "", `operation 0 of a JSON patch, test "/map/k": the value is another one`},
		"Absent":    {"a place that is not there", []chart.Patch{chart.JSONPatch{{Op: "add", Path: "/map/x/y", Value: 2}}}, "", `add "/map/x/y": /map/x: it does not exist`},
		"Replace":   {"nothing to replace", []chart.Patch{chart.JSONPatch{{Op: "replace", Path: "/spec", Value: 2}}}, "", "it does not exist"},
		"Remove":    {"nothing to remove", []chart.Patch{chart.JSONPatch{{Op: "remove", Path: "/spec"}}}, "", "it does not exist"},
		"Index":     {"an index that a list does not have", []chart.Patch{chart.JSONPatch{{Op: "remove", Path: "/list/2"}}}, "", "the list has 2 elements"},
		"NotIndex":  {"an index that is none", []chart.Patch{chart.JSONPatch{{Op: "add", Path: "/list/01"}}}, "", `"01" is not an index`},
		"Pointer":   {"a path without a slash", []chart.Patch{chart.JSONPatch{{Op: "remove", Path: "spec"}}}, "", `"spec" is not a JSON pointer`},
		"Operation": {"an operation that there is not", []chart.Patch{chart.JSONPatch{{Op: "set", Path: "/a"}}}, "", "use add, remove"},
		"Itself":    {"a move into itself", []chart.Patch{chart.JSONPatch{{Op: "move", From: "/map", Path: "/map/k"}}}, "", "into itself"},
		"Root":      {"an object that is no object any more", []chart.Patch{chart.JSONPatch{{Op: "replace", Path: "", Value: "x"}}}, "", "the object would be a string"},
		"Scalar":    {"a merge patch that is a string", []chart.Patch{chart.Merge{With: "x"}}, "", "a merge patch is a string"},
		"Kind":      {"a merge patch of another kind", []chart.Patch{chart.Merge{With: map[string]any{"kind": "Other"}}}, "", "a merge patch of a Other does not apply to a Thing"},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			given := base()
			chart.Add(chart.New(app, "c", chart.Props{}), "o", given).Patch(tc.patches...)
			result, err := app.Synth()
			if tc.err != "" {
				var placed *chart.Error
				if err == nil || !strings.Contains(err.Error(), tc.err) || !errors.As(err, &placed) || placed.Path != "c/o" {
					t.Fatalf("%s: the error is %v, want one of c/o with %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(result.YAML())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(base(), given); diff != "" {
				t.Errorf("the object that was given has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Finalizers: []string{"a"}}}
	d.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}, Ports: []corev1.ContainerPort{{ContainerPort: 80}}, Args: []string{"x"}},
		{Name: "side", Image: "side:1"},
	}
	return d
}

func TestStrategicMerge(t *testing.T) {
	type m = map[string]any
	pod := func(spec m) m { return m{"spec": m{"template": m{"spec": spec}}} }
	change := &appsv1.Deployment{}
	change.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: "web:2"}}
	for name, tc := range map[string]struct {
		reason string
		with   any
		want   string
		err    string
	}{
		"Typed":     {"a part of the Go type: what is not zero counts", change, "web[image web:2 env A=1,B=2 ports 80 args x] side[image side:1]", ""},
		"Names":     {"elements are merged by their names", pod(m{"containers": []any{m{"name": "web", "env": []any{m{"name": "B", "value": "3"}, m{"name": "C", "value": "4"}}, "args": []any{"y"}}}}), "web[image web:1 env A=1,B=3,C=4 ports 80 args y] side[image side:1]", ""},
		"Added":     {"new elements come last", pod(m{"containers": []any{m{"name": "new", "image": "new:1"}}}), "web[image web:1 env A=1,B=2 ports 80 args x] side[image side:1] new[image new:1]", ""},
		"Delete":    {"elements are deleted by their names", pod(m{"containers": []any{m{"name": "side", "$patch": "delete"}}}), "web[image web:1 env A=1,B=2 ports 80 args x]", ""},
		"Replace":   {"a list is replaced", pod(m{"containers": []any{m{"$patch": "replace"}, m{"name": "only", "image": "o"}}}), "only[image o]", ""},
		"Map":       {"a mapping is replaced", pod(m{"$patch": "replace", "containers": []any{m{"name": "only", "image": "o"}}}), "only[image o]", ""},
		"Ports":     {"ports of containers have a key of their own", pod(m{"containers": []any{m{"name": "web", "ports": []any{m{"containerPort": 81}}}}}), "web[image web:1 env A=1,B=2 ports 80,81 args x] side[image side:1]", ""},
		"Keyless":   {"an element without its name", pod(m{"containers": []any{m{"image": "x"}}}), "", `spec.template.spec.containers[0]: the field "name" is missing`},
		"Directive": {"a directive that there is not", m{"$patch": "drop"}, "", "$patch is drop"},
		"Elements":  {"an order of elements", pod(m{"$setElementOrder/containers": []any{}}), "", "unsupported"},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			given := deployment()
			chart.Add(chart.New(app, "c", chart.Props{}), "o", given).Patch(chart.Merge{With: tc.with})
			result, err := app.Synth()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: the error is %v, want one with %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, summary(t, result.Manifests()[0].Object)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !reflect.DeepEqual(given, deployment()) {
				t.Error("the object that was given has changed")
			}
		})
	}
}

// summary is the containers of a Deployment in a line.
func summary(t *testing.T, object map[string]any) string {
	t.Helper()
	spec := object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	var containers []string
	for _, one := range spec["containers"].([]any) {
		c := one.(map[string]any)
		said := []string{"image " + c["image"].(string)}
		for _, list := range [][3]string{{"env", "name", "value"}, {"ports", "containerPort"}} {
			var parts []string
			for _, element := range elements(c[list[0]]) {
				part := fmt.Sprint(element.(map[string]any)[list[1]])
				if list[2] != "" {
					part += "=" + fmt.Sprint(element.(map[string]any)[list[2]])
				}
				parts = append(parts, part)
			}
			if len(parts) > 0 {
				said = append(said, list[0]+" "+strings.Join(parts, ","))
			}
		}
		for _, arg := range elements(c["args"]) {
			said = append(said, "args "+arg.(string))
		}
		containers = append(containers, c["name"].(string)+"["+strings.Join(said, " ")+"]")
	}
	return strings.Join(containers, " ")
}

func elements(value any) []any {
	list, _ := value.([]any)
	return list
}

// TestMergeKeys compares the fields that are merged by a key with the tags of the types of Kubernetes.
func TestMergeKeys(t *testing.T) {
	var visit func(typ reflect.Type, seen map[reflect.Type]bool)
	keys := map[string]map[string]bool{}
	visit = func(typ reflect.Type, seen map[reflect.Type]bool) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key := field.Tag.Get("patchMergeKey"); key != "" {
				if keys[name] == nil {
					keys[name] = map[string]bool{}
				}
				keys[name][key] = true
			}
			visit(field.Type, seen)
		}
	}
	seen := map[reflect.Type]bool{}
	for _, object := range []any{corev1.Pod{}, corev1.Service{}, corev1.ServiceAccount{}, appsv1.Deployment{}, appsv1.StatefulSet{}} {
		visit(reflect.TypeOf(object), seen)
	}
	if len(keys) < 15 {
		t.Fatalf("only %d fields have a merge key", len(keys))
	}
	for field, want := range keys {
		switch got := chart.MergeKeys[field]; {
		case field == "ports" && len(want) == 2:
		case slices.Contains([]string{"resourceClaimStatuses", "allocatedResourcesStatus", "hostIPs", "podIPs"}, field):
			// Only the cluster writes statuses.
		case len(want) != 1 || !want[got]:
			t.Errorf("%s is merged by %q, the types say %v", field, got, want)
		}
	}
}
