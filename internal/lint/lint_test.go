package lint_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/lint"
)

const file = `# a comment
a: no object
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a, annotations: {a.b/c: x}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: b
    creationTimestamp: 2024-01-01
  spec:
    containers:
    - image: x
`

func TestLines(t *testing.T) {
	documents, _, err := lint.Read("a.yaml", []byte(file))
	if err != nil || len(documents) != 2 {
		t.Fatalf("%v: %d documents", err, len(documents))
	}
	for _, c := range []struct {
		document int
		field    string
		line     int
	}{
		{0, "", 7},
		{0, `metadata.annotations["a.b/c"]`, 9},
		{1, "spec.containers[0].image", 17},
		{1, "spec.containers[0].resources.limits", 17},
		{1, "spec.containers[4]", 16},
		{1, "metadata.name", 13},
	} {
		if line, _ := documents[c.document].Line(c.field); line != c.line {
			t.Errorf("%s: line %d, want %d", c.field, line, c.line)
		}
	}
	if _, line, err := lint.Read("a.yaml", []byte("a: b\n---\nc: [\nd: e\n")); err == nil || line < 2 {
		t.Errorf("line %d of what is no YAML: %v", line, err)
	}
}

// TestIndex prefers the document with the field, and never one of another namespace.
func TestIndex(t *testing.T) {
	var documents []lint.Document
	for name, text := range map[string]string{
		"base.yaml":  "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  type: ClusterIP\n",
		"other.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: other}\nspec:\n  type: ClusterIP\n  ports: []\n",
		"patch.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n\n  selector: {}\n",
	} {
		some, _, err := lint.Read(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, some...)
	}
	index := lint.NewIndex(documents)
	object := map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "namespace": "shop"}}
	for field, want := range map[string]string{"spec.type": "base.yaml 5", "spec.selector": "patch.yaml 6", "spec.ports": "base.yaml 4"} {
		file, line, _ := index.Find(object, field)
		if got := file + " " + string(rune('0'+line)); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	if file, _, _ := index.Near("x").Find(object, "spec"); file != "base.yaml" {
		t.Errorf("%s is near a directory without files", file)
	}
	some, _, err := lint.Read("x/base.yaml", []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  type: ${TYPE}\n  clusterIP: |-\n    a\n    ${IP}\n"))
	if err != nil {
		t.Fatal(err)
	}
	index = lint.NewIndex(append(documents, some...))
	if file, _, _ := index.Near("x").Find(object, "spec.type"); file != "x/base.yaml" {
		t.Errorf("%s is nearer", file)
	}
	for text, want := range map[string]string{"${TYPE": "x/base.yaml 5", "${IP": "x/base.yaml 8", "${NONE": "base.yaml 1"} {
		file, line, _ := index.Named("Service/shop/web", []string{text})
		if got := fmt.Sprintf("%s %d", file, line); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if _, _, found := index.Find(map[string]any{"kind": "Pod"}, ""); found {
		t.Error("something was found for an object of no file")
	}
}

func TestWrite(t *testing.T) {
	findings := lint.Sort([]lint.Finding{
		{File: "b.yaml", Line: 2, Severity: "info", Rule: "lint/x", Object: "Pod/b", Unit: "Kustomization/a", Message: "100% is too much,\nreally"},
		{File: "a b.yaml", Line: 3, Severity: "error", Rule: "lint/y", Field: "spec", Message: "m"},
		{File: "b.yaml", Line: 2, Severity: "info", Rule: "lint/x", Object: "Pod/b", Unit: "Kustomization/b", Message: "100% is too much,\nreally"},
	})
	for format, want := range map[string][]string{
		"text":   {"a b.yaml:3: error: spec: m (lint/y)", "b.yaml:2: info: Pod/b: 100% is too much,\nreally (lint/x) [Kustomization/a]"},
		"github": {"::error file=a b.yaml,line=3,title=lint/y::spec: m", "::notice file=b.yaml,line=2,title=lint/x::Pod/b: 100%25 is too much,%0Areally"},
		"sarif":  {`"uri": "a%20b.yaml"`, `"level": "note"`, `"ruleId": "lint/x"`, `"name": "headgate validate"`},
		"json":   {`"file": "a b.yaml"`, `"unit": "Kustomization/a"`},
	} {
		var out bytes.Buffer
		if err := lint.Write(&out, format, findings, lint.Tool{Name: "headgate validate"}); err != nil {
			t.Fatal(err)
		}
		for _, one := range want {
			if !strings.Contains(out.String(), one) {
				t.Errorf("%s: %q is not in\n%s", format, one, out.String())
			}
		}
	}
	if diff := cmp.Diff(2, len(findings)); diff != "" {
		t.Error("what two units render is said twice")
	}
}

// FuzzRead reads files of any content.
func FuzzRead(f *testing.F) {
	f.Add(file)
	f.Add("apiVersion: v1\nkind: &a [*a]\n")
	f.Add("{apiVersion: v1, kind: List, items: [1, {kind: x}]}")
	f.Fuzz(func(t *testing.T, text string) {
		documents, _, _ := lint.Read("a.yaml", []byte(text)) // most texts are no YAML
		lines := strings.Count(text, "\n") + 1
		for _, d := range documents {
			if line, _ := d.Line("spec.containers[0].image"); line < 1 || line > lines+1 {
				t.Errorf("line %d of %d", line, lines)
			}
		}
	})
}
