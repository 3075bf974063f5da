package installation

import (
	"bytes"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// The manifests beside the chart are what it renders, and the kustomization lists every definition.
func TestManifests(t *testing.T) {
	serve, err := dialects.All().Parse([]string{"flux"})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(t.Context(), Options{Serve: serve, WithoutDefinitions: true})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		want.WriteString("---\n")
		want.Write(data)
	}
	got, err := os.ReadFile("../../deploy/headgate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ = bytes.Cut(got, []byte("\n"))
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("deploy/headgate.yaml is not what the chart renders; try: make generate\n%s", diff)
	}
	list, err := os.ReadFile("../../deploy/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.Unmarshal(list, &kustomization); err != nil {
		t.Fatal(err)
	}
	definitions, err := deploy.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir("../../deploy/chart/crds")
	if err != nil || len(files) != len(definitions) {
		t.Fatalf("%d files, %d definitions: %v", len(files), len(definitions), err)
	}
	for _, f := range files {
		if !slices.Contains(kustomization.Resources, path.Join("chart/crds", f.Name())) {
			t.Errorf("deploy/kustomization.yaml lacks %s", f.Name())
		}
	}
}
