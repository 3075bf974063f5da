package chart_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
)

// prefix is a resolver that puts a prefix before the name of every object.
type prefix string

func (p prefix) Resolve(_ *chart.Object, path []string, value any) (any, bool, error) {
	name, ok := value.(string)
	return string(p) + name, ok && strings.Join(path, ".") == "metadata.name", nil
}

// ExampleResolver puts a prefix before the name of every object.
func ExampleResolver() {
	app := chart.NewApp(chart.Settings{Resolvers: []chart.Resolver{prefix("dev-")}})
	chart.Add(chart.New(app, "web", chart.Props{}), "config", &corev1.ConfigMap{})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Manifests()[0].Name())
	// Output: dev-web-config
}

// replace is a resolver that replaces strings.
type replace map[string]any

func (r replace) Resolve(_ *chart.Object, _ []string, value any) (any, bool, error) {
	text, ok := value.(string)
	if !ok {
		return nil, false, nil
	}
	answer, ok := r[text]
	if err, failed := answer.(error); failed {
		return nil, false, err
	}
	return answer, ok, nil
}

// endless answers every list with a longer one around it.
type endless struct{}

func (endless) Resolve(_ *chart.Object, path []string, value any) (any, bool, error) {
	return []any{value}, len(path) > 0 && path[0] == "data", nil
}

func TestResolvers(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		resolvers []chart.Resolver
		data      any
		want      string
		err       string
	}{
		"First":   {"the first that answers wins, the others are asked for its answer", []chart.Resolver{replace{"a": "b"}, replace{"a": "never", "b": "c"}}, "a", "data: c\n", ""},
		"Itself":  {"no resolver is asked for its own answer", []chart.Resolver{prefix("x-"), replace{"a": "a"}}, "a", "data: a\n", ""},
		"Inside":  {"what is in an answer is resolved as well", []chart.Resolver{replace{"list": []string{"one", "x"}, "one": map[string]int{"n": 1}}}, []any{"list", "end"}, "data:\n  - - \"n\": 1\n    - x\n  - end\n", ""},
		"Typed":   {"an answer may be of a Go type, or computed late", []chart.Resolver{replace{"ref": &corev1.LocalObjectReference{Name: "x"}, "late": chart.Lazy(func() any { return 7 })}}, map[string]string{"a": "ref", "b": "late"}, "data:\n  a:\n    name: x\n  b: 7\n", ""},
		"Null":    {"an answer of nothing drops the field", []chart.Resolver{replace{"gone": nil}}, map[string]string{"a": "gone", "b": "stays"}, "data:\n  b: stays\n", ""},
		"Error":   {"an error says which field", []chart.Resolver{replace{"a": errors.New("no secret of this name")}}, map[string]any{"x": []string{"a"}}, "", "c/o: data.x.0: no secret of this name"},
		"Value":   {"an answer that cannot be written", []chart.Resolver{replace{"a": func() {}}}, "a", "", "data: a func() is not a value"},
		"Object":  {"an answer instead of the object", []chart.Resolver{whole{}}, "a", "", "a resolver replaced the object by a string"},
		"Endless": {"one that never ends", []chart.Resolver{endless{}}, "a", "", "nest too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{Resolvers: tc.resolvers})
			chart.Add(chart.New(app, "c", chart.Props{}), "o", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": tc.data})
			result, err := app.Synth()
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(string(result.YAML()), "c-o\n")
			if name == "Itself" {
				got = strings.TrimPrefix(got, "x-")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// whole replaces the object.
type whole struct{}

func (whole) Resolve(_ *chart.Object, path []string, _ any) (any, bool, error) {
	return "x", len(path) == 0, nil
}

func TestLabels(t *testing.T) {
	app := chart.NewApp(chart.Settings{Labels: map[string]string{"a": "app", "b": "app", "c": "app", "d": "app"}})
	outer := chart.New(app, "outer", chart.Props{Namespace: "ns", Labels: map[string]string{"b": "outer", "c": "outer"}})
	inner := chart.New(outer, "inner", chart.Props{Labels: map[string]string{"c": "inner"}})
	given := &corev1.ConfigMap{}
	given.Labels = map[string]string{"d": "own", "e": "own"}
	o := chart.Add(inner, "o", given).Label("e", "set").Annotate("x", "y")
	want := map[string]any{"a": "app", "b": "outer", "c": "inner", "d": "own", "e": "set"}
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	metadata, _ := result.Manifests()[0].Object["metadata"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"name": "outer-inner-o", "namespace": "ns", "labels": want, "annotations": map[string]any{"x": "y"}}, metadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for key, value := range o.Labels() {
		if value != want[key] {
			t.Errorf("the object says that %s is %s, written is %v", key, value, want[key])
		}
	}
	if len(given.Labels) != 2 || given.Annotations != nil || given.Namespace != "" {
		t.Errorf("the object that was given has changed: %+v", given)
	}
}

// TestLive changes a value after it was added.
func TestLive(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	given := &corev1.ConfigMap{}
	o := chart.Add(chart.New(app, "c", chart.Props{}), "o", given)
	if o.Name() != "c-o" {
		t.Errorf("its name is %q", o.Name())
	}
	given.Name, given.Namespace, given.Data = "mine", "here", map[string]string{"k": "v"}
	if o.Name() != "mine" || o.Namespace() != "here" {
		t.Errorf("it is %s/%s after the change", o.Namespace(), o.Name())
	}
	if _, err := app.Synth(); err != nil {
		t.Fatal(err)
	}
	given.Data["k"] = "w"
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := result.Manifests()[0].Object["data"].(map[string]any); data["k"] != "w" {
		t.Errorf("the second synth wrote %v", data)
	}
}

// TestClusterScoped has kinds that only the settings and a definition know.
func TestClusterScoped(t *testing.T) {
	app := chart.NewApp(chart.Settings{ClusterScoped: []string{"Tenant.example.com"}})
	c := chart.New(app, "c", chart.Props{Namespace: "ns"})
	for _, kind := range []string{"Tenant", "Realm", "Thing"} {
		chart.Add(c, kind, map[string]any{"apiVersion": "example.com/v1", "kind": kind})
	}
	chart.Add(c, "crd", map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": map[string]any{"group": "example.com", "scope": "Cluster", "names": map[string]any{"kind": "Realm"}}})
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range result.Manifests() {
		got[m.Kind()] = m.Namespace()
	}
	if diff := cmp.Diff(map[string]string{"Tenant": "", "Realm": "", "Thing": "ns", "CustomResourceDefinition": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSameBytes describes the same App again and again; Go orders maps otherwise each time.
func TestSameBytes(t *testing.T) {
	describe := func(reversed bool) []byte {
		app := chart.NewApp(chart.Settings{Resolvers: []chart.Resolver{prefix("x-")}, Labels: map[string]string{"a": "1", "b": "2", "c": "3"}})
		for i := range 5 {
			c := application(app, fmt.Sprint("app-", i))
			data := map[string]any{}
			for j := range 40 {
				if reversed {
					j = 39 - j
				}
				data[fmt.Sprint("key", j*7%40)] = map[string]any{"x": j, fmt.Sprint(j): nil, "list": []any{j, map[string]int{"b": j, "a": j}}}
			}
			chart.Add(c, "map", map[string]any{"kind": "Thing", "apiVersion": "example.com/v1", "data": data}).Patch(chart.Merge{With: map[string]any{"z": 1, "y": 2, "metadata": map[string]any{"labels": map[string]any{"q": "1", "p": "2"}}}})
		}
		result, err := app.Synth()
		if err != nil {
			t.Fatal(err)
		}
		files, err := result.Files(chart.Layout{Split: chart.FolderPerChart, Metadata: true})
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for _, f := range files {
			all = append(append(all, f.Path...), f.Data...)
		}
		return all
	}
	want := describe(false)
	for i := range 20 {
		if diff := cmp.Diff(string(want), string(describe(i%2 == 0))); diff != "" {
			t.Fatalf("run %d (-first +other):\n%s", i, diff)
		}
	}
}
