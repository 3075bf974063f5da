package text

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func items(texts ...string) []v1alpha1.Item {
	var all []v1alpha1.Item
	for _, text := range texts {
		all = append(all, v1alpha1.Item{Raw: json.RawMessage(text)})
	}
	return all
}

func number32(n int32) *intstr.IntOrString {
	value := intstr.FromInt32(n)
	return &value
}

func TestItems(t *testing.T) {
	word := intstr.FromString("two")
	for name, tc := range map[string]struct {
		reason  string
		loop    v1alpha1.Loop
		want    []string
		refused string
	}{
		"Items":      {"items as they are", v1alpha1.Loop{WithItems: items(`"a"`, `1`)}, []string{"x(0:a)", "x(1:1)"}, ""},
		"Maps":       {"maps in the order of their keys", v1alpha1.Loop{WithItems: items(`{"os":"linux","arch":"arm"}`)}, []string{"x(0:arch:arm,os:linux)"}, ""},
		"Param":      {"a list in JSON", v1alpha1.Loop{WithParam: `["a", true, [1, 2]]`}, []string{"x(0:a)", "x(1:true)", "x(2:[1,2])"}, ""},
		"Brackets":   {"a name has no brackets of its own", v1alpha1.Loop{WithParam: `["f(1)"]`}, []string{"x(0:f1)"}, ""},
		"Big":        {"a big number is written as it was", v1alpha1.Loop{WithParam: `[12345678901234567890]`}, []string{"x(0:12345678901234567890)"}, ""},
		"Empty":      {"no items", v1alpha1.Loop{WithParam: `[]`}, nil, ""},
		"Count":      {"a number of numbers", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Count: number32(3)}}, []string{"x(0:0)", "x(1:1)", "x(2:2)"}, ""},
		"End":        {"up to an end, with a format", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Start: number32(9), End: number32(10), Format: "host%02d"}}, []string{"x(0:host09)", "x(1:host10)"}, ""},
		"Down":       {"downwards", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Start: number32(2), End: number32(0)}}, []string{"x(0:2)", "x(1:1)", "x(2:0)"}, ""},
		"None":       {"a count of nothing", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Count: number32(0)}}, nil, ""},
		"NoList":     {"a parameter that is not a list", v1alpha1.Loop{WithParam: "{}"}, nil, "could not be parsed as a JSON list"},
		"NoNumber":   {"a count that is not a number", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Count: &word}}, nil, `count "two" is not a number`},
		"TooMany":    {"a million nodes", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{Count: number32(1_000_000)}}, nil, "more than"},
		"NoQuantity": {"neither end nor count", v1alpha1.Loop{WithSequence: &v1alpha1.Sequence{}}, nil, "neither end nor count"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Items(tc.loop)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Fatalf("%s: %v does not say %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var names []string
			for i, item := range all {
				names = append(names, ItemName("x", i, item))
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestItemScope(t *testing.T) {
	scope := ItemScope(sample(), items(`{"os":"linux","tags":["a"]}`)[0])
	got, err := Substitute(`"{{item.os}} {{item.tags}} {{item}} {{workflow.name}} {{= item.os + inputs.parameters.n }}"`, scope, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `"linux [\"a\"] {\"os\":\"linux\",\"tags\":[\"a\"]} wf linux41"`; got != want {
		t.Errorf("fields of the item and what is outside: %s, want %s", got, want)
	}
}

func parameter(name string, value, fallback *v1alpha1.AnyString) v1alpha1.Parameter {
	return v1alpha1.Parameter{Name: name, Value: value, Default: fallback}
}

func fromConfig(name, key string) *v1alpha1.ValueFrom {
	return &v1alpha1.ValueFrom{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}}
}

func TestBind(t *testing.T) {
	found := "from the map"
	configs := ConfigValues{{"cm", "a"}: &found, {"cm", "gone"}: nil}
	for name, tc := range map[string]struct {
		reason        string
		input         v1alpha1.Parameter
		arguments     []v1alpha1.Parameter
		want, refused string
	}{
		"Argument": {"the argument wins", parameter("p", v1alpha1.Any("own"), v1alpha1.Any("default")), []v1alpha1.Parameter{parameter("p", v1alpha1.Any("given"), nil)}, "given", ""},
		"Empty":    {"also when it is empty", parameter("p", nil, v1alpha1.Any("default")), []v1alpha1.Parameter{parameter("p", v1alpha1.Any(""), nil)}, "", ""},
		"Own":      {"then the value of the input", parameter("p", v1alpha1.Any("own"), v1alpha1.Any("default")), nil, "own", ""},
		"Default":  {"then its default", parameter("p", nil, v1alpha1.Any("default")), []v1alpha1.Parameter{parameter("p", nil, nil)}, "default", ""},
		"Config":   {"a ConfigMap", v1alpha1.Parameter{Name: "p", ValueFrom: fromConfig("cm", "a")}, nil, "from the map", ""},
		"Given":    {"a ConfigMap that the argument names", parameter("p", nil, nil), []v1alpha1.Parameter{{Name: "p", ValueFrom: fromConfig("cm", "a")}}, "from the map", ""},
		"Missing":  {"nothing at all", parameter("p", nil, nil), nil, "", "inputs.parameters.p was not supplied"},
		"Gone":     {"a key that does not exist", v1alpha1.Parameter{Name: "p", ValueFrom: fromConfig("cm", "gone")}, nil, "", "was not found"},
		"Unread":   {"a key that has to be read first", v1alpha1.Parameter{Name: "p", ValueFrom: fromConfig("cm", "b")}, nil, "", "was not read yet"},
	} {
		t.Run(name, func(t *testing.T) {
			bound, err := Bind(v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{tc.input}}, v1alpha1.Arguments{Parameters: tc.arguments}, configs)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Fatalf("%s: %v does not say %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got := bound.Parameters[0].Value; got == nil || got.String() != tc.want {
				t.Errorf("%s: %v, want %q", tc.reason, got, tc.want)
			}
		})
	}
	_, err := Bind(v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{{Name: "p", ValueFrom: fromConfig("cm", "b")}}}, v1alpha1.Arguments{}, configs)
	var unknown *UnknownConfigError
	if !errors.As(err, &unknown) || unknown.Name != "cm" || unknown.Key != "b" {
		t.Errorf("what has to be read is named: %v", err)
	}
}

func TestBindArtifacts(t *testing.T) {
	raw := func(data string) v1alpha1.ArtifactLocation {
		return v1alpha1.ArtifactLocation{Raw: &v1alpha1.RawArtifact{Data: data}}
	}
	inputs := v1alpha1.Inputs{Artifacts: []v1alpha1.Artifact{
		{Name: "given", Path: "/a"}, {Name: "own", Path: "/b", ArtifactLocation: raw("own")}, {Name: "maybe", Path: "/c", Optional: true},
	}}
	given := v1alpha1.Arguments{Artifacts: []v1alpha1.Artifact{{Name: "given", Path: "/elsewhere", ArtifactLocation: raw("x")}}}
	bound, err := Bind(inputs, given, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.Artifact{{Name: "given", Path: "/a", ArtifactLocation: raw("x")}, {Name: "own", Path: "/b", ArtifactLocation: raw("own")}}
	if diff := cmp.Diff(want, bound.Artifacts); diff != "" {
		t.Errorf("the path is that of the input, the place that of the argument (-want +got):\n%s", diff)
	}
	if _, err := Bind(inputs, v1alpha1.Arguments{}, nil); err == nil || !strings.Contains(err.Error(), "inputs.artifacts.given was not supplied") {
		t.Errorf("an artifact that is not supplied: %v", err)
	}
}

func TestDropAbsent(t *testing.T) {
	arguments := v1alpha1.Arguments{Parameters: []v1alpha1.Parameter{
		parameter("a", v1alpha1.Any("{{steps.skipped.outputs.parameters.x}}"), nil),
		parameter("b", v1alpha1.Any("{{= steps.skipped.outputs.result }}"), nil),
		parameter("c", v1alpha1.Any("{{workflow.name}}"), nil),
		parameter("d", v1alpha1.Any("x{{steps.skipped.outputs.result}}"), nil),
	}}
	kept, err := DropAbsent(arguments, sample(), Mode{})
	if err != nil {
		t.Fatal(err)
	}
	var supplied []string
	for _, p := range kept.Parameters {
		if p.Value != nil {
			supplied = append(supplied, p.Name)
		}
	}
	if diff := cmp.Diff([]string{"c", "d"}, supplied); diff != "" {
		t.Errorf("only a whole value is left out (-want +got):\n%s", diff)
	}
}

func TestReplace(t *testing.T) {
	step := v1alpha1.WorkflowStep{Execution: v1alpha1.Execution{Name: "s", When: "{{= steps.first.outputs.result == \"done\" && 1 < 2 }}"}}
	got, err := Replace(step, sample(), Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if got.When != "true" {
		t.Errorf("an expression with quotes and angle brackets: %q", got.When)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"10": 10 * time.Second, "1m30s": 90 * time.Second, "2h": 2 * time.Hour} {
		if got, err := Duration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := Duration("soon"); err == nil {
		t.Error("a word is not a duration")
	}
}

func TestBool(t *testing.T) {
	got, err := Bool(`lastRetry.exitCode == "2" && asInt(retries) < 3`, NewScope(noon), map[string]any{"lastRetry": map[string]any{"exitCode": "2"}, "retries": "1"})
	if err != nil || !got {
		t.Errorf("more names than those of the scope: %v, %v", got, err)
	}
	if _, err := Bool("1 + 1", NewScope(noon), nil); err == nil || !strings.Contains(err.Error(), "to bool") {
		t.Errorf("a number is neither true nor false: %v", err)
	}
}

func TestSettle(t *testing.T) {
	parameter := func(name, value string) v1alpha1.Parameter {
		return v1alpha1.Parameter{Name: name, Value: v1alpha1.Any(value)}
	}
	for name, tc := range map[string]struct {
		reason            string
		inputs, arguments []v1alpha1.Parameter
		want              map[string]string
		refused           string
	}{
		"Chain":    {"a default after those that it names", []v1alpha1.Parameter{parameter("a", "{{=inputs.parameters.b + 'c'}}"), parameter("b", "{{inputs.parameters.c}}b"), parameter("c", "x")}, nil, map[string]string{"a": "xbc", "b": "xb", "c": "x"}, ""},
		"Supplied": {"an argument is no text with tags", []v1alpha1.Parameter{parameter("a", "{{inputs.parameters.b}}"), parameter("b", "x")}, []v1alpha1.Parameter{parameter("a", "{{inputs.parameters.b}}")}, map[string]string{"a": "{{inputs.parameters.b}}", "b": "x"}, ""},
		"Late":     {"what a later pass knows stays", []v1alpha1.Parameter{parameter("a", "{{retries}}")}, nil, map[string]string{"a": "{{retries}}"}, ""},
		"Cycle":    {"defaults that name each other", []v1alpha1.Parameter{parameter("a", "{{inputs.parameters.b}}"), parameter("b", "{{inputs.parameters.a}}")}, nil, nil, "name each other: a, b"},
		"Itself":   {"a default that names itself", []v1alpha1.Parameter{parameter("a", "{{=inputs.parameters.a}}")}, nil, nil, "name each other: a"},
		"Missing":  {"a name that there is not", []v1alpha1.Parameter{parameter("a", "{{inputs.parameters.z}}")}, nil, nil, "inputs.parameters.a: failed to resolve"},
	} {
		t.Run(name, func(t *testing.T) {
			scope, err := Settle(tc.inputs, tc.arguments, NewScope(time.Now()), Mode{Late: []string{"retries"}, Must: []string{"inputs"}})
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Fatalf("%s: %v does not say %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			got := map[string]string{}
			for _, p := range tc.inputs {
				if got[p.Name], _ = scope.Lookup("inputs.parameters." + p.Name); got[p.Name] != p.Value.String() {
					t.Errorf("%s: the scope has %q for %s, which is %q", tc.reason, got[p.Name], p.Name, p.Value)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
