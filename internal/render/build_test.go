package render_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
			fails: "outside of the source",
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
			fails: `outside of the source`,
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
			fails:   "ConfigMap/x: variables are not defined and have no default: A, C",
		},
		"duplicate": {
			reason: "two objects of one name are an error",
			files:  map[string]string{"x.yaml": configMap("x", "1"), "y.yaml": configMap("x", "2")}, fails: "may not add resource",
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
