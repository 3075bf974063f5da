package render_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/source"
)

func tree(t testing.TB, files map[string]string) *source.Tree {
	t.Helper()
	var list []*source.File
	for name, text := range files {
		if target, link := strings.CutPrefix(text, "-> "); link {
			list = append(list, source.NewLink(name, target))
			continue
		}
		list = append(list, source.NewFile(name, 0o644, []byte(text)))
	}
	built, err := source.NewTree(list)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {k: %q}\n", name, value)
}

// names renders and lists kind/namespace/name of what came out.
func names(t testing.TB, files map[string]string, o render.Options) ([]string, error) {
	t.Helper()
	result, err := render.New().Build(context.Background(), tree(t, files), o)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, u := range result.Objects {
		list = append(list, strings.Trim(u.GetKind()+"/"+u.GetNamespace()+"/"+u.GetName(), "/"))
	}
	return list, nil
}

// laughs is YAML of a few lines whose aliases stand for ten to the ninth nodes.
func laughs() string {
	text := "apiVersion: v1\nkind: Thing\nmetadata: {name: x}\ndata:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for last := "a"; len(last) < 9; last += "a" {
		text += "  " + last + "a: &" + last + "a [" + strings.TrimSuffix(strings.Repeat("*"+last+", ", 10), ", ") + "]\n"
	}
	return text
}

// indented is a text as a block in YAML.
func indented(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func TestBuild(t *testing.T) {
	cases := map[string]struct {
		reason  string
		files   map[string]string
		options render.Options
		want    string
		fails   string
	}{
		"plain directory": {
			reason:  "manifests without a kustomization are found in the directory and below",
			files:   map[string]string{"a/x.yaml": configMap("x", "1"), "a/b/y.yml": configMap("y", "2"), "a/README.md": "no"},
			options: render.Options{Path: "./a", TargetNamespace: "ns"},
			want:    "ConfigMap/ns/y ConfigMap/ns/x",
		},
		"number in a label": {
			reason: "whatever sets another label would replace all of them",
			files: map[string]string{
				"a/kustomization.yaml": "namePrefix: p-\nresources: [x.yaml]\n",
				"a/x.yaml":             configMap("y", "1") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels:\n    app: x\n    version: 2\n",
			},
			options: render.Options{Path: "a"},
			fails:   `a/x.yaml:12: ConfigMap/p-x: metadata.labels: the value of "version" is not a string; quote it`,
		},
		"number in a label of an item": {
			reason: "items of lists have marks too",
			files:  map[string]string{"x.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x, labels: {tested: true}}\n"},
			fails:  `x.yaml:6: ConfigMap/x: metadata.labels: the value of "tested" is not a string; quote it`,
		},
		"number by a variable": {
			reason:  "the file has a string, and the object has none",
			files:   map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {port: \"${port}\"}}\n"},
			options: render.Options{Substitute: &substitute.Options{Variables: map[string]string{"port": "80"}}},
			fails:   `ConfigMap/x: metadata.labels: the value of "port" is not a string; quote it`,
		},
		"stray fields": {
			reason: "Flux ignores fields that kustomize does not know in the kustomization of the unit",
			files: map[string]string{
				"kustomization.yaml": "resources: [x.yaml]\ndescription: what this is for\nimages: [{name: i, namespace: x}]\n",
				"x.yaml":             configMap("x", "1"),
			},
			options: render.Options{Stray: func(*render.Error) {}},
			want:    "ConfigMap//x",
		},
		"stray field": {
			reason: "kustomize itself refuses them",
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\nresource: [y.yaml]\n", "x.yaml": configMap("x", "1")},
			fails:  `kustomization.yaml:2: resource: unknown field; did you mean "resources"?`,
		},
		"stray field in a base": {
			reason:  "kustomize refuses them, and Flux does not write the base",
			files:   map[string]string{"kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": "resources: [x.yaml]\ndescription: x\n", "b/x.yaml": configMap("x", "1")},
			options: render.Options{Stray: func(*render.Error) {}},
			fails:   "b/kustomization.yaml:2: description: unknown field",
		},
		"field that is known elsewhere": {
			reason: "a field is not suggested instead of itself",
			files:  map[string]string{"kustomization.yaml": "images:\n- name: i\n  namespace: x\n"},
			fails:  "kustomization.yaml:3: namespace: unknown field at this level",
		},
		"own kustomization below": {
			reason: "a directory with a kustomization of its own is built as one",
			files: map[string]string{
				"b/kustomization.yaml": "resources: [y.yaml]\nnamePrefix: p-\n", "b/y.yaml": configMap("y", "2"), "b/z.yaml": configMap("z", "2"),
			},
			want: "ConfigMap//p-y",
		},
		"empty": {
			reason: "a directory without manifests renders to nothing",
			files:  map[string]string{"a/README.md": "x"}, options: render.Options{Path: "a"}, want: "",
		},
		"nothing but a missing file": {
			reason: "a file that a kustomization names has to be there, also when there is nothing to build",
			files:  map[string]string{"kustomization.yaml": "configurations: [nope.yaml]\n"}, fails: "kustomization.yaml: open nope.yaml: file does not exist",
		},
		"nothing but settings": {
			reason: "one that is there makes nothing of nothing",
			files:  map[string]string{"kustomization.yaml": "configurations: [c.yaml]\n", "c.yaml": "namePrefix: []\n"}, want: "",
		},
		"missing path": {
			reason: "a path that does not exist is named",
			files:  map[string]string{"a/x.yaml": configMap("x", "1")}, options: render.Options{Path: "./b"},
			fails: `path "./b": kustomization path not found`,
		},
		"broken YAML": {
			reason: "the file of a syntax error is named",
			files:  map[string]string{"x.yaml": "a: b: c"}, fails: "x.yaml",
		},
		"leaving the tree": {
			reason: "a path out of the source is refused and named",
			files:  map[string]string{"a/kustomization.yaml": "resources: [../../etc]\n"}, options: render.Options{Path: "a"},
			fails: "outside the source",
		},
		"link out of the tree": {
			reason: "a symbolic link out of the source is refused and named",
			files:  map[string]string{"a/x.yaml": "-> ../../etc/passwd"}, options: render.Options{Path: "a"},
			fails: `symbolic link "a/x.yaml"`,
		},
		"link inside": {
			reason: "a symbolic link inside the source is followed",
			files:  map[string]string{"a/x.yaml": "-> ../b.yaml", "b.yaml": configMap("x", "1")}, options: render.Options{Path: "a"},
			want: "ConfigMap//x",
		},
		"two kustomizations": {
			reason: "two kustomization files in one directory are an error",
			files:  map[string]string{"kustomization.yaml": "", "Kustomization": ""}, fails: "keep one of them",
		},
		"charts": {
			reason: "charts in a kustomization are refused with a hint",
			files:  map[string]string{"kustomization.yaml": "helmCharts: [{name: x}]\n"}, fails: "use a HelmRelease",
		},
		"missing component": {
			reason: "a missing component is named",
			files:  map[string]string{"x.yaml": configMap("x", "1")}, options: render.Options{Components: []string{"../c"}},
			fails: `outside the source`,
		},
		"missing component ignored": {
			reason:  "missing components may be ignored",
			files:   map[string]string{"a/x.yaml": configMap("x", "1")},
			options: render.Options{Path: "a", Components: []string{"../c"}, IgnoreMissingComponents: true},
			want:    "ConfigMap//x",
		},
		"undefined variable": {
			reason:  "an undefined variable names the object and the variable",
			files:   map[string]string{"x.yaml": configMap("x", "${A} ${B:=c} ${C}")},
			options: render.Options{Substitute: &substitute.Options{Strict: true, Always: true}},
			fails:   "ConfigMap/x: variable not set (strict mode): \"A\", \"C\"",
		},
		"duplicate": {
			reason: "two objects of one name are an error",
			files:  map[string]string{"x.yaml": configMap("x", "1"), "y.yaml": configMap("x", "2")}, fails: "may not add resource",
		},
		"path through a link": {
			reason:  "what the unit declares is laid over the directory that its path leads to",
			files:   map[string]string{"real/kustomization.yaml": "resources: [x.yaml]", "real/x.yaml": configMap("x", "1"), "l": "-> real"},
			options: render.Options{Path: "l", NamePrefix: "p-"}, want: "ConfigMap//p-x",
		},
		"missing entry of a base": {
			reason:  "the kustomization to change is named, however deep it is",
			files:   map[string]string{"a/kustomization.yaml": "resources: [b]", "a/b/kustomization.yaml": "resources: [nope.yaml]"},
			options: render.Options{Path: "a"}, fails: `a/b/kustomization.yaml: entry "nope.yaml": a/b/nope.yaml: no such file or directory`,
		},
		"entry without a kustomization": {
			reason: "a directory that is no base is named",
			files:  map[string]string{"kustomization.yaml": "resources: [b]", "b/x.yaml": configMap("x", "1")},
			fails:  `kustomization.yaml: entry "b": the directory has no kustomization.yaml`,
		},
		"bases in a circle": {
			reason:  "a circle of bases is told from the one that closes it",
			files:   map[string]string{"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]"},
			options: render.Options{Path: "a"}, fails: `b/kustomization.yaml: entry "../a": cycle detected`,
		},
		"chart in a base": {
			reason:  "the base that asks for a chart is named",
			files:   map[string]string{"a/kustomization.yaml": "resources: [b]", "a/b/kustomization.yaml": "helmCharts: [{name: x}]"},
			options: render.Options{Path: "a"}, fails: `a/b/kustomization.yaml: `,
		},
		"syntax error below": {
			reason: "the file and the line of a syntax error are named",
			files:  map[string]string{"sub/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n bad: y\n"},
			fails:  "sub/x.yaml:5: it is not YAML: did not find expected key",
		},
		"syntax error in another document": {
			reason: "the line is that of the file",
			files:  map[string]string{"x.yaml": configMap("x", "1") + "---\nkind: ConfigMap\nmetadata:\n\tname: x\n"}, fails: "x.yaml:8: it is not YAML: a tab; YAML is indented with spaces",
		},
		"syntax error in a base": {
			reason: "a kustomization that is no YAML is named with its line",
			files:  map[string]string{"kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": "resources:\n- a\n b\n- : c: d\n"},
			fails:  "b/kustomization.yaml:4: it is not YAML: ",
		},
		"unknown field": {
			reason: "a field of a kustomization is named with its line, and with what was meant",
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\nimagez: []\n", "x.yaml": configMap("x", "1")},
			fails:  `kustomization.yaml:2: imagez: unknown field; did you mean "images"?`,
		},
		"unknown field in a base": {
			reason: "so is one of a base",
			files:  map[string]string{"kustomization.yaml": "resources: [b]", "b/kustomization.yaml": "resources: [x.yaml]\npatches:\n- pth: a\n", "b/x.yaml": configMap("x", "1")},
			fails:  `b/kustomization.yaml:3: pth: unknown field; did you mean "path"?`,
		},
		"no manifest": {
			reason: "a YAML file that is no object is named",
			files:  map[string]string{"x.yaml": configMap("x", "1"), "values.yaml": "a: b\n"}, fails: "values.yaml: not a Kubernetes object",
		},
		"key twice": {
			reason: "the key is named, and no value is shown",
			files:  map[string]string{"x.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {k: a, k: b}\n"},
			fails:  `x.yaml:4: Secret/x: mapping key "k" already defined`,
		},
		"key twice in another document": {
			reason: "the file and its line are named, whatever the object is called in the end",
			files: map[string]string{
				"kustomization.yaml": "namePrefix: a-\nresources: [w.yaml, x.yaml]\n", "w.yaml": configMap("w", "1"),
				"x.yaml": configMap("y", "1") + "---\nkind: ConfigMap\napiVersion: v1\nmetadata:\n  name: x\ndata:\n  k: a\n  l: b\n  k: c\n",
			},
			fails: `x.yaml:13: ConfigMap/a-x: mapping key "k" already defined`,
		},
		"kind from a variable without value": {
			reason:  "an object that loses its kind is named, and no value is shown",
			files:   map[string]string{"x.yaml": "apiVersion: v1\nkind: ${X}\nmetadata: {name: x}\n"},
			options: render.Options{Substitute: &substitute.Options{Always: true}}, fails: "${X}/x: kind is missing or not a string",
		},
		"aliases": {
			reason: "aliases that multiply are refused before they are replaced",
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\n", "x.yaml": laughs()},
			fails:  "x.yaml: its YAML aliases expand to too much",
		},
		"aliases without a kustomization": {
			reason: "that holds where the kustomization is generated",
			files:  map[string]string{"x.yaml": laughs()}, fails: "aliases expand to too much",
		},
		"aliases in a patch": {
			reason: "a patch is YAML in YAML",
			files: map[string]string{
				"kustomization.yaml": "resources: [x.yaml]\npatches:\n- patch: |\n" + indented(laughs()), "x.yaml": configMap("x", "1"),
			},
			fails: "its YAML aliases expand to too much",
		},
		"alias of itself": {
			reason: "an anchor that contains its alias would be replaced for ever",
			files:  map[string]string{"kustomization.yaml": "resources: [x.yaml]\n", "x.yaml": configMap("x", "1") + "more: &a {b: *a}\n"},
			fails:  `anchor "a" contains itself`,
		},
		"some aliases": {
			reason: "people use aliases",
			files:  map[string]string{"x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: &l {app: x}, annotations: *l}\n"},
			want:   "ConfigMap//x",
		},
		"deep": {
			reason: "brackets in brackets are bounded by the parser",
			files:  map[string]string{"x.yaml": configMap("x", "1") + "more: " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000)},
			fails:  "exceeded max depth",
		},
		"list": {
			reason: "a List becomes its items",
			files:  map[string]string{"x.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"},
			want:   "ConfigMap//a ConfigMap//b",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := names(t, c.files, c.options)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%s: error %v, want one with %q", c.reason, err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, text, c.want)
			}
		})
	}
}

// TestSchemaOfABase merges a list by the key that the schema of a base gives, while other builds run.
func TestSchemaOfABase(t *testing.T) {
	team := func(members string) string {
		return "apiVersion: e.io/v1\nkind: Team\nmetadata: {name: t}\nspec: {members: [" + members + "]}"
	}
	files := map[string]string{
		"kustomization.yaml":   "resources: [b]\npatches: [{path: p.yaml}]",
		"p.yaml":               team("{name: b}"),
		"b/kustomization.yaml": "resources: [x.yaml]\n",
		"b/x.yaml":             team("{name: a}"),
		"b/s.json": `{"definitions": {"io.e.v1.Team": {"type": "object", "x-kubernetes-group-version-kind": [{"group": "e.io", "version": "v1", "kind": "Team"}],
			"properties": {"spec": {"type": "object", "properties": {"members": {"type": "array", "x-kubernetes-patch-merge-key": "name",
			"x-kubernetes-patch-strategy": "merge", "items": {"type": "object"}}}}}}}}`,
	}
	plain, schema := tree(t, files), maps.Clone(files)
	schema["b/kustomization.yaml"] += "openapi: {path: s.json}\n"
	with := tree(t, schema)
	renderer := render.New()
	members := func(source *source.Tree) (int, error) {
		result, err := renderer.Build(t.Context(), source, render.Options{})
		if err != nil {
			return 0, err
		}
		list, _, err := unstructured.NestedSlice(result.Objects[0].Object, "spec", "members")
		return len(list), err
	}
	var builds errgroup.Group
	for i := range 20 {
		source, want := plain, 1
		if i%4 == 0 {
			source, want = with, 2
		}
		builds.Go(func() error {
			if got, err := members(source); err != nil || got != want {
				return fmt.Errorf("build %d has %d members (%w), want %d", i, got, err, want)
			}
			return nil
		})
	}
	if err := builds.Wait(); err != nil {
		t.Error(err)
	}
}

func TestReadsUnchanged(t *testing.T) {
	files := map[string]string{"a/x.yaml": configMap("x", "1"), "b/y.yaml": configMap("y", "1")}
	result, err := render.New().Build(context.Background(), tree(t, files), render.Options{Path: "a"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		change func(map[string]string)
		want   bool
	}{
		"other file":  {"a file that was not read does not matter", func(f map[string]string) { f["b/y.yaml"] = "z" }, true},
		"read file":   {"a file that was read matters", func(f map[string]string) { f["a/x.yaml"] = "z" }, false},
		"new file":    {"a new file in a listed directory matters", func(f map[string]string) { f["a/n.yaml"] = "z" }, false},
		"new overlay": {"a kustomization that appears matters", func(f map[string]string) { f["a/kustomization.yaml"] = "z" }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			changed := map[string]string{}
			for k, v := range files {
				changed[k] = v
			}
			c.change(changed)
			if got := result.Reads.Unchanged(tree(t, changed)); got != c.want {
				t.Errorf("%s: Unchanged is %v, want %v", c.reason, got, c.want)
			}
		})
	}
}

// FuzzBuild searches for files on which a build panics, or whose builds differ.
func FuzzBuild(f *testing.F) {
	f.Add("resources: [x.yaml]", configMap("x", "1"))
	f.Add("configMapGenerator: [{name: a, files: [x.yaml]}]", "a")
	f.Add("resources: [x.yaml]\npatches: [{path: x.yaml}]\nreplacements: [{source: {kind: A}}]", configMap("x", "${A}"))
	f.Add("components: [../..]", "- a")
	f.Fuzz(func(t *testing.T, kustomization, manifest string) {
		if strings.Contains(kustomization, "/") || strings.Contains(kustomization, "git") {
			t.Skip("it may name something to be fetched")
		}
		source := tree(t, map[string]string{"kustomization.yaml": kustomization, "x.yaml": manifest})
		options := render.Options{NoRemoteBases: true, Substitute: &substitute.Options{Always: true}}
		first, err := render.New().Build(t.Context(), source, options)
		second, again := render.New().Build(t.Context(), source, options)
		switch {
		case (err == nil) != (again == nil):
			t.Errorf("first %v, then %v", err, again)
		case err == nil && first.Digest != second.Digest:
			t.Error("two builds of the same differ")
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	files := map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a", "1") + "---\n" + configMap("b", "1") + "---\n" +
		configMap("c", "1") + "---\n" + configMap("d", "1") + "---\n" + configMap("e", "1")}
	source := tree(b, files)
	renderer := render.New()
	for b.Loop() {
		if _, err := renderer.Build(context.Background(), source, render.Options{TargetNamespace: "x"}); err != nil {
			b.Fatal(err)
		}
	}
}
