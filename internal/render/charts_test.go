package render_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/render"
)

func TestInflate(t *testing.T) {
	files := map[string]string{
		"a/kustomization.yaml": "resources: [../b]\nnamespace: ns\n",
		"b/kustomization.yaml": "helmGlobals: {chartHome: home}\nhelmCharts: [{name: x, repo: 'https://example.com', version: '1', valuesFile: v.yaml, valuesInline: {a: 1}}]\n",
		"b/v.yaml":             "b: 2\n", "b/home/x-1/x/Chart.yaml": "name: x\n",
	}
	cases := map[string]struct {
		reason, made string
		err          error
		want, fails  string
	}{
		"objects":   {"what the chart became is a resource; items of lists are too", configMap("x", "1") + "---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: w}\n", nil, "ConfigMap//x ConfigMap//w", ""},
		"nothing":   {"a chart may make nothing", "# nothing\n---\n", nil, "", ""},
		"no object": {"what lacks a name cannot be built", "kind: X\n", nil, "", `b/kustomization.yaml: helmCharts[0] "x": reading the rendered chart: an object ("X") lacks apiVersion, kind or metadata.name`},
		"no YAML":   {"nor what is no YAML", "a: b: c\n", nil, "", `b/kustomization.yaml: helmCharts[0] "x": reading the rendered chart: `},
		"failure":   {"an error is that of the entry", "", context.DeadlineExceeded, "", `b/kustomization.yaml: helmCharts[0] "x": context deadline exceeded`},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			var got *render.Chart
			list, err := names(t, files, render.Options{Path: "a", Inflate: func(_ context.Context, c *render.Chart) ([]byte, error) {
				got = c
				return []byte(tt.made), tt.err
			}})
			if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) || tt.err != nil && !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %q", err, tt.fails)
			}
			if diff := cmp.Diff(tt.want, strings.Join(list, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if got.Namespace != "ns" || got.Vendored != "b/home/x-1/x" || got.File != "b/kustomization.yaml" {
				t.Errorf("chart %+v", got)
			}
			values, err := got.Values([]byte("c: 3\n"))
			if err != nil || len(values) != 1 || string(values[0]) != "b: 2\na: 1\n" {
				t.Errorf("values %q, %v", values, err)
			}
		})
	}
}

func TestInflateWithSchema(t *testing.T) {
	files := map[string]string{
		"kustomization.yaml":   "resources: [a, b, c]\nnamespace: ns\n",
		"a/kustomization.yaml": "helmCharts: [{name: x, repo: 'https://example.com'}]\nnamespace: a\n",
		"b/kustomization.yaml": "openapi: {path: schema.json}\nresources: [x.yaml]\n", "b/x.yaml": configMap("b", "1"), "b/schema.json": `{"definitions": {}}`,
		"c/kustomization.yaml": "helmCharts: [{name: x, repo: 'https://example.com'}]\n",
	}
	var got []string
	list, err := names(t, files, render.Options{Inflate: func(_ context.Context, c *render.Chart) ([]byte, error) {
		got = append(got, c.Namespace)
		return []byte(configMap("x-"+c.Namespace, "1")), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	// The schema appears after the first chart: the build starts over, and does not inflate it again.
	if diff := cmp.Diff("a ns", strings.Join(got, " ")); diff != "" {
		t.Errorf("namespaces of charts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("ConfigMap//x-a ConfigMap/ns/b ConfigMap//x-ns", strings.Join(list, " ")); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestEdit(t *testing.T) {
	files := map[string]string{"a/kustomization.yaml": "resources: [x.yaml]\n", "a/x.yaml": configMap("x", "1"), "b/x": ""}
	list, err := names(t, files, render.Options{Path: "a", Edit: func(k *types.Kustomization, exists func(string) bool) error {
		if !exists("../b") || exists("../c") || exists("x.yaml") {
			t.Error("exists does not tell directories")
		}
		k.NamePrefix = "p-"
		return nil
	}})
	if err != nil || strings.Join(list, " ") != "ConfigMap//p-x" {
		t.Errorf("%v, %v", list, err)
	}
	failure := errors.New("no")
	if _, err := names(t, files, render.Options{Path: "a", Edit: func(*types.Kustomization, func(string) bool) error { return failure }}); !errors.Is(err, failure) {
		t.Errorf("the error is lost in %v", err)
	}
}

func TestReader(t *testing.T) {
	files := map[string]string{"a/x": "1", "l": "-> a", "out": "-> ../x"}
	r := render.NewReader(tree(t, files))
	if data, there, err := r.File("l/x"); string(data) != "1" || !there || err != nil {
		t.Error(string(data), there, err)
	}
	if _, there, err := r.File("a"); there || err != nil {
		t.Error("a directory is no file", err)
	}
	if list, there, err := r.Dir("/l"); strings.Join(list, " ") != "x" || !there || err != nil {
		t.Error(list, there, err)
	}
	for _, p := range []string{"out", "../x", "a/../../x"} {
		if _, _, err := r.File(p); err == nil {
			t.Errorf("%q is outside", p)
		}
	}
	reads := r.Reads()
	for name, want := range map[string]bool{"b/x": true, "a/y": false, "a/x": false} {
		after := map[string]string{"a/x": "1", "l": "-> a", "out": "-> ../x"}
		after[name] = "new"
		if got := reads.Unchanged(tree(t, after)); got != want {
			t.Errorf("with a new %s: unchanged %v", name, got)
		}
	}
	if reads.Digest() != r.Reads().Digest() || reads.Digest() == (render.ReadSet{}).Digest() {
		t.Error("digests of reads")
	}
}
