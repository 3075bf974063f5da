package view

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/request"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// now is when workflows are shown.
var now = time.Date(2026, 3, 1, 12, 10, 0, 0, time.UTC)

// TestViews shows each workflow of testdata in all ways, and compares that with what the file expects. A section "earlier.yaml" is how
// the workflow was before, a section "selector" selects nodes.
func TestViews(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sections := map[string]string{}
			for _, f := range archive.Files {
				sections[f.Name] = string(f.Data)
			}
			got := show(t, sections)
			if *update {
				archive.Files[len(archive.Files)-1] = txtar.File{Name: "want", Data: []byte(got)}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(sections["want"], got); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

func show(t *testing.T, sections map[string]string) string {
	t.Helper()
	wf := read(t, sections["workflow.yaml"])
	selector, err := request.ParseSelector(strings.TrimSpace(sections["selector"]))
	if err != nil {
		t.Fatal(err)
	}
	var earlier *v1alpha1.Workflow
	if sections["earlier.yaml"] != "" {
		earlier = read(t, sections["earlier.yaml"])
	}
	var b strings.Builder
	b.WriteString(Summary(wf, Options{Selector: selector}, now))
	b.WriteString("# wide\n" + Summary(wf, Options{Selector: selector, Wide: true, Short: true}, now))
	b.WriteString("# changes\n" + strings.Join(Changes(earlier, wf), "\n") + "\n")
	b.WriteString("# row\n" + strings.Join(Row(wf, now, true, true), " | ") + "\n")
	return b.String()
}

func read(t *testing.T, document string) *v1alpha1.Workflow {
	t.Helper()
	wf := &v1alpha1.Workflow{}
	if err := yaml.UnmarshalStrict([]byte(document), wf); err != nil {
		t.Fatal(err)
	}
	return wf
}

// TestColumns has a title for each value of a row.
func TestColumns(t *testing.T) {
	for _, namespace := range []bool{false, true} {
		for _, wide := range []bool{false, true} {
			if titles, row := Columns(namespace, wide), Row(&v1alpha1.Workflow{}, now, namespace, wide); len(titles) != len(row) {
				t.Errorf("%d titles for %d values", len(titles), len(row))
			}
		}
	}
}

func TestStatus(t *testing.T) {
	yes := true
	cases := map[string]struct {
		reason string
		wf     v1alpha1.Workflow
		want   string
	}{
		"New":        {"one that was not seen yet", v1alpha1.Workflow{}, "Pending"},
		"Running":    {"", v1alpha1.Workflow{Status: v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowRunning}}, "Running"},
		"Suspended":  {"", v1alpha1.Workflow{Spec: v1alpha1.WorkflowSpec{Suspend: &yes}, Status: v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowRunning}}, "Running (Suspended)"},
		"Terminated": {"", v1alpha1.Workflow{Spec: v1alpha1.WorkflowSpec{Shutdown: v1alpha1.ShutdownStop}, Status: v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowFailed}}, "Failed (Terminated)"},
		"Late":       {"a request to stop that came too late", v1alpha1.Workflow{Spec: v1alpha1.WorkflowSpec{Shutdown: v1alpha1.ShutdownStop}, Status: v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowSucceeded}}, "Succeeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Status(&tc.wf); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestSort lists what has not ended first, then what ended last.
func TestSort(t *testing.T) {
	at := func(name string, created, finished int) *v1alpha1.Workflow {
		wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(int64(created), 0)}}
		if finished > 0 {
			wf.Status.FinishedAt = metav1.Unix(int64(finished), 0)
		}
		return wf
	}
	all := []*v1alpha1.Workflow{at("ended", 1, 5), at("older", 2, 0), at("last", 1, 9), at("newer", 3, 0)}
	Sort(all)
	var names []string
	for _, wf := range all {
		names = append(names, wf.Name)
	}
	if got := fmt.Sprint(names); got != "[newer older last ended]" {
		t.Errorf("the order is %s", got)
	}
}

// TestTerminals is about control characters: neither a message nor the name of a node, a parameter or a phase steers the terminal on which a workflow is shown.
func TestTerminals(t *testing.T) {
	const escape = "\x1b]0;gone\x07\x1b[2J\u009b2J\rx"
	wf := read(t, "metadata: {name: wf, namespace: ns}\nspec: {entrypoint: main}\nstatus: {phase: Failed}")
	wf.Spec.ServiceAccountName, wf.Status.Message, wf.Status.Progress = escape, escape, escape
	wf.Spec.Arguments.Parameters = []v1alpha1.Parameter{{Name: escape, Value: v1alpha1.Any(escape)}}
	wf.Status.Conditions = []v1alpha1.Condition{{Type: escape, Status: escape, Message: escape}}
	wf.Status.Nodes = v1alpha1.Nodes{"wf": {
		ID: "wf", Name: escape, DisplayName: escape, Phase: escape, TemplateName: escape, Message: escape, HostNodeName: escape, Type: v1alpha1.NodeTypePod,
	}}
	text := Summary(wf, Options{Wide: true}, now) + strings.Join(Row(wf, now, true, true), " ") + strings.Join(Changes(nil, wf), " ")
	if strings.ContainsAny(text, "\x1b\x07\r\u009b") || strings.Count(text, `\x1b]0;gone`) < 10 {
		t.Errorf("it steers the terminal:\n%q", text)
	}
}
