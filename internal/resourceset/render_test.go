package resourceset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/resourceset"
)

func input(values map[string]any) resourceset.Input {
	return resourceset.Input{Values: values, From: "input 1 of ResourceSet/apps/web"}
}

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: << inputs.name >>
data:
  k: << inputs.value | quote >>
`

func TestRender(t *testing.T) {
	cases := map[string]struct {
		reason      string
		text        string
		more        string
		inputs      []map[string]any
		labels      map[string]string
		want        []string
		wantProblem string
	}{
		"one object for each input": {
			reason: "An object without a namespace is in that of the ResourceSet.",
			text:   configMap,
			inputs: []map[string]any{{"name": "a", "value": "1"}, {"name": "b", "value": "2"}},
			want: []string{
				`{"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"apps"}}`,
				`{"apiVersion":"v1","data":{"k":"2"},"kind":"ConfigMap","metadata":{"name":"b","namespace":"apps"}}`,
			},
		},
		"the same object twice": {
			reason: "What several inputs share is made once, from the first template that makes it.",
			text:   configMap, more: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}\ndata: {k: other}\n",
			inputs: []map[string]any{{"name": "a", "value": "1"}, {"name": "a", "value": "2"}},
			want:   []string{`{"apiVersion":"v1","data":{"k":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"apps"}}`},
		},
		"common metadata": {
			reason: "What is common stands over what an object has.",
			text:   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {team: x, own: mine}}\n",
			inputs: []map[string]any{{}}, labels: map[string]string{"team": "z"},
			want: []string{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"own":"mine","team":"z"},"name":"a","namespace":"apps"}}`},
		},
		"left out": {
			reason: "An object says by an annotation that it is left out.",
			text: `apiVersion: v1
kind: ConfigMap
metadata:
  name: << inputs.name >>
  annotations:
    fluxcd.controlplane.io/reconcile: << if eq inputs.name "a" >>enabled<< else >>disabled<< end >>
`,
			inputs: []map[string]any{{"name": "a"}, {"name": "b"}},
			want: []string{
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"fluxcd.controlplane.io/reconcile":"enabled"},"name":"a","namespace":"apps"}}`,
			},
		},
		"several documents": {
			reason: "A template may make documents in a loop; anchors are those of one document.",
			text: `---
apiVersion: v1
kind: Namespace
metadata:
  name: &app << inputs.app >>
  labels:
    name: *app
<<- range $part := inputs.parts >>
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: << $part >>
  namespace: << inputs.app >>
<<- end >>
`,
			inputs: []map[string]any{{"app": "shop", "parts": []any{"web", "db"}}},
			want: []string{
				`{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"name":"shop"},"name":"shop","namespace":"apps"}}`,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop"}}`,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"db","namespace":"shop"}}`,
			},
		},
		"nested values": {
			reason: "Numbers stay whole numbers, and maps can be written below a field.",
			text:   "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec:\n  num: << inputs.n >>\n  m: << inputs.m | toYaml | nindent 4 >>\n",
			inputs: []map[string]any{{"n": int64(1000000), "m": map[string]any{"a": "1", "b": []any{int64(2)}}}},
			want:   []string{`{"apiVersion":"v1","kind":"X","metadata":{"name":"a","namespace":"apps"},"spec":{"m":{"a":"1","b":[2]},"num":1000000}}`},
		},
		"roles gathered from all inputs": {
			reason: "The inputs are a map that can be gone through.",
			text: `apiVersion: v1
kind: X
metadata: {name: a}
spec:
  <<- $roles := dict >>
  <<- range $key, $in := inputs >>
  <<-   if kindIs "map" $in >><< with index $in "role" >><< $_ := set $roles . $in >><< end >><< end >>
  <<- end >>
  roles: << keys $roles | sortAlpha | toYaml | nindent 4 >>
`,
			inputs: []map[string]any{{"id": "1", "b": map[string]any{"role": "z"}, "c": map[string]any{"role": "y"}, "d": map[string]any{}}},
			want:   []string{`{"apiVersion":"v1","kind":"X","metadata":{"name":"a","namespace":"apps"},"spec":{"roles":["y","z"]}}`},
		},
		"a default": {
			reason: "A value that may be missing is asked for with get.",
			text:   "apiVersion: v1\nkind: X\nmetadata: {name: << get inputs \"name\" | default inputs.other >>}\n",
			inputs: []map[string]any{{"other": "o"}},
			want:   []string{`{"apiVersion":"v1","kind":"X","metadata":{"name":"o","namespace":"apps"}}`},
		},
		"a list": {
			reason: "The objects of a List stand for themselves.",
			text:   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: X, metadata: {name: a}}\n- {apiVersion: v1, kind: X, metadata: {name: b}}\n",
			inputs: []map[string]any{{}},
			want: []string{
				`{"apiVersion":"v1","kind":"X","metadata":{"name":"a","namespace":"apps"}}`,
				`{"apiVersion":"v1","kind":"X","metadata":{"name":"b","namespace":"apps"}}`,
			},
		},
		"no inputs": {
			reason: "Nothing is made when there is no input.", text: configMap,
		},
		"a value that is missing": {
			reason: "The error names the template, the line and the input.",
			text:   configMap, inputs: []map[string]any{{"name": "a"}},
			wantProblem: `spec.resources[0]: with input 1 of ResourceSet/apps/web: line 6: <inputs>: map has no entry for key "value"`,
		},
		"a template that cannot be read": {
			reason: "That is the same for every input.", text: "a: << nope >>\n", inputs: []map[string]any{{}},
			wantProblem: `spec.resources[0]: line 1: function "nope" not defined`,
		},
		"no YAML": {
			reason: "The error names the document.", text: "a: b\n---\na: [\n", inputs: []map[string]any{{}},
			wantProblem: `the object has no apiVersion`,
		},
		"no name": {
			reason: "An object without a name cannot be applied.", text: "apiVersion: v1\nkind: X\n", inputs: []map[string]any{{}},
			wantProblem: `spec.resources[0]: with input 1 of ResourceSet/apps/web: the document at line 1 of the rendered template: the X has no metadata.name`,
		},
		"a label that is a number": {
			reason: "The API would refuse it in words that name nothing.",
			text:   "apiVersion: v1\nkind: X\nmetadata: {name: a, labels: {num: << inputs.n >>}}\n", inputs: []map[string]any{{"n": int64(1)}},
			wantProblem: `metadata.labels: num: 1 is not a string; use quote`,
		},
		"the clock": {
			reason: "Functions that give something else each time are not there.", text: "a: << now >>\n", inputs: []map[string]any{{}},
			wantProblem: `function "now" not defined`,
		},
		"much": {
			reason: "What makes much out of a number is bounded.", text: "a: << repeat 1000000000 \"x\" >>\n", inputs: []map[string]any{{}},
			wantProblem: `1000000000 is more than 100000`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := resourceset.Declared{Namespace: "apps", Labels: tc.labels, Templates: []resourceset.Template{{Name: "spec.resources[0]", Text: tc.text}}}
			if tc.more != "" {
				d.Templates = append(d.Templates, resourceset.Template{Name: "spec.resourcesTemplate", Text: tc.more})
			}
			for _, values := range tc.inputs {
				d.Inputs = append(d.Inputs, input(values))
			}
			made, err := resourceset.Render(d)
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if tc.wantProblem != "" && !strings.Contains(problem, tc.wantProblem) || (tc.wantProblem == "") != (err == nil) {
				t.Fatalf("%s\ngot error %q, want %q", tc.reason, problem, tc.wantProblem)
			}
			var got []string
			for _, o := range made {
				data, err := json.Marshal(o.Object)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSlugify(t *testing.T) {
	cases := map[string]string{
		"Team One": "team-one", "feat/Ünïcode--x": "feat-unicode-x", "-a-": "a", "": "",
		strings.Repeat("ab-", 30): strings.TrimSuffix(strings.Repeat("ab-", 21), "-"),
	}
	for in, want := range cases {
		made, err := resourceset.Render(resourceset.Declared{
			Templates: []resourceset.Template{{Name: "t", Text: "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {s: << inputs.s | slugify | quote >>}\n"}},
			Inputs:    []resourceset.Input{input(map[string]any{"s": in})},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := made[0].Object["spec"].(map[string]any)["s"]; got != want {
			t.Errorf("slugify %q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzRender searches for templates that end the process, or that render differently the second time.
func FuzzRender(f *testing.F) {
	f.Add(configMap, "a")
	f.Add("<<- range $k, $v := inputs >>\n---\n{apiVersion: v1, kind: X, metadata: {name: << $v >>}}\n<<- end >>", "b")
	f.Add("<< indent 99999999 inputs.name >>", "c")
	f.Add("apiVersion: v1\nkind: List\nitems: [{}]\n", "d")
	f.Add("apiVersion: v1\nkind: X\nmetadata: [x]\n", "e")
	f.Fuzz(func(t *testing.T, text, value string) {
		if strings.Contains(text, "range") && !strings.Contains(text, "inputs") {
			t.Skip("a loop over a number may take its time")
		}
		d := resourceset.Declared{
			Namespace: "apps", Templates: []resourceset.Template{{Name: "t", Text: text}},
			Inputs: []resourceset.Input{input(map[string]any{"name": value, "value": value})},
		}
		first, err := resourceset.Render(d)
		second, again := resourceset.Render(d)
		if (err == nil) != (again == nil) {
			t.Fatalf("first %v, then %v", err, again)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
		for _, o := range first {
			if o.GetName() == "" || o.GetKind() == "" || o.GetAPIVersion() == "" {
				t.Fatalf("an object without an identity: %v", o.Object)
			}
		}
	})
}
