package chart_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/headgate-dev/headgate/chart"
)

// patched is an object after a patch, or an error.
func patched(object map[string]any, patch chart.Patch) (map[string]any, error) {
	app := chart.NewApp(chart.Settings{})
	chart.Add(chart.New(app, "c", chart.Props{}), "o", object).Patch(patch)
	result, err := app.Synth()
	if err != nil {
		return nil, err
	}
	return result.Manifests()[0].Object, nil
}

// asJSON is a value as JSON has it.
func asJSON(t *testing.T, value any) (data []byte, read map[string]any) {
	t.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, read
}

// TestJSONPatchAsReference applies random operations as another implementation of RFC 6902 does.
func TestJSONPatchAsReference(t *testing.T) {
	applied, refused := 0, 0
	for seed := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a seed is wanted
		paths := []string{"/spec", "/spec/a", "/spec/list", "/spec/list/0", "/spec/list/1", "/spec/list/3", "/spec/list/-", "/spec/map/x", "/spec/map/new", "/spec/list/1/deep", "/spec/none/x", "/metadata/labels", "/spec/sl~1ash"}
		path := func() string { return paths[chance.IntN(len(paths))] }
		values := []any{1, "text", true, []any{"x"}, map[string]any{"k": "v"}, map[string]any{"deep": 1}}
		value := func() any { return values[chance.IntN(len(values))] }
		object := func() map[string]any {
			return map[string]any{
				"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x"},
				"spec": map[string]any{"a": 1, "list": []any{"zero", map[string]any{"deep": 1}, "two"}, "map": map[string]any{"x": "y"}, "sl/ash": "z"},
			}
		}
		var patch chart.JSONPatch
		var reference []map[string]any
		for range 1 + chance.IntN(3) {
			switch one := (chart.Operation{Op: []string{"add", "remove", "replace", "move", "copy", "test"}[chance.IntN(6)], Path: path()}); one.Op {
			case "remove":
				patch, reference = append(patch, one), append(reference, map[string]any{"op": one.Op, "path": one.Path})
			case "move", "copy":
				one.From = path()
				patch, reference = append(patch, one), append(reference, map[string]any{"op": one.Op, "path": one.Path, "from": one.From})
			default:
				one.Value = value()
				patch, reference = append(patch, one), append(reference, map[string]any{"op": one.Op, "path": one.Path, "value": one.Value})
			}
		}
		got, err := patched(object(), patch)
		before, _ := asJSON(t, object())
		data, err2 := json.Marshal(reference)
		if err2 != nil {
			t.Fatal(err2)
		}
		decoded, err2 := jsonpatch.DecodePatch(data)
		if err2 != nil {
			t.Fatal(err2)
		}
		after, err2 := decoded.Apply(before)
		if lenient(patch) || (err != nil && strings.HasSuffix(err.Error(), "it does not exist")) {
			continue // the reference lets these pass in places
		}
		if (err == nil) != (err2 == nil) {
			t.Errorf("seed %d: %s: the error is %v, that of the reference %v", seed, data, err, err2)
			continue
		}
		if err != nil {
			refused++
			continue
		}
		applied++
		var want map[string]any
		if err := json.Unmarshal(after, &want); err != nil {
			t.Fatal(err)
		}
		if _, read := asJSON(t, got); !cmp.Equal(want, read) {
			t.Errorf("seed %d: %s (-reference +ours):\n%s", seed, data, cmp.Diff(want, read))
		}
	}
	if applied < 300 || refused < 100 {
		t.Errorf("only %d patches were applied and %d refused", applied, refused)
	}
}

// lenient reports whether the reference accepts what RFC 6902 does not: "-" but for add, and moves of a place into itself.
func lenient(patch chart.JSONPatch) bool {
	for _, one := range patch {
		if one.Path == "/spec/list/-" && one.Op != "add" && one.Op != "move" && one.Op != "copy" || one.From == "/spec/list/-" {
			return true
		}
		if one.Op == "move" && (len(one.Path) >= len(one.From) && one.Path[:len(one.From)] == one.From) {
			return true
		}
	}
	return false
}

// TestStrategicMergeAsReference merges as Kubernetes does.
func TestStrategicMergeAsReference(t *testing.T) {
	type m = map[string]any
	pod := func(spec m) m { return m{"spec": m{"template": m{"spec": spec}}} }
	for name, patch := range map[string]m{
		"Image":      pod(m{"containers": []any{m{"name": "web", "image": "web:2"}}}),
		"Added":      pod(m{"containers": []any{m{"name": "new", "image": "new:1"}}, "volumes": []any{m{"name": "tmp", "emptyDir": m{}}}}),
		"Deleted":    pod(m{"containers": []any{m{"name": "side", "$patch": "delete"}}}),
		"DeletedOne": pod(m{"containers": []any{m{"name": "side", "$patch": "delete"}, m{"name": "web", "args": nil}}}),
		"Replaced":   pod(m{"containers": []any{m{"name": "only", "image": "o"}, m{"$patch": "replace"}}}),
		"Map":        pod(m{"$patch": "replace", "containers": []any{m{"name": "only", "image": "o"}}}),
		"Env":        pod(m{"containers": []any{m{"name": "web", "env": []any{m{"name": "A", "$patch": "delete"}, m{"name": "C", "value": "3"}}, "ports": []any{m{"containerPort": 80, "name": "http"}}}}}),
		"Finalizers": {"metadata": m{"finalizers": []any{"a", "b"}, "labels": m{"x": "y"}}},
		"Primitives": {"metadata": m{"$deleteFromPrimitiveList/finalizers": []any{"a"}}},
		"Retain":     {"spec": m{"strategy": m{"$retainKeys": []any{"type"}, "type": "Recreate"}}},
		"Null":       {"spec": m{"selector": nil, "template": m{"spec": m{"containers": nil}}}},
		"Args":       pod(m{"containers": []any{m{"name": "web", "args": []any{"y", "z"}}}}),
	} {
		t.Run(name, func(t *testing.T) {
			base := deployment()
			base.Spec.Strategy = appsv1.DeploymentStrategy{Type: "RollingUpdate", RollingUpdate: &appsv1.RollingUpdateDeployment{}}
			got, err := patched(toMap(t, base), chart.Merge{With: patch})
			if err != nil {
				t.Fatal(err)
			}
			before, _ := asJSON(t, toMap(t, base))
			change, _ := asJSON(t, patch)
			after, err := strategicpatch.StrategicMergePatch(before, change, appsv1.Deployment{})
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := json.Unmarshal(after, &want); err != nil {
				t.Fatal(err)
			}
			_, read := asJSON(t, got)
			// Kubernetes puts elements that are new before those that are there; here they come last.
			order := cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
			if diff := cmp.Diff(want, read, order); diff != "" {
				t.Errorf("(-Kubernetes +ours):\n%s", diff)
			}
		})
	}
}

// toMap is a Deployment as it is synthesized.
func toMap(t *testing.T, d *appsv1.Deployment) map[string]any {
	t.Helper()
	app := chart.NewApp(chart.Settings{})
	chart.Add(chart.New(app, "c", chart.Props{}), "o", d)
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	return result.Manifests()[0].Object
}

// TestConversionAsReference compares what is written with what encoding/json writes, but for what says nothing.
func TestConversionAsReference(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	c := application(app, "web")
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	for i, child := range c.Node().Children() {
		o, ok := child.(*chart.Object)
		if !ok {
			t.Fatalf("%T is no object", child)
		}
		_, want := asJSON(t, o.Value())
		_, got := asJSON(t, result.Manifests()[i].Object)
		for _, m := range []map[string]any{want, got} {
			delete(m, "apiVersion")
			delete(m, "kind")
			delete(m, "metadata")
		}
		prune(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-encoding/json +ours):\n%s", o.Node().Path(), diff)
		}
	}
}

// prune drops nulls and empty mappings, which the objects of the test have only where they say nothing.
func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			prune(one)
			if below, ok := one.(map[string]any); one == nil || ok && len(below) == 0 {
				delete(v, key)
			}
		}
	case []any:
		for _, one := range v {
			prune(one)
		}
	}
}
