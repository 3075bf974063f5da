package console_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/offline"
)

// TestRootObjects applies everything at the top of a directory with Applications, or leaves the directory to a unit that renders all of it.
func TestRootObjects(t *testing.T) {
	const (
		app       = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {source: {repoURL: 'https://git.example/r.git', path: app}}\n"
		unit      = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec: {path: ./app, sourceRef: {kind: GitRepository, name: flux-system}}\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n"
	)
	catalogue := dialect.Catalogue{&flux.Dialect{}, &argo.Dialect{}}
	for name, c := range map[string]struct {
		reason string
		files  map[string]string
		want   []string
		urls   []string
	}{
		"Applications": {
			"what is beside Applications is applied with them, namespaces first",
			map[string]string{"a.yaml": app, "n.yaml": namespace, "values.yaml": "a: 1\n"},
			[]string{"Namespace/extra", "Application/argocd/web"},
			[]string{"https://git.example/r.git"},
		},
		"mixed": {
			"units of Flux among them: one of Flux renders everything",
			map[string]string{"a.yaml": app, "k.yaml": unit, "n.yaml": namespace},
			nil,
			[]string{"https://git.example/r.git"},
		},
		"a kustomization": {
			"one renders it, and the repository that is listed is this one",
			map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": app},
			nil,
			[]string{"https://git.example/r.git"},
		},
		"units": {"a directory of units alone", map[string]string{"k.yaml": unit}, nil, nil},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "app"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "root"), 0o750); err != nil {
			t.Fatal(err)
		}
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, "root", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		layout := offline.Layout{Repository: dir, Root: "root"}
		objects, err := console.RootObjects(catalogue, layout)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range objects {
			got = append(got, engine.IDOf(o).String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
		if diff := cmp.Diff(c.urls, (console.Place{Layout: layout, Objects: objects}).Adopted(catalogue, nil)); diff != "" {
			t.Errorf("%s: repositories (-want +got):\n%s", name, diff)
		}
	}
}
