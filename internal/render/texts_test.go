package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestTexts(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		paths  []string
		want   []string
	}{
		"directory": {"everything below it", map[string]string{"a/x.yaml": "x", "a/b/y.yaml": "y", "c.yaml": "c"}, []string{"./a"}, []string{"x", "y"}},
		"root":      {"the tree", map[string]string{"x.yaml": "x"}, []string{""}, []string{"x"}},
		"all":       {"without a path, all files", map[string]string{"kustomization.yaml": "resources: []", "a/x.yaml": "x"}, nil, []string{"resources: []", "x"}},
		"missing":   {"there is nothing", map[string]string{"x.yaml": "x"}, []string{"a"}, nil},
		"kustomization": {
			"what it names, wherever that is",
			map[string]string{
				"a/kustomization.yaml": "resources: [x.yaml, ../base]\npatches:\n- path: p.yaml\n", "a/x.yaml": "x", "a/p.yaml": "p", "a/no.yaml": "no",
				"base/kustomization.yaml": "resources:\n- y.yaml\nconfigMapGenerator:\n- files: [k=z.txt]\n", "base/y.yaml": "y", "base/z.txt": "z",
			},
			[]string{"a"},
			[]string{
				"p", "resources:\n- y.yaml\nconfigMapGenerator:\n- files: [k=z.txt]\n", "resources: [x.yaml, ../base]\npatches:\n- path: p.yaml\n", "x", "y", "z",
			},
		},
		"broken":     {"a mistake hides nothing", map[string]string{"a/kustomization.yaml": "resources:\n - x.yaml\n\t- y.yaml: [", "a/x.yaml": "x", "a/y.yaml:": "y"}, []string{"a"}, []string{"resources:\n - x.yaml\n\t- y.yaml: [", "x", "y"}},
		"circle":     {"each is read once", map[string]string{"a/kustomization.yaml": "resources: [../a, ., ../b]", "b/kustomization.yaml": "- ../a"}, []string{"a"}, []string{"- ../a", "resources: [../a, ., ../b]"}},
		"leaves":     {"nothing outside the tree", map[string]string{"a/kustomization.yaml": "- ../../x.yaml", "x.yaml": "x"}, []string{"a"}, []string{"- ../../x.yaml"}},
		"components": {"several paths", map[string]string{"a/x.yaml": "x", "c/y.yaml": "y"}, []string{"a", "a/../c"}, []string{"x", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			var files []*source.File
			for p, text := range tc.files {
				files = append(files, source.NewFile(p, 0o644, []byte(text)))
			}
			tree, err := source.NewTree(files)
			if err != nil {
				t.Fatal(err)
			}
			got := Texts(tree, tc.paths...)
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}
