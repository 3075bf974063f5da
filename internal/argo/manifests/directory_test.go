package manifests_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
)

func TestDirectory(t *testing.T) {
	cases := map[string]struct {
		reason, source string
		files          repo
		want, fails    string
	}{
		"top": {
			reason: "without recurse only the directory itself is read", source: "path: a",
			files: repo{"a/1.yaml": configMap("x"), "a/2.yml": configMap("z"), "a/b/3.yaml": configMap("below"), "a/4.txt": configMap("text")},
			want:  "ConfigMap//x ConfigMap//z",
		},
		"recurse": {
			reason: "with recurse, the ones below too, in the order of their paths", source: "path: a\ndirectory: {recurse: true}",
			files: repo{"a/c.yaml": configMap("x"), "a/b/3.yaml": configMap("below"), "a/b/c/d.json": `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "j"}}`},
			want:  "ConfigMap//below Secret//j ConfigMap//x",
		},
		"include": {
			reason: "an include with alternatives, which also match across directories", source: "path: .\ndirectory: {recurse: true, include: '{a*,b/*}.yaml'}",
			files: repo{"a1.yaml": configMap("a1"), "ab/c.yaml": configMap("abc"), "b/x.yaml": configMap("bx"), "c.yaml": configMap("c")},
			want:  "ConfigMap//a1 ConfigMap//abc ConfigMap//bx",
		},
		"exclude": {
			reason: "an exclude goes before an include", source: "path: .\ndirectory: {include: '*.yaml', exclude: '{b,c}.yaml'}",
			files: repo{"a.yaml": configMap("a"), "b.yaml": configMap("b"), "c.yaml": configMap("c")}, want: "ConfigMap//a",
		},
		"bad pattern": {
			reason: "a pattern that is none", source: "path: .\ndirectory: {include: '[a'}", files: repo{"a.yaml": ""},
			fails: `spec.source.directory.include: "[a" is not a pattern`,
		},
		"list": {
			reason: "lists become their items, and empty ones nothing", source: "path: .",
			files: repo{"l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n" +
				"apiVersion: v1\nkind: ConfigMapList\nitems:\n- {metadata: {name: c}}\n---\napiVersion: v1\nkind: ConfigMapList\nitems: null\n---\napiVersion: v1\nkind: List\nitems: []\n"},
			want: "Secret//s ConfigMap//c",
		},
		"list with something else": {
			reason: "an item that lacks something is named", source: "path: .",
			files: repo{"l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s}}\n- {apiVersion: v1, kind: Secret}\n"},
			fails: "spec.source: l.yaml: document 1 (List): item 1: metadata.name is missing",
		},
		"number in a label": {
			reason: "a mark would replace all labels of the object", source: "path: .",
			files: repo{"x.yaml": configMap("z") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels:\n    version: 2\n"},
			fails: `: x.yaml:11: document 2 (ConfigMap/x): metadata.labels: the value of "version" is not a string; quote it`,
		},
		"foreign": {
			reason: "files that are of something else are passed over", source: "path: .",
			files: repo{"values.yaml": "a: 1\n", "list.yaml": "[1, 2]\n", "tpl.yaml": "a: {{ .x }}\n", "empty.yaml": "", "comment.yaml": "# hello\n---\n", "x.yaml": configMap("x")},
			want:  "ConfigMap//x",
		},
		"broken": {
			reason: "a file that was meant for an object is an error", source: "path: .",
			files: repo{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .x }}}\n"}, fails: "spec.source: x.yaml: document 1: ",
		},
		"half": {
			reason: "so is one of which other documents are objects", source: "path: .",
			files: repo{"x.yaml": configMap("x") + "---\na: b: c\n"}, fails: "spec.source: x.yaml:6: it is not YAML: ",
		},
		"mixed": {
			reason: "and one with a document that is none", source: "path: .",
			files: repo{"x.yaml": configMap("x") + "---\na: b\n"}, fails: "spec.source: x.yaml: document 2: kind is missing",
		},
		"nameless": {
			reason: "an object without a name is named by file and document", source: "path: .",
			files: repo{"x.yaml": configMap("x") + "---\napiVersion: v1\nkind: Secret\nmetadata: {labels: {}}\n"}, fails: "spec.source: x.yaml: document 2 (Secret): metadata.name is missing",
		},
		"name that is no text": {
			reason: "y is a boolean in YAML", source: "path: .",
			files: repo{"x.yaml": configMap("y")}, fails: "metadata.name is not a string; quote it",
		},
		"without a version": {
			reason: "a kind alone is no object", source: "path: .", files: repo{"x.yaml": "kind: Secret\nmetadata: {name: x}\n"}, fails: "x.yaml: document 1 (Secret/x): apiVersion is missing",
		},
		"generated name": {
			reason: "a hook may have a generated name", source: "path: .",
			files: repo{"x.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: j-}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {generateName: j-}\n"}, want: "Job Job",
		},
		"marker": {
			reason: "the marker anywhere in a file has it left out", source: "path: .",
			files: repo{"x.yaml": "apiVersion: v1\nkind: Secret\n# +argocd:skip-file-rendering\n", "w.yaml": configMap("w")}, want: "ConfigMap//w",
		},
		"two in JSON": {
			reason: "a file of JSON holds one object", source: "path: .", files: repo{"x.json": "{}{}"}, fails: "spec.source: x.json: a JSON file may contain only one object",
		},
		"no JSON": {
			reason: "and is read strictly", source: "path: .", files: repo{"x.json": "{"}, fails: "spec.source: x.json: not JSON",
		},
		"link": {
			reason: "links are followed inside of the tree", source: "path: a\ndirectory: {recurse: true}",
			files: repo{"a/x.yaml": "-> ../b/y.yaml", "a/d": "-> ../b", "b/y.yaml": configMap("w")}, want: "ConfigMap//w",
		},
		"links in a circle": {
			reason: "and end", source: "path: a\ndirectory: {recurse: true}", files: repo{"a/a": "-> ."}, fails: "too many links",
		},
		"too much": {
			reason: "ten MiB together are the most", source: "path: .",
			files: repo{"a.yaml": "# " + strings.Repeat("a", 6<<20), "b.yaml": "# " + strings.Repeat("b", 6<<20)}, fails: "spec.source: b.yaml: with it the manifests exceed",
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) { check(t, one(t, tt.source, tt.files), tt.want, tt.fails) })
	}
}

func TestNumbers(t *testing.T) {
	got := check(t, one(t, "path: .", repo{"x.yaml": "apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec: {big: 9007199254740993, half: 0.5, octal: 0644}\n"}), "X//x", "")
	spec, _ := got.Objects[0].Object["spec"].(map[string]any)
	if spec["big"] != int64(9007199254740993) || spec["half"] != 0.5 || spec["octal"] != int64(420) {
		t.Errorf("numbers became %#v", spec)
	}
}

func TestJsonnet(t *testing.T) {
	object := func(name string) string {
		return `{apiVersion: "v1", kind: "ConfigMap", metadata: {name: ` + name + `}}`
	}
	cases := map[string]struct {
		reason, source string
		files          repo
		off            bool
		want, fails    string
	}{
		"object": {reason: "an object", source: "path: a", files: repo{"a/x.jsonnet": object(`"x"`)}, want: "ConfigMap//x"},
		"array": {
			reason: "an array of objects", source: "path: a", files: repo{"a/x.jsonnet": "[" + object(`"x"`) + "," + object(`"w"`) + "]"}, want: "ConfigMap//x ConfigMap//w",
		},
		"variables": {
			reason: "external variables and arguments, as text and as code, with variables of the build",
			source: "path: a\ndirectory: {jsonnet: {extVars: [{name: app, value: $ARGOCD_APP_NAME}, {name: c, value: '1 + 1', code: true}], tlas: [{name: t, value: x}, {name: u, value: '2 * 2', code: true}]}}",
			files:  repo{"a/x.jsonnet": "function(t, u) " + object(`std.join("-", [std.extVar("app"), std.toString(std.extVar("c")), t, std.toString(u)])`)},
			want:   "ConfigMap//shop-2-x-4",
		},
		"imports": {
			reason: "imports beside the file, and in libraries, whose paths begin at the root of the repository, the last one first",
			source: "path: a\ndirectory: {recurse: true, jsonnet: {libs: [lib, /vendor]}}",
			files: repo{
				"a/b/x.jsonnet":         "local n = import 'n.libsonnet', l = import 'l.libsonnet', v = import 'v.libsonnet', d = importstr 'd.txt'; " + object("n + l + v + d"),
				"a/b/n.libsonnet":       `"n"`,
				"lib/l.libsonnet":       `"l"`,
				"lib/v.libsonnet":       `"first"`,
				"a/lib/l.libsonnet":     `"beside"`,
				"vendor/v.libsonnet":    `"v"`,
				"a/d.txt":               "d",
				"elsewhere/l.libsonnet": `"no"`,
			},
			want: "ConfigMap//nlvd",
		},
		"import from outside": {
			reason: "an import that leaves the tree", source: "path: a", files: repo{"a/x.jsonnet": "import '../../etc/passwd'"}, fails: "is outside the source",
		},
		"absolute import": {
			reason: "or begins nowhere", source: "path: a", files: repo{"a/x.jsonnet": "import '/etc/passwd'"}, fails: "an import is relative to the importing file",
		},
		"library outside": {
			reason: "a library too", source: "path: a\ndirectory: {jsonnet: {libs: [../x]}}", files: repo{"a/x.jsonnet": "{}"},
			fails: `spec.source.directory.jsonnet.libs[0]: "../x": outside the repository`,
		},
		"broken": {
			reason: "an error names the file and the place", source: "path: a", files: repo{"a/x.jsonnet": "{\n  a: b\n}"}, fails: "spec.source: a/x.jsonnet: a/x.jsonnet:2:6-7 Unknown variable: b",
		},
		"endless": {
			reason: "a function that calls itself ends", source: "path: a", files: repo{"a/x.jsonnet": "local f(x) = f(x + 1) + 1; f(1)"}, fails: "max stack frames exceeded",
		},
		"nothing": {
			reason: "a text is no object", source: "path: a", files: repo{"a/x.jsonnet": `"x"`}, fails: "it must return an object or an array of objects",
		},
		"nameless": {
			reason: "an object of an array is named by its place", source: "path: a", files: repo{"a/x.jsonnet": "[" + object(`"x"`) + `, {kind: "X", apiVersion: "v1"}]`},
			fails: "spec.source: a/x.jsonnet: document 2 (X): metadata.name is missing",
		},
		"switched off": {reason: "Jsonnet may be switched off", source: "path: a", off: true, files: repo{"a/x.jsonnet": object(`"x"`), "a/w.yaml": configMap("w")}, want: "ConfigMap//w"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, tt.source, tt.files)
			request.Options.Jsonnet = !tt.off
			got := check(t, request, tt.want, tt.fails)
			if tt.off && len(got.Problems) != 1 {
				t.Errorf("problems: %q", got.Problems)
			}
		})
	}
}

func TestImportsAreReads(t *testing.T) {
	files := repo{"a/x.jsonnet": `(import "l.libsonnet") + {metadata: {name: "x"}}`, "lib/l.libsonnet": `{apiVersion: "v1", kind: "ConfigMap"}`}
	request := one(t, "path: a\ndirectory: {jsonnet: {libs: [/lib]}}", files)
	got := check(t, request, "ConfigMap//x", "")
	for change, want := range map[string]bool{"other.txt": true, "a/l.libsonnet": false, "lib/l.libsonnet": false} {
		after := request.Sources[0]
		after.Tree = files.with(repo{change: "{}"}).tree(t)
		if unchanged := got.Unchanged([]manifests.Source{after}); unchanged != want {
			t.Errorf("with another %s: unchanged %v, want %v", change, unchanged, want)
		}
	}
}

func TestSlowJsonnet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	request := one(t, "path: .", repo{"x.jsonnet": "std.foldl(function(a, b) a + b, std.range(1, 1000000), 0)"})
	if _, err := manifests.New().Render(ctx, request); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
