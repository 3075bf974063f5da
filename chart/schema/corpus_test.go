package schema

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
)

// corpus are the objects in the files of a tree, with their files.
func corpus(t *testing.T, root string) (all []map[string]any, files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) || strings.Contains(path, "/templates/") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range strings.Split("\n"+string(data), "\n---") {
			var o map[string]any
			if yaml.Unmarshal([]byte(document), &o) == nil && o["apiVersion"] != nil && o["kind"] != nil {
				all, files = append(all, o), append(files, strings.TrimPrefix(path, root+"/"))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, files
}

// mistakes are the errors and warnings of a corpus, by file.
func mistakes(t *testing.T, check Check, root string) (found []string, count int) {
	t.Helper()
	all, files := corpus(t, root)
	for _, f := range check.Validate(all) {
		if f.Severity != chart.SeverityInfo {
			found = append(found, files[f.Manifest]+": "+lines([]chart.Finding{f})[0])
		}
	}
	return found, len(all)
}

// TestGolden validates what cdk8s wrote for the charts of a platform; all of it was served by a cluster.
func TestGolden(t *testing.T) {
	root := os.Getenv("STACKS_GOLDEN")
	if root == "" {
		t.Skip("the golden tree of cdk8s is not here; STACKS_GOLDEN names its folder")
	}
	for _, version := range Versions() {
		found, count := mistakes(t, Kubernetes(version), root)
		if count < 150 {
			t.Fatalf("only %d objects were found", count)
		}
		if len(found) > 0 {
			t.Errorf("Kubernetes %s: %s", version, strings.Join(found, "\n"))
		}
	}
}

// TestExamples validates the objects in the examples as they are in their files, with the definitions that Headgate installs. Those of
// a file that a patch completes are what they should be: incomplete.
func TestExamples(t *testing.T) {
	definitions, _ := corpus(t, "../../deploy")
	found, count := mistakes(t, Check{Definitions: definitions, Sources: true}, "../../examples")
	if count < 100 {
		t.Fatalf("only %d objects were found", count)
	}
	incomplete := "helmrelease.yaml: required spec.interval: is missing: a string"
	found = slices.DeleteFunc(found, func(line string) bool {
		return strings.HasPrefix(line, "homelab/kubernetes/apps/") && strings.HasSuffix(line, incomplete) ||
			strings.HasPrefix(line, `homelab/kubernetes/components/common/namespace.yaml: name metadata.name: "_"`)
	})
	if len(found) > 0 {
		t.Errorf("mistakes in the examples:\n%s", strings.Join(found, "\n"))
	}
}

// TestDefinitions validates the definitions that Headgate installs: the largest objects at hand.
func TestDefinitions(t *testing.T) {
	found, count := mistakes(t, Check{}, "../../deploy")
	if count < 40 || len(found) > 0 {
		t.Errorf("of %d objects: %s", count, strings.Join(found, "\n"))
	}
}
