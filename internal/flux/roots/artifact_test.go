package roots_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/flux/roots"
)

// TestFindArtifact finds out whether a repository is deployed as an OCI artifact of the name of the root, and which directory of it is pushed.
func TestFindArtifact(t *testing.T) {
	reader := func(kind, name, dir string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: " + dir + ", sourceRef: {kind: " + kind + ", name: " + name + "}}\n"
	}
	instance := func(kind, dir string) string {
		return "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\nspec: {sync: {kind: " + kind + ", url: 'oci://registry.example.org/fleet', ref: latest, path: " + dir + "}}\n"
	}
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		root   string
		dir    string
		found  bool
	}{
		"Git":           {"units read the GitRepository", map[string]string{"clusters/a/apps.yaml": reader("GitRepository", "flux-system", "./apps"), "apps/x.yaml": ""}, "clusters/a", "", false},
		"Another":       {"units read an OCIRepository of another name", map[string]string{"clusters/a/apps.yaml": reader("OCIRepository", "charts", "./apps"), "apps/x.yaml": ""}, "clusters/a", "", false},
		"Whole":         {"the repository is pushed", map[string]string{"clusters/a/apps.yaml": reader("OCIRepository", "flux-system", "./apps"), "apps/x.yaml": ""}, "clusters/a", ".", true},
		"Directory":     {"a directory of it is pushed", map[string]string{"deploy/clusters/a/apps.yaml": reader("OCIRepository", "flux-system", "apps"), "deploy/apps/x.yaml": ""}, "deploy/clusters/a", "deploy", true},
		"Instance":      {"a FluxInstance makes it", map[string]string{"clusters/a/flux.yaml": instance("OCIRepository", "clusters/a")}, "clusters/a", ".", true},
		"Instance, Git": {"a FluxInstance reads Git", map[string]string{"clusters/a/flux.yaml": instance("GitRepository", "clusters/a")}, "clusters/a", "", false},
		"Elsewhere":     {"the paths are of other files", map[string]string{"clusters/a/apps.yaml": reader("OCIRepository", "flux-system", "./other")}, "clusters/a", ".", false},
	} {
		t.Run(name, func(t *testing.T) {
			repository := t.TempDir()
			for name, text := range tc.files {
				at := filepath.Join(repository, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if dir, found := roots.FindArtifact(repository, tc.root); found != tc.found || found && dir != tc.dir {
				t.Errorf("%s: directory %q, %t", tc.reason, dir, found)
			}
		})
	}
}
