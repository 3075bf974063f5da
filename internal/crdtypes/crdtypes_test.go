package crdtypes_test

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/crdtypes"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t testing.TB, files ...string) []crdtypes.Definition {
	t.Helper()
	var all []crdtypes.Definition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := crdtypes.Read(filepath.Base(file), data)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

func generate(t testing.TB, definitions []crdtypes.Definition, o crdtypes.Options) map[string]string {
	t.Helper()
	packages, err := crdtypes.Generate(definitions, o)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, p := range packages {
		for name, data := range p.Files {
			files[path.Join(p.Dir, name)] = string(data)
		}
		typeChecks(t, p)
	}
	return files
}

// The definitions have one of everything: see the comments in what is written.
func TestGolden(t *testing.T) {
	files := generate(t, read(t, "testdata/definitions/tenants.yaml", "testdata/definitions/list.yaml"), crdtypes.Options{Command: "headgate import definitions"})
	if *update {
		if err := os.RemoveAll("testdata/golden"); err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range files {
		at := filepath.Join("testdata/golden", filepath.FromSlash(name)+".golden")
		if *update {
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(at)
		if err != nil {
			t.Errorf("%v; try: go test ./internal/crdtypes -update", err)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-golden +now):\n%s", name, diff)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	definitions := read(t, "testdata/definitions/tenants.yaml", "testdata/definitions/list.yaml")
	once := generate(t, definitions, crdtypes.Options{})
	slices.Reverse(definitions)
	if diff := cmp.Diff(once, generate(t, definitions, crdtypes.Options{})); diff != "" {
		t.Errorf("the order of definitions matters:\n%s", diff)
	}
}

// The definitions of this repository: Argo CD's, Flux's, those of workflows and of providers.
func TestRealDefinitions(t *testing.T) {
	files, err := filepath.Glob("../../deploy/*/crds/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("want the definitions of the repository, have %d: %v", len(files), err)
	}
	written := generate(t, read(t, files...), crdtypes.Options{Status: true})
	for name, wants := range map[string][]string{
		"argoproj.io/v1alpha1/application.go": {
			"func (*Application) KubernetesKind()", "ApplicationSpec `json:\"spec\"`",
		},
		"helm.toolkit.fluxcd.io/v2/helmrelease.go": {"Interval string `json:\"interval\"`"},
	} {
		for _, want := range wants {
			if !strings.Contains(spaces.ReplaceAllString(written[name], " "), want) {
				t.Errorf("%s lacks %q:\n%.3000s", name, want, written[name])
			}
		}
	}
}

var spaces = regexp.MustCompile(` +`)

// schema is a definition of a kind whose objects have a spec.
func schema(spec string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"kind":"A","plural":"as"},
		"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + spec + `}}}}]}}`
}

func TestFields(t *testing.T) {
	for name, c := range map[string]struct{ reason, field, want string }{
		"string":              {"the empty string is an absent one", `{"type":"string"}`, "F string `json:\"f,omitempty\"`"},
		"number":              {"zero is not absent", `{"type":"integer"}`, "F *int `json:\"f,omitempty\"`"},
		"number of default 0": {"zero is what absence means", `{"type":"integer","default":0}`, "F int `json:\"f,omitempty\"`"},
		"number of default 3": {"zero is not what absence means", `{"type":"integer","default":3}`, "F *int `json:\"f,omitempty\"`"},
		"positive number":     {"zero is not permitted", `{"type":"integer","minimum":1}`, "F int `json:\"f,omitempty\"`"},
		"more than zero":      {"zero is not permitted", `{"type":"number","minimum":0,"exclusiveMinimum":true}`, "F float64 `json:\"f,omitempty\"`"},
		"flag":                {"false is said where nothing says what absence means", `{"type":"boolean"}`, "F *bool `json:\"f,omitempty\"`"},
		"flag of default":     {"false is what absence means", `{"type":"boolean","default":false}`, "F bool `json:\"f,omitempty\"`"},
		"object":              {"an empty object is not absent", `{"type":"object","properties":{"a":{"type":"string"}}}`, "F *F `json:\"f,omitempty\"`"},
		"marker":              {"an object without fields is there or not", `{"type":"object"}`, "F *struct{} `json:\"f,omitempty\"`"},
		"embedded":            {"a whole object has any type", `{"type":"object","x-kubernetes-embedded-resource":true}`, "F any `json:\"f,omitempty\"`"},
		"unknown fields":      {"a map", `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, "F map[string]any `json:\"f,omitempty\"`"},
		"unknown value":       {"it need not be an object", `{"x-kubernetes-preserve-unknown-fields":true}`, "F any `json:\"f,omitempty\"`"},
		"list of lists":       {"types nest", `{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`, "F [][]int `json:\"f,omitempty\"`"},
		"old int or string":   {"as v1beta1 has it", `{"type":"string","format":"int-or-string"}`, "F *intstr.IntOrString `json:\"f,omitempty\"`"},
		"metadata of pods": {
			"a subtree of Kubernetes is its type", `{"type":"object","properties":{"nodeSelectorTerms":{"type":"array","items":{"type":"object","properties":{
			"matchExpressions":{"type":"array","items":{"type":"object","required":["key","operator"],"properties":{"key":{"type":"string"},"operator":{"type":"string"},"values":{"type":"array","items":{"type":"string"}}}}},
			"matchFields":{"type":"array","items":{"type":"object","required":["key","operator"],"properties":{"key":{"type":"string"},"operator":{"type":"string"},"values":{"type":"array","items":{"type":"string"}}}}}}}}}}`,
			"NodeSelectorTerms []corev1.NodeSelectorTerm",
		},
	} {
		t.Run(name, func(t *testing.T) {
			definitions, err := crdtypes.Read("a.yaml", []byte(schema(`{"type":"object","properties":{"f":`+c.field+`}}`)))
			if err != nil {
				t.Fatal(err)
			}
			got := spaces.ReplaceAllString(generate(t, definitions, crdtypes.Options{})["example.com/v1/a.go"], " ")
			if !strings.Contains(got, c.want) {
				t.Errorf("%s: want %s in:\n%s", c.reason, c.want, got)
			}
		})
	}
}

// A field that is added anywhere renames no type, since the names are recorded.
func TestNamesStay(t *testing.T) {
	before := `{"type":"object","properties":{"late":{"type":"object","properties":{"thing":{"type":"object","properties":{"a":{"type":"string"}}}}}}}`
	after := `{"type":"object","properties":{
		"early":{"type":"object","properties":{"thing":{"type":"object","properties":{"b":{"type":"string"}}}}},
		"late":{"type":"object","properties":{"new":{"type":"string"},"thing":{"type":"object","properties":{"a":{"type":"string"}}}}}}}`
	definitions := func(spec string) []crdtypes.Definition {
		all, err := crdtypes.Read("a.yaml", []byte(schema(spec)))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := generate(t, definitions(before), crdtypes.Options{})
	if !strings.Contains(first["example.com/v1/a.go"], "type Thing struct") {
		t.Fatalf("want a type Thing:\n%s", first["example.com/v1/a.go"])
	}
	names := map[string][]byte{"example.com/v1": []byte(first["example.com/v1/names.txt"])}
	second := generate(t, definitions(after), crdtypes.Options{Names: names})
	text := spaces.ReplaceAllString(second["example.com/v1/a.go"], " ")
	for _, want := range []string{"type Late struct { New string", "Thing *Thing", "type EarlyThing struct"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
	if _, err := crdtypes.Generate(definitions(after), crdtypes.Options{Names: map[string][]byte{"example.com/v1": []byte("Late.thing\n")}}); err == nil || !strings.Contains(err.Error(), "example.com/v1/names.txt: line 1") {
		t.Errorf("a damaged file of names: %v", err)
	}
}

// TestKindNames has types whose kinds are no names in Go, or names that the package has already; the kinds stay as they are.
func TestKindNames(t *testing.T) {
	var all []crdtypes.Definition
	for _, kind := range []string{"my-kind", "widget", "Widget", "Definitions", "GroupVersion"} {
		d, err := crdtypes.Read(kind+".yaml", []byte(strings.Replace(schema(`{"type":"object"}`), `"A"`, `"`+kind+`"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d...)
	}
	packages, err := crdtypes.Generate(all, crdtypes.Options{})
	if err != nil || len(packages) != 1 {
		t.Fatalf("%d packages: %v", len(packages), err)
	}
	typeChecks(t, packages[0])
	if diff := cmp.Diff([]string{"DefinitionsKind", "GroupVersionKind", "Widget", "MyKind", "WidgetKind"}, packages[0].Kinds); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
	var files strings.Builder
	for _, data := range packages[0].Files {
		files.Write(data)
	}
	for _, want := range []string{`func (*MyKind) KubernetesKind`, `"example.com/v1", "my-kind"`, `"example.com/v1", "widget"`, `"example.com/v1", "Widget"`, `"example.com/v1", "Definitions"`} {
		if !strings.Contains(files.String(), want) {
			t.Errorf("the package does not have %s", want)
		}
	}
}

func TestRefused(t *testing.T) {
	replace := func(old, replacement string) string {
		return strings.Replace(schema(`{"type":"object"}`), old, replacement, 1)
	}
	for name, c := range map[string]struct{ reason, text, want string }{
		"YAML":      {"the document is named", "a: b\n---\nkind: CustomResourceDefinition\n  b: c\n", "a.yaml: document 2: "},
		"group":     {"a group becomes a directory", replace("example.com", "../x"), `a.yaml: spec.group: "../x" is not an API group`},
		"kind":      {"a kind becomes a type", replace(`"A"`, `"a b"`), `a.yaml: spec.names.kind: "a b" is not a kind`},
		"hyphen":    {"a kind ends with a letter or a digit", replace(`"A"`, `"a-"`), `a.yaml: spec.names.kind: "a-" is not a kind`},
		"version":   {"a version becomes a directory", replace(`"v1"`, `"../v1"`), `a.yaml: spec.versions: "../v1" is not a version`},
		"schema":    {"the field is named", schema(`7`), "a.yaml: spec.versions[0].schema.openAPIV3Schema.properties.spec: want a schema, an object, have a number"},
		"type":      {"the field is named", schema(`{"type":"text"}`), `openAPIV3Schema.properties.spec.type: "text" is not a type`},
		"required":  {"the field is named", schema(`{"type":"object","required":"a"}`), "properties.spec.required: want a list, have a string"},
		"reference": {"nothing resolves them", schema(`{"$ref":"#/a"}`), "properties.spec.$ref: definitions cannot refer"},
		"depth": {
			"hostile input ends", schema(strings.Repeat(`{"type":"array","items":`, 150) + `{}` + strings.Repeat(`}`, 150)), "nest deeper than 100 levels",
		},
		"none": {"a definition without versions", replace(`"versions"`, `"others"`), "a.yaml: spec.versions: A has none"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := crdtypes.Read("a.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: want %q, have %v", c.reason, c.want, err)
			}
		})
	}
	two := func(spec string) []crdtypes.Definition {
		all, err := crdtypes.Read("b.yaml", []byte(schema(spec)))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	_, err := crdtypes.Generate(append(two(`{"type":"object"}`), two(`{"type":"string"}`)...), crdtypes.Options{})
	if err == nil || !strings.Contains(err.Error(), "b.yaml: the definition of example.com/v1 A differs from that in b.yaml") {
		t.Errorf("two definitions of one kind: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	both := read(t, "testdata/definitions/tenants.yaml", "testdata/definitions/list.yaml")
	one := read(t, "testdata/definitions/tenants.yaml")
	for name, c := range map[string]struct {
		reason      string
		definitions []crdtypes.Definition
		name        string
		want        []string
	}{
		"no name":  {"a package has the name of its version", both, "", []string{"example.com/v1 v1", "old.example.com/v1beta1 v1beta1"}},
		"one":      {"a name is that of the only package", one, "acme", []string{"acme acme"}},
		"several":  {"with several, each has its version", both, "acme", []string{"acme/example.com/v1 acmev1", "acme/old.example.com/v1beta1 acmev1beta1"}},
		"no kinds": {"nothing gives nothing", nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			packages, err := crdtypes.Generate(c.definitions, crdtypes.Options{Name: c.name})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range packages {
				got = append(got, p.Dir+" "+p.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

// Any schema that is read gives Go that a compiler takes.
func FuzzGenerate(f *testing.F) {
	f.Add(`{"type":"object"}`)
	f.Add(`{"type":"object","properties":{"a-b":{"type":"string","enum":["x","X"," ","\n"]},"aB":{"type":"object","properties":{"spec":{"type":"object"}}},"type":{"type":"array"}}}`)
	f.Add(`{"description":"*/ \n//go:embed x\n+build ignore\r\u2028` + "`" + `","type":"object","properties":{"":{"type":"boolean"},"A":{"type":"object","properties":{"A":{"type":"string","enum":["A"]}}}}}`)
	f.Add(`{"properties":{"metadata":{"type":"object"},"KubernetesKind":{"type":"integer"},"extra":{"x-kubernetes-int-or-string":true}},"x-kubernetes-preserve-unknown-fields":true}`)
	f.Fuzz(func(t *testing.T, spec string) {
		definitions, err := crdtypes.Read("a.yaml", []byte(schema(spec)))
		if err != nil || len(definitions) == 0 {
			return
		}
		packages, err := crdtypes.Generate(definitions, crdtypes.Options{Status: true, Command: spec})
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		for _, p := range packages {
			typeChecks(t, p)
		}
	})
}

// The definitions of this repository are 1.3 MB: a few hundred milliseconds, of which most is reading YAML.
func BenchmarkGenerate(b *testing.B) {
	files, err := filepath.Glob("../../deploy/*/crds/*.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := crdtypes.Generate(read(b, files...), crdtypes.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
