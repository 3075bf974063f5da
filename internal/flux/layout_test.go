package flux

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unitAt(name, path string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + "}\nspec: {path: " + path + ", sourceRef: {kind: GitRepository, name: x}}\n"
}

func TestFindLayout(t *testing.T) {
	const manifest = "kind: ConfigMap\n"
	cases := map[string]struct {
		reason    string
		files     map[string]string
		dir, root string
		want      Layout
		fails     string
	}{
		"cluster": {
			reason: "the one cluster of a fleet is its root",
			files:  map[string]string{"clusters/prod/flux-system/sync.yaml": unitAt("a", "./apps"), "apps/x.yaml": manifest},
			want:   Layout{Root: "clusters/prod"},
		},
		"several clusters": {
			reason: "several are listed",
			files:  map[string]string{"clusters/prod/a.yaml": unitAt("a", "./apps"), "clusters/staging/a.yaml": unitAt("a", "./apps")},
			fails:  "clusters/prod\n  clusters/staging",
		},
		"named": {
			reason: "a root that is named needs no search",
			files:  map[string]string{"clusters/prod/a.yaml": unitAt("a", "./apps"), "clusters/staging/a.yaml": unitAt("a", "./apps")},
			root:   "./clusters/staging/", want: Layout{Root: "clusters/staging"},
		},
		"missing": {
			reason: "a root that is named and is not there is an error",
			files:  map[string]string{"a.yaml": manifest}, root: "nope", fails: `looking for the root "nope"`,
		},
		"none": {
			reason: "a directory without units has none",
			files:  map[string]string{"a.yaml": manifest}, fails: "no directory holds Flux Kustomizations",
		},
		"file": {
			reason: "a file is no repository",
			files:  map[string]string{"a.yaml": manifest}, dir: "a.yaml", fails: "a.yaml: not a directory",
		},
		"nothing": {
			reason: "nothing is none either",
			files:  map[string]string{"a.yaml": manifest}, dir: "nope", fails: "nope: no such file or directory",
		},
		"topmost": {
			reason: "elsewhere the topmost directory with units is the root",
			files:  map[string]string{"deploy/a.yaml": unitAt("a", "./x"), "deploy/below/b.yaml": unitAt("b", "./x"), ".hidden/c.yaml": unitAt("c", "./x")},
			want:   Layout{Root: "deploy"},
		},
		"folder of a working copy": {
			reason: "paths that are those of the working copy have it served as a whole",
			files:  map[string]string{".git/HEAD": "", "infra/flux/a.yaml": unitAt("a", "./infra/apps"), "infra/apps/x.yaml": manifest},
			dir:    "infra", want: Layout{Repository: ".", Root: "infra/flux"},
		},
		"folder on its own": {
			reason: "paths that are those of the folder have it served alone",
			files:  map[string]string{".git/HEAD": "", "infra/flux/a.yaml": unitAt("a", "./apps"), "infra/apps/x.yaml": manifest},
			dir:    "infra", want: Layout{Repository: "infra", Root: "flux"},
		},
		"folder, named": {
			reason: "a root that is named is relative to the folder",
			files:  map[string]string{".git/HEAD": "", "infra/flux/a.yaml": unitAt("a", "./infra/apps"), "infra/apps/x.yaml": manifest},
			dir:    "infra", root: "flux", want: Layout{Repository: ".", Root: "infra/flux"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for name, text := range c.files {
				file := filepath.Join(top, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := FindLayout(filepath.Join(top, c.dir), c.root)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("%s: error %v, want one with %q", c.reason, err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			c.want.Repository = filepath.Join(top, c.want.Repository)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if _, err := FindLayout(t.TempDir(), ""); !errors.Is(err, ErrNoRoot) {
		t.Errorf("error %v, want ErrNoRoot", err)
	}
}
