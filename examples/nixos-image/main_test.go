package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
)

// TestFiles compares what is described with the files beside it, as the units apply them: both say the same.
func TestFiles(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	describe(app)
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range result.Charts {
		described := map[string]any{}
		for _, m := range c.Manifests {
			object := parse(t, m.YAML())
			described[id(object)] = object
		}
		if diff := cmp.Diff(built(t, c.Path), described, durations); diff != "" {
			t.Errorf("%s (-files +described):\n%s", c.Path, diff)
		}
	}
}

// built are the objects of a directory, by kind and name.
func built(t *testing.T, dir string) map[string]any {
	t.Helper()
	disk := filesys.MakeFsOnDisk()
	if _, err := os.Stat(filepath.Join(dir, "kustomization.yaml")); err != nil {
		dir = withKustomization(t, dir)
	}
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]any{}
	for _, one := range all.Resources() {
		text, err := one.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object := parse(t, text)
		if object["kind"] == "Object" {
			// Kustomize does not know that the kind has no namespace; the engine does.
			metadata, _ := object["metadata"].(map[string]any)
			delete(metadata, "namespace")
		}
		objects[id(object)] = object
	}
	return objects
}

// withKustomization is a copy of a directory with a kustomization of its files, as a unit makes for itself.
func withKustomization(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", dir, err)
	}
	text := "resources:\n"
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), data, 0o600); err != nil {
			t.Fatal(err)
		}
		text += "- " + filepath.Base(file) + "\n"
	}
	if err := os.WriteFile(filepath.Join(to, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// durations are equal however they are written: 24h is 24h0m0s.
var durations = cmp.FilterValues(func(a, b string) bool {
	_, errA := time.ParseDuration(a)
	_, errB := time.ParseDuration(b)
	return errA == nil && errB == nil
}, cmp.Comparer(func(a, b string) bool {
	x, _ := time.ParseDuration(a)
	y, _ := time.ParseDuration(b)
	return x == y
}))

func parse(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func id(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	kind, _ := object["kind"].(string)
	return kind + "/" + name
}
