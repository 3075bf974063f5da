package chart_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart"
)

const included = `# a comment
apiVersion: v1
kind: ConfigMap
metadata:
  name: scalars
data: {a: "yes", b: '0o17'}
octal: 0755
on: yes
number: 1_000
big: 12345678901
float: 1.50
text: |
  ---
  not a marker
---
---
# nothing
--- # the next
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
  - {apiVersion: v1, kind: Service, metadata: {name: web, namespace: other}}
--- {apiVersion: v1, kind: Service, metadata: {name: web}}
`

func TestInclude(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "c", chart.Props{Namespace: "ns"})
	i := chart.Include(c, "all", chart.Source{FS: fstest.MapFS{"dir/a.yaml": {Data: []byte(included)}, "dir/readme.md": {Data: []byte("- no")}}, Path: "dir"})
	i.Patch("ConfigMap", "scalars", chart.JSONPatch{{Op: "remove", Path: "/text"}})
	if got := len(i.Objects()); got != 4 {
		t.Errorf("%d objects, want 4", got)
	}
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
kind: ConfigMap
metadata:
  name: scalars
  namespace: ns
big: 12345678901
data:
  a: "yes"
  b: "0o17"
float: 1.5
number: 1000
octal: 493
"true": true
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: other
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: ns
`
	if diff := cmp.Diff(want, string(result.YAML())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c/all/scalars-configmap", "c/all/shop-namespace", "c/all/web-service-other", "c/all/web-service"}, paths(t, app)); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestIncludeMistakes(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, tc := range map[string]struct {
		reason string
		from   chart.Source
		kind   string
		want   string
	}{
		"URL":       {"nothing is fetched", chart.Source{URL: "https://example.com/x.yaml"}, "", "curl -fsSL -o included.yaml https://example.com/x.yaml"},
		"PathURL":   {"nothing is fetched", chart.Source{Path: "https://example.com/x.yaml"}, "", "https://example.com/x.yaml is not fetched"},
		"Nothing":   {"no source", chart.Source{}, "", "set Path or Text"},
		"Missing":   {"a file that is not there", chart.Source{Path: "testdata/none.yaml"}, "", "testdata/none.yaml"},
		"Syntax":    {"no YAML", chart.Source{Text: object + "---\na: [\n"}, "", "the document at line 4"},
		"Twice":     {"a key that occurs twice", chart.Source{Text: object + "data: {}\ndata: {}\n"}, "", `"data" already set`},
		"Kind":      {"no object", chart.Source{Text: object + "---\na: b\n"}, "", "the document at line 4: it has no apiVersion or no kind"},
		"List":      {"a list of no objects", chart.Source{Text: "apiVersion: v1\nkind: List\nitems: [{a: b}]\n"}, "", "items[0]: it has no apiVersion"},
		"Scalar":    {"a string", chart.Source{Text: "hello\n"}, "", "it is a string, not an object"},
		"Object":    {"an object that was not included", chart.Source{Text: object}, "Secret", "Secret/a is not among the included objects: ConfigMap/a"},
		"Digest":    {"another file than the one that was checked", chart.Source{FS: fstest.MapFS{"a.yaml": {Data: []byte(object)}}, Path: "a.yaml", Digest: "sha256:00"}, "", "has the digest sha256:"},
		"Duplicate": {"an object that occurs twice", chart.Source{Text: object + "---\n" + object}, "", `"a-configmap" is there already`},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			i := chart.Include(chart.New(app, "c", chart.Props{}), "i", tc.from)
			if tc.kind != "" {
				i.Patch(tc.kind, "a", chart.Merge{With: map[string]any{}})
			}
			_, err := app.Synth()
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "include_test.go:") {
				t.Errorf("%s: the error is %v, want one of this file with %q", tc.reason, err, tc.want)
			}
		})
	}
}
