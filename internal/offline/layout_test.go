package offline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialects"
)

func unitAt(name, path string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + "}\nspec: {path: " + path + ", sourceRef: {kind: GitRepository, name: x}}\n"
}

func appAt(name, path string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec: {project: default, destination: {name: in-cluster}, " +
		"source: {repoURL: https://example.com/r.git, path: " + path + "}}\n"
}

func gitAt(name string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + "}\nspec: {url: https://example.com/r.git}\n---\n"
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
			files:  map[string]string{"a.yaml": manifest}, root: "nope", fails: `the root "nope" is not in `,
		},
		"mistyped": {
			reason: "what there is instead is named",
			files:  map[string]string{"clusters/prod/a.yaml": unitAt("a", "./apps")}, root: "clusters/prd", fails: "; there is clusters/prod",
		},
		"none": {
			reason: "a directory without units has none",
			files:  map[string]string{"a.yaml": manifest}, fails: "no directory contains Flux Kustomizations",
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
		"leads to all": {
			reason: "the unit that leads to all others is the root, wherever it is",
			files: map[string]string{
				"gitops/root.yaml": unitAt("root", "./apps"), "apps/one/ks.yaml": unitAt("one", "./work/one"), "apps/two/ks.yaml": unitAt("two", "./work/two"), "work/one/x.yaml": manifest,
			},
			want: Layout{Root: "gitops"},
		},
		"leads to itself": {
			reason: "a root that declares itself is applied as it is, not what it leads to",
			files: map[string]string{
				"kubernetes/flux/config/cluster.yaml":       gitAt("x") + unitAt("cluster", "./kubernetes/flux"),
				"kubernetes/flux/config/flux.yaml":          strings.Replace(unitAt("flux", "./"), "kind: GitRepository", "kind: OCIRepository", 1),
				"kubernetes/flux/config/kustomization.yaml": "resources: [flux.yaml, cluster.yaml]\n",
				"kubernetes/flux/apps.yaml":                 unitAt("cluster-apps", "./kubernetes/apps"),
				"kubernetes/apps/a/kustomization.yaml":      "resources: [one/ks.yaml]\n",
				"kubernetes/apps/a/one/ks.yaml":             unitAt("one", "./kubernetes/apps/a/one/app"),
				"kubernetes/apps/a/off/ks.yaml":             unitAt("off", "./kubernetes/apps/a/off/app"),
				"kubernetes/apps/a/one/app/x.yaml":          manifest,
			},
			want: Layout{Root: "kubernetes/flux/config/cluster.yaml"},
		},
		"leads to itself, in a folder": {
			reason: "it is found from a folder too",
			files: map[string]string{
				".git/HEAD": "", "kubernetes/flux/config/cluster.yaml": gitAt("x") + unitAt("cluster", "./kubernetes/flux"),
				"kubernetes/flux/apps.yaml": unitAt("cluster-apps", "./kubernetes/apps"), "kubernetes/apps/ks.yaml": unitAt("one", "./kubernetes/work"),
			},
			dir: "kubernetes", want: Layout{Repository: ".", Root: "kubernetes/flux/config/cluster.yaml"},
		},
		"bootstrapped": {
			reason: "a cluster that was bootstrapped begins with what its root builds",
			files: map[string]string{
				"fleet/a/flux-system/gotk-sync.yaml": gitAt("flux-system") + strings.NewReplacer("name: a}", "name: flux-system, namespace: flux-system}", "name: x}", "name: flux-system}").Replace(unitAt("a", "./fleet/a")),
				"fleet/a/apps.yaml":                  strings.Replace(unitAt("apps", "./apps"), "name: x}", "name: flux-system}", 1), "apps/x.yaml": manifest,
			},
			want: Layout{Root: "fleet/a"},
		},
		"several lead": {
			reason: "several that lead to others are no one root",
			files: map[string]string{
				"a/root.yaml": unitAt("a", "./a/apps"), "a/apps/ks.yaml": unitAt("c", "./x"), "b/root.yaml": unitAt("b", "./b/apps"), "b/apps/ks.yaml": unitAt("d", "./x"),
			},
			fails: "a\n  b",
		},
		"the best first": {
			reason: "known layouts at any depth come first, then what leads to more; what another one leads to is none",
			files: map[string]string{
				"a/one/ks.yaml": unitAt("a", "./work/a"), "k8s/apps/x/ks.yaml": unitAt("x", "./work/x"), "k8s/apps/y/ks.yaml": unitAt("y", "./work/y"), "k8s/roots/apps.yaml": unitAt("apps", "./k8s/apps"),
				"k8s/clusters/home/one.yaml": unitAt("home", "./work/home"), "work/x/x.yaml": manifest, "work/a/more.yaml": unitAt("more", "./work/x"),
			},
			fails: "the best first:\n  k8s/clusters/home\n  k8s/roots\n  a/one",
		},
		"several repositories": {
			reason: "in a directory of repositories, paths are relative to each of them",
			files: map[string]string{
				"examples/a/kubernetes/flux/cluster/ks.yaml": unitAt("a", "./kubernetes/apps"), "examples/a/kubernetes/apps/x/ks.yaml": unitAt("x", "./kubernetes/apps/x/app"),
				"examples/a/kubernetes/apps/x/app/x.yaml": manifest, "examples/b/flux/ks.yaml": unitAt("b", "./apps"), "examples/b/apps/ks.yaml": unitAt("y", "./work"),
				"examples/c/ks.yaml": unitAt("c", "./elsewhere"),
			},
			fails: "the best first:\n  examples/a/kubernetes/flux/cluster\n  examples/b/flux\n  examples/c",
		},
		"led by another dialect": {
			reason: "what the root of another dialect leads to is no root",
			files: map[string]string{
				"argocd/root.yaml": appAt("root", "declared"), "declared/ks.yaml": unitAt("a", "./work"), "work/x.yaml": manifest,
			},
			want: Layout{Root: "argocd"},
		},
		"led by a chain": {
			reason: "nor is what it leads to in several steps",
			files: map[string]string{
				"root.yaml": appAt("root", "apps"), "apps/a.yaml": appAt("a", "declared"), "declared/ks.yaml": unitAt("a", "./work"), "work/x.yaml": manifest,
			},
			want: Layout{Root: "root.yaml"},
		},
		"beside another dialect": {
			reason: "where neither leads to the other, the cluster begins with Kustomizations",
			files: map[string]string{
				"argocd/root.yaml": appAt("root", "apps"), "apps/a.yaml": appAt("a", "work"), "flux/ks.yaml": unitAt("a", "./work"), "work/x.yaml": manifest,
			},
			want: Layout{Root: "flux"},
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
			got, err := FindLayout(dialects.All(), filepath.Join(top, c.dir), c.root)
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
	if _, err := FindLayout(dialects.All(), t.TempDir(), ""); !errors.Is(err, ErrNoRoot) {
		t.Errorf("error %v, want ErrNoRoot", err)
	}
}
