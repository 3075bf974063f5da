package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestVersion(t *testing.T) {
	root := t.TempDir()
	files := []string{"hack/version", "deploy/chart/Chart.yaml", "deploy/headgate.yaml", "deploy/ci/gitlab.yaml", "docs/guide/install.md"}
	for _, name := range files {
		copyFile(t, filepath.Join("../..", name), filepath.Join(root, name))
	}
	changes := filepath.Join(root, "CHANGELOG.md")
	if err := os.WriteFile(changes, []byte("# Changes\n\n## Unreleased\n\n- news\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(fails bool, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "hack/version"), args...).CombinedOutput()
		if (err != nil) != fails {
			t.Fatalf("hack/version %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	before := strings.TrimSpace(run(false))
	run(true, "next")
	run(false, "9.8.7")
	if got := run(false); got != "9.8.7\n" {
		t.Errorf("the version is %q", got)
	}
	run(false, "--check", "v9.8.7")
	if got := run(true, "--check", "v9.8.8"); !strings.Contains(got, "run hack/version 9.8.8 and commit before you tag") {
		t.Errorf("another tag: %s", got)
	}
	if got := strings.TrimSpace(run(false, "--notes", "v9.8.7")); got != "- news" {
		t.Errorf("the notes are %q", got)
	}
	run(true, "--notes", "v9.8.6")
	run(true, "9.8.8")
	for _, name := range files[1:] {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), before) || !strings.Contains(string(data), "9.8.7") {
			t.Errorf("%s does not have the version alone:\n%s", name, data)
		}
	}
	data, err := os.ReadFile(changes)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^# Changes\n\n## Unreleased\n\n## 9\.8\.7, \d{4}-\d\d-\d\d\n\n- news\n$`).Match(data) {
		t.Errorf("CHANGELOG.md is\n%s", data)
	}
}

// TestVersions keeps the files of this tree in step.
func TestVersions(t *testing.T) {
	version, err := exec.CommandContext(t.Context(), "../version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var chart struct{ Version, AppVersion string }
	data, err := os.ReadFile("../../deploy/chart/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &chart); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(string(version))
	if want == "" || chart.Version != want || chart.AppVersion != want {
		t.Errorf("hack/version says %q, the chart %q and %q", want, chart.Version, chart.AppVersion)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, info.Mode()); err != nil {
		t.Fatal(err)
	}
}
