package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/schema"
)

// stricter are the mistakes that the SDK reports, and that the code of the server accepts here: it gives a LimitRange a name, which an
// apply cannot do without, and server-side apply does not look into types without fields, as other writes do.
var stricter = regexp.MustCompile(`^LimitRange \[metadata name\]|^CustomResourceDefinition .* subresources status\]`)

// structural are the refusals that follow from schemas alone.
var structural = regexp.MustCompile(`not declared in schema|: expected (string|numeric|map|list|boolean)|duplicate entries for key|cannot unmarshal`)

// TestOffline compares the verdicts of the SDK, which has no code of Kubernetes, with those of the API server: of objects as they should
// be, and of the thousands of objects that have one mistake each. What the SDK refuses the server refuses, and what the server refuses
// for the structure of an object the SDK does as well. The server has more rules, of which the SDK has the most common ones.
func TestOffline(t *testing.T) {
	server, check, all := kinds(t)
	compared, refused, missed := 0, 0, 0
	for _, o := range all {
		if found := mistakes(check, o.Object); found != "" {
			t.Errorf("the SDK refuses %s: %s", o.GetKind(), found)
		}
		if err := server.Check(t.Context(), o, Options{}); err != nil {
			t.Errorf("the server refuses %s: %v", o.GetKind(), err)
		}
		for _, m := range mutations(o.Object) {
			name := o.GetKind() + " " + m.name
			found := mistakes(check, m.object)
			err := server.Check(t.Context(), &unstructured.Unstructured{Object: m.object}, Options{})
			compared++
			switch {
			case found != "" && err != nil:
				refused++
			case found != "" && !stricter.MatchString(name):
				t.Errorf("%s: only the SDK refuses it: %s", name, found)
			case found == "" && err != nil && structural.MatchString(err.Error()):
				t.Errorf("%s: only the server refuses it: %v", name, err)
			case found == "" && err != nil:
				missed++
			}
		}
	}
	t.Logf("%d mutations: both refuse %d, the server alone %d", compared, refused, missed)
	if compared < 10_000 || refused < 5_000 || missed > refused/5 {
		t.Errorf("of %d mutations both refuse %d, and the server alone %d", compared, refused, missed)
	}
}

// kinds are objects of many kinds as they should be, with what judges them.
func kinds(t *testing.T) (*Server, schema.Check, []*unstructured.Unstructured) {
	t.Helper()
	data, err := os.ReadFile("testdata/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server, err := New()
	if err != nil {
		t.Fatal(err)
	}
	check := schema.Kubernetes("1.36")
	var all []*unstructured.Unstructured
	for _, text := range strings.Split(string(data), "\n---\n") {
		o := object(t, text)
		all = append(all, o)
		if o.GetKind() == "CustomResourceDefinition" {
			check.Definitions = append(check.Definitions, o.Object)
			if err := server.Define(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return server, check, all
}

// mistakes are the errors of one object.
func mistakes(check schema.Check, o map[string]any) string {
	var found []string
	for _, f := range check.Validate([]map[string]any{o}) {
		if f.Severity == chart.SeverityError {
			found = append(found, f.Rule+" "+f.Field+": "+f.Message)
		}
	}
	return strings.Join(found, "; ")
}

// mutation is an object with a change, and the change.
type mutation struct {
	name   string
	object map[string]any
}

// mutations are an object with another value for each of its fields and items, with unknown fields, without fields, and with the first
// item of a list twice. Which kind it is of, and the namespace, are not changed: the server here wants one, and the SDK leaves it to the chart.
func mutations(o map[string]any) []mutation {
	var all []mutation
	for _, path := range paths(nil, o) {
		name := strings.Trim(fmt.Sprint(path), "[]")
		if name == "" || name == "apiVersion" || name == "kind" || name == "metadata" || name == "metadata namespace" {
			continue
		}
		for _, text := range []string{`7`, `-1`, `1.5`, `5000000000`, `"x y"`, `"5"`, `""`, `true`, `[]`, `{}`, `null`, `[null]`, `{"unknownField": 1}`} {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				panic(err)
			}
			all = append(all, mutation{"[" + name + "] = " + text, changed(o, path, func(any) any { return v })})
		}
		all = append(all, mutation{"[" + name + "] unknown", changed(o, path, unknown)}, mutation{"[" + name + "] twice", changed(o, path, twice)})
		if _, field := path[len(path)-1].(string); field {
			all = append(all, mutation{"[" + name + "] deleted", without(o, path)})
		}
	}
	return all
}

func unknown(v any) any {
	if fields, ok := v.(map[string]any); ok {
		fields["unknownField"] = int64(1)
	}
	return v
}

func twice(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return append(list, runtime.DeepCopyJSONValue(list[0]))
	}
	return v
}

// paths lead to all values in a value.
func paths(prefix []any, v any) [][]any {
	all := [][]any{append([]any(nil), prefix...)}
	below := func(key, v any) { all = append(all, paths(append(append([]any(nil), prefix...), key), v)...) }
	switch value := v.(type) {
	case map[string]any:
		for key, v := range value {
			below(key, v)
		}
	case []any:
		for i, v := range value {
			below(i, v)
		}
	}
	return all
}

// changed is a copy of an object with a change at the end of a path.
func changed(o map[string]any, path []any, change func(any) any) map[string]any {
	copied := runtime.DeepCopyJSON(o)
	switch last, key := parent(copied, path), path[len(path)-1]; value := last.(type) {
	case map[string]any:
		value[key.(string)] = change(value[key.(string)])
	case []any:
		value[key.(int)] = change(value[key.(int)])
	}
	return copied
}

func without(o map[string]any, path []any) map[string]any {
	copied := runtime.DeepCopyJSON(o)
	delete(parent(copied, path).(map[string]any), path[len(path)-1].(string))
	return copied
}

func parent(o any, path []any) any {
	for _, key := range path[:len(path)-1] {
		switch value := o.(type) {
		case map[string]any:
			o = value[key.(string)]
		case []any:
			o = value[key.(int)]
		}
	}
	return o
}
