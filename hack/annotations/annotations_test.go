package annotations

import (
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart/lint"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/simulate"
)

var update = flag.Bool("update", false, "write the files")

const (
	root = "../.."
	page = root + "/docs/guide/annotations.md"
)

// TestFiles compares the files with the table; with -update it writes them.
func TestFiles(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	paged, err := Page(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{
		page:                                     []byte(paged),
		root + "/deploy/schema/annotations.json": made(t, Annotations),
		root + "/deploy/schema/simulate-health.json": made(t, SimulateHealth),
	} {
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is out of date; run make generate (-file +table):\n%s", file, diff)
		}
	}
}

// TestNames compares the table with the names in the code: each is in the other.
func TestNames(t *testing.T) {
	name := regexp.MustCompile(`^([a-z-]+\.)*headgate\.dev/[a-z-]*$`)
	found := map[string]string{}
	for _, dir := range []string{"api", "chart", "cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					if text, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(text) {
						found[text] = path
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The prefix of names that mark objects which no dialect has names for; they are labels.
	delete(found, "headgate.dev/")
	for _, n := range Table() {
		if found[n.Key] == "" {
			t.Errorf("%s is in the table twice, or nowhere in the code", n.Key)
		}
		delete(found, n.Key)
	}
	for key, path := range found {
		t.Errorf("%s, in %s, is not in the table of hack/annotations", key, path)
	}
}

// TestValues gives values to the schema and, where there is one, to the code that reads them: both permit the good ones alone.
func TestValues(t *testing.T) {
	schema := compile(t, made(t, Annotations))
	readers := map[string]func(value string) error{
		"headgate.dev/depends-on": func(value string) error {
			_, err := engine.ParseDependsOn(value, "default")
			return err
		},
		"headgate.dev/deletion-hold": func(value string) error {
			_, err := engine.HoldBound(value, 0)
			return err
		},
		"headgate.dev/decryption": func(value string) error {
			_, err := policy.DecryptionSecret(&v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{policy.Decryption: value}}})
			return err
		},
	}
	readers[lint.Annotation] = func(value string) error {
		for _, f := range (lint.Policy{}).Validate([]map[string]any{object("ConfigMap", lint.Annotation, value)}) {
			if f.Rule == lint.Prefix+"unknown-rule" {
				return errors.New(f.Message)
			}
		}
		return nil
	}
	for _, n := range Table() {
		if n.Use != People {
			continue
		}
		kind := "Deployment"
		if len(n.Kinds) > 0 {
			kind = n.Kinds[0]
		}
		if len(n.Good) == 0 || n.Pattern != "" && len(n.Bad) == 0 {
			t.Errorf("%s has no examples", n.Key)
		}
		for _, value := range append(slices.Clone(n.Good), n.Bad...) {
			want := slices.Contains(n.Good, value)
			if err := schema.Validate(object(kind, n.Key, value)); (err == nil) != want {
				t.Errorf("%s: %q: good is %t, and the schema says %v", n.Key, value, want, err)
			}
			if read := readers[n.Key]; read != nil {
				if err := read(value); (err == nil) != want {
					t.Errorf("%s: %q: good is %t, and the code says %v", n.Key, value, want, err)
				}
			}
		}
	}
}

func TestObjects(t *testing.T) {
	schema := compile(t, made(t, Annotations))
	const template = `{kind: Deployment, spec: {template: {metadata: {annotations: {headgate.dev/lint-ignore: `
	for name, tc := range map[string]struct {
		object string
		valid  bool
	}{
		"Others":      {`{kind: Deployment, metadata: {annotations: {example.com/any: thing}}}`, true},
		"Null":        {`{kind: Deployment, metadata: {annotations: null}}`, true},
		"Bare":        {`{}`, true},
		"Misspelled":  {`{kind: Kustomization, metadata: {annotations: {headgate.dev/depend-on: Kustomization/a}}}`, false},
		"Misplaced":   {`{kind: Deployment, metadata: {annotations: {headgate.dev/depends-on: Kustomization/a}}}`, false},
		"Label":       {`{kind: Deployment, metadata: {annotations: {headgate.dev/simulated: "true"}}}`, false},
		"NoText":      {`{kind: ApplicationSet, metadata: {annotations: {headgate.dev/deletion-budget: 3}}}`, false},
		"Template":    {template + `probes}}}}}`, true},
		"TemplateBad": {template + `probe}}}}}`, false},
		"SetTemplate": {`{kind: ApplicationSet, spec: {template: {metadata: {annotations: {headgate.dev/depends-on: Kustomization/a}}}}}`, true},
		"CronJob":     {`{kind: CronJob, spec: {jobTemplate: {spec: {template: {metadata: {annotations: {headgate.dev/lint-ignore: probe}}}}}}}`, false},
		"Project":     {`{kind: CustomResourceDefinition, metadata: {annotations: {default-project.headgate.dev/argocd: implied}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := schema.Validate(decode(t, tc.object)); (err == nil) != tc.valid {
				t.Errorf("%s\nvalid is %t, and the schema says %v", tc.object, tc.valid, err)
			}
		})
	}
}

// TestSimulateHealth gives files to the schema and to the code that reads them.
func TestSimulateHealth(t *testing.T) {
	schema := compile(t, made(t, SimulateHealth))
	for text, valid := range map[string]bool{
		"":   true,
		"[]": true,
		"[{group: example.com, kind: Widget, status: {phase: Working}}]": true,
		"{group: example.com, kind: Widget, status: {}}":                 false,
		"[{group: example.com, kind: Widget}]":                           false,
		"[{group: '', kind: Widget, status: {}}]":                        false,
		"[{group: example.com, kind: 3, status: {}}]":                    false,
		"[{group: example.com, kind: Widget, status: ready}]":            false,
		"[{group: example.com, kind: Widget, status: {}, version: v1}]":  false,
		"[Widget]": false,
	} {
		if err := schema.Validate(decode(t, text)); (err == nil) != valid {
			t.Errorf("%q: valid is %t, and the schema says %v", text, valid, err)
		}
		if _, err := simulate.ParseOverrides([]byte(text)); (err == nil) != valid {
			t.Errorf("%q: valid is %t, and the code says %v", text, valid, err)
		}
	}
}

func made(t *testing.T, schema func() ([]byte, error)) []byte {
	t.Helper()
	data, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func compile(t *testing.T, data []byte) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	var parsed any
	if err := json.Unmarshal(data, &parsed); err != nil {
		t.Fatal(err)
	}
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func object(kind, key, value string) map[string]any {
	return map[string]any{"kind": kind, "metadata": map[string]any{"annotations": map[string]any{key: value}}}
}
