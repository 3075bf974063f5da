package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart/lint"
)

// TestGolden counts the findings in a public platform that cdk8s wrote. The check that came with it found 2 errors, 16 warnings and 96
// infos; among them a Service that names another host, four Secrets with stringData, and the probes of Jobs. None of those is a finding
// here. What it did not ask for is: root, privileges, capabilities and the root file system one by one.
func TestGolden(t *testing.T) {
	root := os.Getenv("STACKS_GOLDEN")
	if root == "" {
		t.Skip("the golden tree of cdk8s is not here; STACKS_GOLDEN names its folder")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "manifests", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no packages: %v", root, err)
	}
	var objects []map[string]any
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, read(t, string(data))...)
	}
	counts := map[string]int{}
	for _, f := range (lint.Policy{}).Validate(objects) {
		counts[f.Severity.String()]++
		counts[f.Rule]++
	}
	want := map[string]int{
		"warning": 29, "info": 109,
		"lint/image-latest": 1, "lint/privilege-escalation": 14, "lint/run-as-non-root": 14,
		"lint/labels": 48, "lint/capabilities": 14, "lint/read-only-root": 16, "lint/liveness-probe": 6, "lint/readiness-probe": 5,
		"lint/cpu-limit": 5, "lint/cpu-request": 5, "lint/memory-limit": 5, "lint/memory-request": 5,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
