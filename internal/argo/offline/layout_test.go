package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func appAt(name, path string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: '" + name + "'}\nspec: {project: default, destination: {name: in-cluster}, " +
		"source: {repoURL: https://example.com/r.git, path: " + path + "}}\n"
}

func setAt(name, pattern string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: '" + name + "'}\nspec: {template: {}, " +
		"generators: [{matrix: {generators: [{git: {repoURL: https://example.com/r.git, directories: [{path: x, exclude: true}, {path: '" + pattern + "'}]}}]}}]}\n"
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// rootsOf are the places of the roots.
func rootsOf(dir string) ([]string, error) {
	roots, err := Layouts{}.Roots(dir, dir)
	var names []string
	for _, r := range roots {
		names = append(names, r.Path)
	}
	return names, err
}

func TestRoots(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []string
	}{
		"nothing": {reason: "a directory without Applications has no root", files: map[string]string{"a.yaml": manifest}},
		"root": {
			reason: "the Application that leads to all others is the root",
			files:  map[string]string{"root.yaml": appAt("root", "apps"), "apps/a.yaml": appAt("a", "work/a"), "work/a/x.yaml": manifest},
			want:   []string{"root.yaml"},
		},
		"deeper": {
			reason: "an Application in between is no root",
			files: map[string]string{
				"argocd/root.yaml": appAt("root", "apps"), "apps/a.yaml": appAt("a", "more"), "more/b.yaml": appAt("b", "work"), "work/x.yaml": manifest,
			},
			want: []string{"argocd/root.yaml"},
		},
		"declares itself": {
			reason: "a root that is among what it leads to is the root all the same",
			files:  map[string]string{"apps/root.yaml": appAt("root", "apps"), "apps/a.yaml": appAt("a", "work"), "work/x.yaml": manifest},
			want:   []string{"apps/root.yaml"},
		},
		"managed by its child": {
			reason: "an installation that manages itself leads back to its root; the one that leads to most is the root",
			files: map[string]string{
				"argocd/root.yaml": appAt("root", "argocd/apps"), "argocd/kustomization.yaml": "resources: [root.yaml]",
				"argocd/apps/argocd.yaml": appAt("argocd", "argocd"), "argocd/apps/sets.yaml": setAt("s", "work/*"), "work/a/x.yaml": manifest,
			},
			want: []string{"argocd/root.yaml"},
		},
		"listed": {
			reason: "the directory whose kustomization lists Applications is the root, not the one of their files",
			files: map[string]string{
				"argocd/kustomization.yaml": "resources: [apps/a.yaml, apps]", "argocd/apps/kustomization.yaml": "resources: [b.yaml]",
				"argocd/apps/a.yaml": appAt("a", "work/a"), "argocd/apps/b.yaml": appAt("b", "work/b"), "work/a/x.yaml": manifest, "work/b/x.yaml": manifest,
			},
			want: []string{"argocd"},
		},
		"by a kustomization": {
			reason: "what a kustomization leaves out is not led to",
			files: map[string]string{
				"root.yaml": appAt("root", "apps"), "apps/kustomization.yaml": "resources: [a.yaml, sub]", "apps/a.yaml": appAt("a", "work"),
				"apps/sub/kustomization.yaml": "resources: [b.yaml]", "apps/sub/b.yaml": appAt("b", "work"), "other.yaml": appAt("other", "work"),
			},
			want: []string{"root.yaml"},
		},
		"by a chart": {
			reason: "a chart whose templates are Applications is led to by a root",
			files: map[string]string{
				"root.yaml": appAt("root", "apps"), "apps/Chart.yaml": "name: apps", "apps/templates/a.yaml": "{{- range .Values.all }}\n" + appAt("{{ . }}", "x") + "{{- end }}\n",
			},
			want: []string{"root.yaml"},
		},
		"sets": {
			reason: "an ApplicationSet is led to, and leads to what is in its directories",
			files: map[string]string{
				"root.yaml": appAt("root", "sets"), "sets/s.yaml": setAt("s", "work/*"), "work/a/nested.yaml": appAt("n", "deep"), "deep/z.yaml": appAt("z", "nowhere"),
			},
			want: []string{"root.yaml"},
		},
		"several": {
			reason: "several roots are all candidates",
			files: map[string]string{
				"b/root.yaml": appAt("b", "b/apps"), "b/apps/x.yaml": appAt("x", "w"), "a/root.yaml": appAt("a", "a/apps"), "a/apps/y.yaml": setAt("y", "w/*"),
			},
			want: []string{"a/root.yaml", "b/root.yaml"},
		},
		"places of a tool": {
			reason: "sources with a scheme that only a tool knows lead to nothing here",
			files: map[string]string{
				"a.yaml":             strings.Replace(appAt("a", "."), "https://example.com/r.git", "tool://a/manifests", 1),
				"b.yaml":             strings.Replace(appAt("b", "."), "https://example.com/r.git", "tool://b/manifests", 1),
				"b/manifests/c.yaml": appAt("c", "work"), "work/x.yaml": manifest,
			},
			want: []string{"."},
		},
		"only leaves": {
			reason: "Applications that lead to nothing are applied together, from their directory",
			files:  map[string]string{"argocd/a.yaml": appAt("a", "work"), "argocd/s.yaml": setAt("s", "more/*"), "work/x.yaml": manifest},
			want:   []string{"argocd"},
		},
		"hidden": {reason: "hidden directories and templates are left alone", files: map[string]string{".old/root.yaml": appAt("r", "x"), "t.yaml": "argoproj.io/ {{ x }}"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tc.files)
			got, err := rootsOf(dir)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestBelow finds the root of a part of a working copy, whose paths are relative to all of it.
func TestBelow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/HEAD": "ref: refs/heads/main", "examples/x/root.yaml": appAt("root", "examples/x/apps"), "examples/x/apps/a.yaml": appAt("a", "examples/x/work"),
		"examples/x/work/x.yaml": "kind: ConfigMap",
	})
	at := filepath.Join(dir, "examples", "x")
	got, err := rootsOf(at)
	if diff := cmp.Diff([]string{"root.yaml"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	paths, err := Layouts{}.Paths(at)
	if diff := cmp.Diff([]string{"examples/x/work", "examples/x/apps"}, paths); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestTop(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"plain/a.yaml": appAt("a", "plain") + "---\nkind: ConfigMap\n", "plain/sub/b.yaml": appAt("b", "x"), "plain/n.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n",
		"built/kustomization.yaml": "resources: [a.yaml]", "built/a.yaml": appAt("a", "x"),
	})
	names := func(at string) (all []string) {
		objects, err := top(filepath.Join(dir, at))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			all = append(all, o.GetName())
		}
		return all
	}
	if diff := cmp.Diff([][]string{{"a", "extra"}, nil}, [][]string{names("plain"), names("built")}); diff != "" {
		t.Error(diff)
	}
	if _, err := top(filepath.Join(dir, "nope")); err == nil {
		t.Error("a directory that is not there is no error")
	}
	objects, err := top(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"https://example.com/r.git"}, repositories(objects, dir)); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string][]string{
		appAt("a", "."): {"https://example.com/r.git"},
		appAt("a", ".") + "---\n" + appAt("b", "."):                                                  nil,
		appAt("a", "plain") + "---\n" + appAt("b", "plain/sub"):                                      {"https://example.com/r.git"},
		appAt("a", "plain") + "---\n" + appAt("b", "other"):                                          nil,
		appAt("a", "plain") + "---\n" + appAt("b", "plain/sub") + "---\n" + appAt("c", "misspelled"): {"https://example.com/r.git"},
	} {
		if diff := cmp.Diff(want, repositories(Documents([]byte(text)), dir)); diff != "" {
			t.Errorf("the repositories of\n%s (-want +got):\n%s", text, diff)
		}
	}
	if got := repositories(objects, filepath.Join(dir, "plain")); got != nil || isRoot([]*unstructured.Unstructured{{Object: map[string]any{"kind": "Application"}}}) {
		t.Errorf("paths that are not there: %v", got)
	}
}

func TestFindSettings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"values.yaml":  "configs:\n  cm: {kustomize.buildOptions: --enable-helm}\n  params: {controller.diff.server.side: 'true'}\n",
		"other.yaml":   "configs: {x: 1}\n",
		"cluster.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: c, labels: {argocd.argoproj.io/secret-type: cluster}}\nstringData: {name: far, server: https://far.example.com}\n",
		"sealed.yaml":  "apiVersion: v1\nkind: Secret\nmetadata: {name: s, labels: {argocd.argoproj.io/secret-type: cluster}}\nsops: {}\nstringData: {name: 'ENC[a]', server: 'ENC[b]'}\n",
	})
	s, err := FindSettings(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Kustomize.BuildOptions != "--enable-helm" || !s.Compare.ServerSide {
		t.Errorf("the values of the chart are not read: %+v %+v", s.Kustomize, s.Compare)
	}
	if len(s.Clusters) != 1 || s.Clusters[0].Name != "far" {
		t.Errorf("clusters: %+v", s.Clusters)
	}
	write(t, dir, map[string]string{"cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {timeout.reconciliation: soon}\n"})
	if _, err := FindSettings(dir); err == nil {
		t.Error("a bad value is no error")
	}
}
