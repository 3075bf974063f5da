package chart_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
)

// ExampleMain is the main function of a module of charts; what it does is described with Main.
func ExampleMain() {
	describe := func(app *chart.App) {
		chart.Add(chart.New(app, "web", chart.Props{}), "config", &corev1.ConfigMap{})
	}
	// In a module: os.Exit(chart.Main(chart.Settings{}, describe))
	code := chart.Command{Args: []string{"-stdout"}, Stdout: os.Stdout, Stderr: new(bytes.Buffer)}.Run(chart.Describe(chart.Settings{}, describe))
	fmt.Println("exit code", code)
	// Output:
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   name: web-config
	// exit code 0
}

func TestCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	describe := func(ids ...string) func(app *chart.App) {
		return func(app *chart.App) {
			for _, id := range ids {
				chart.Add(chart.New(app, id, chart.Props{}), "config", &corev1.ConfigMap{})
			}
		}
	}
	for _, step := range []struct {
		reason   string
		args     []string
		describe func(app *chart.App)
		code     int
		stdout   string
		stderr   []string
		files    []string
	}{
		{"files of two charts", []string{"-out", dir}, describe("a", "b"), 0, "", []string{"a: 1 object, 0.0", "b: 1 object", "2 added, 0 unchanged; 2 objects in "}, []string{"a.k8s.yaml", "b.k8s.yaml"}},
		{"nothing differs", []string{"-out", dir, "-check"}, describe("a", "b"), 0, "", []string{"is up to date"}, []string{"a.k8s.yaml", "b.k8s.yaml"}},
		{"something differs", []string{"-out", dir, "-check"}, describe("a", "c"), 1, "", []string{"c.k8s.yaml would be added", "b.k8s.yaml would be removed"}, []string{"a.k8s.yaml", "b.k8s.yaml"}},
		{"only one chart", []string{"-out", dir, "-only", "c*"}, describe("a", "c"), 0, "", []string{"c: 1 object", "1 added, 0 unchanged; 1 object in"}, []string{"a.k8s.yaml", "b.k8s.yaml", "c.k8s.yaml"}},
		{"no chart", []string{"-out", dir, "-only", "d"}, describe("a", "c"), 2, "", []string{`no chart matches "d"; there are a, c`}, nil},
		{"part of a file", []string{"-out", dir, "-only", "c", "-layout", "app"}, describe("a", "c"), 2, "", []string{"has objects of several charts"}, nil},
		{"another layout", []string{"-out", dir, "-layout", "resource", "-metadata"}, describe("a"), 0, "", []string{"2 added, 3 removed, 0 unchanged"}, []string{"ConfigMap.a-config.k8s.yaml", "construct-metadata.json"}},
		{"an unknown layout", []string{"-layout", "x"}, describe("a"), 2, "", []string{"use chart, app, resource or folder"}, nil},
		{"an unknown flag", []string{"-x"}, describe("a"), 2, "", []string{"flag provided but not defined: -x", "-layout"}, nil},
		{"an argument", []string{"x"}, describe("a"), 2, "", []string{"unknown arguments: x"}, nil},
		{"a stream", []string{"-stdout"}, describe("a", "b"), 0, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a-config\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b-config\n", []string{"a: 1 object"}, nil},
		{"mistakes", []string{"-stdout"}, describe("a", "a"), 2, "", []string{`"a" is there already`, "main_test.go:"}, nil},
	} {
		var stdout, stderr bytes.Buffer
		code := chart.Command{Args: step.args, Stdout: &stdout, Stderr: &stderr}.Run(chart.Describe(chart.Settings{}, step.describe))
		if code != step.code || stdout.String() != step.stdout {
			t.Errorf("%s: exit code %d, want %d; stdout %q, want %q\n%s", step.reason, code, step.code, stdout.String(), step.stdout, stderr.String())
		}
		for _, part := range step.stderr {
			if !strings.Contains(stderr.String(), part) {
				t.Errorf("%s: stderr does not say %q:\n%s", step.reason, part, stderr.String())
			}
		}
		if step.files != nil {
			var got []string
			for name := range tree(t, dir) {
				got = append(got, name)
			}
			if diff := cmp.Diff(step.files, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("%s: files (-want +got):\n%s", step.reason, diff)
			}
		}
	}
}

func TestMainEvents(t *testing.T) {
	run := func(describe func(app *chart.App)) []chart.Event {
		var stderr bytes.Buffer
		settings := chart.Settings{Checks: []chart.Check{advice{}}}
		chart.Command{Args: []string{"-progress", "json", "-out", filepath.Join(t.TempDir(), "dist")}, Stderr: &stderr}.Run(chart.Describe(settings, describe))
		var events []chart.Event
		for decoder := json.NewDecoder(&stderr); decoder.More(); {
			var e chart.Event
			if err := decoder.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if e.Seconds < 0 || (e.File != "" && (filepath.Base(e.File) != "main_test.go" || e.Line == 0)) {
				t.Errorf("%+v has another place or time than it should", e)
			}
			e.Seconds, e.File, e.Line, e.Dir = 0, "", 0, ""
			events = append(events, e)
		}
		return events
	}
	good := func(app *chart.App) {
		chart.Add(chart.New(app, "web", chart.Props{}), "config", &corev1.ConfigMap{})
	}
	want := []chart.Event{
		{Type: "chart", Chart: "web", Objects: 1},
		{Type: "finding", Path: "web/config", Message: "it has no data", Rule: "empty", Field: "data", Severity: "warning"},
		{Type: "done", Objects: 1, Added: []string{"web.k8s.yaml"}},
	}
	if diff := cmp.Diff(want, run(good)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	bad := func(app *chart.App) {
		good(app)
		app.Node().Errorf("no environment")
		chart.Add(chart.New(app, "db", chart.Props{}), "forbidden", &corev1.ConfigMap{})
	}
	want = []chart.Event{
		{Type: "error", Message: "no environment"},
		{Type: "error", Path: "db/forbidden", Message: "metadata.name: it is forbidden (names)"},
	}
	if diff := cmp.Diff(want, run(bad)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// advice is a check that warns of every ConfigMap, and refuses one.
type advice struct{}

func (advice) Check(manifests []chart.Manifest) []chart.Finding {
	var findings []chart.Finding
	for i, m := range manifests {
		if m.Name() == "db-forbidden" {
			findings = append(findings, chart.Finding{Manifest: i, Rule: "names", Field: "metadata.name", Message: "it is forbidden"})
			continue
		}
		findings = append(findings, chart.Finding{Manifest: i, Rule: "empty", Field: "data", Message: "it has no data", Severity: chart.SeverityWarning})
	}
	return findings
}
