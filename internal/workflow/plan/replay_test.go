package plan

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// start is when every workflow of a test starts.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestReplay runs each workflow of testdata to its end, with executions that end as the file says, and compares all nodes with those that the file
// expects. Each is run again with a process that is killed in every pass: before the status is written, after the actions were carried out, and the
// other way around. Neither may change anything, and nothing may be started twice.
func TestReplay(t *testing.T) {
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
			want := ""
			for _, mode := range []mode{steady, killedAfterActions, killedAfterStatus} {
				r := newReplay(t, archive, mode)
				got := r.run(t)
				if mode == steady {
					want = section(archive, "want")
					if *update && got != want {
						rewrite(t, file, archive, got)
						want = got
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s: %s (-want +got):\n%s", strings.TrimSpace(string(archive.Comment)), mode, diff)
				}
			}
		})
	}
}

// mode is what happens to the process that decides.
type mode string

const (
	steady             mode = "a process that runs on"
	killedAfterActions mode = "a process that is killed after the actions, before the status is written"
	killedAfterStatus  mode = "a process that is killed after the status is written, before the actions"
)

// maxPasses is more than any workflow of testdata takes.
const maxPasses = 500

// replay is a workflow with a fake of everything that executes.
type replay struct {
	mode     mode
	wf       *v1alpha1.Workflow
	facts    Facts
	library  map[Source]*v1alpha1.WorkflowSpec
	configs  text.ConfigValues
	outcomes []outcome
	// later are the outcomes once it was started again.
	later   []outcome
	events  []event
	ends    map[string]time.Time
	started map[string]bool
	runs    []string
	gone    map[string]bool
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func rewrite(t *testing.T, file string, a *txtar.Archive, got string) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
	a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func newReplay(t *testing.T, a *txtar.Archive, m mode) *replay {
	t.Helper()
	r := &replay{
		mode: m, wf: &v1alpha1.Workflow{}, library: map[Source]*v1alpha1.WorkflowSpec{}, configs: text.ConfigValues{},
		facts: Facts{Now: start, Leaves: map[string]Leaf{}, Templates: map[Source]*v1alpha1.WorkflowSpec{}, Configs: text.ConfigValues{}, Claims: map[string]bool{}},
		ends:  map[string]time.Time{}, started: map[string]bool{}, gone: map[string]bool{},
	}
	read(t, section(a, "workflow.yaml"), r.wf)
	if r.wf.Name == "" {
		r.wf.Name = "wf"
	}
	r.wf.Namespace, r.wf.UID, r.wf.CreationTimestamp = "ns", types.UID("uid-1"), metav1.NewTime(start)
	for document := range strings.SplitSeq(section(a, "templates.yaml"), "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		template := &v1alpha1.WorkflowTemplate{}
		read(t, document, template)
		r.library[Source{Name: template.Name, Cluster: template.Kind == v1alpha1.ClusterWorkflowTemplateKind}] = &template.Spec
	}
	if defaults := section(a, "defaults.yaml"); defaults != "" {
		r.facts.Defaults = &v1alpha1.WorkflowSpec{}
		read(t, defaults, r.facts.Defaults)
	}
	for line := range strings.Lines(section(a, "configs")) {
		words := strings.Fields(line)
		r.configs[text.ConfigKey{Name: words[0], Key: words[1]}] = &words[2]
	}
	for line := range strings.Lines(section(a, "outcomes")) {
		r.outcomes = append(r.outcomes, parseOutcome(t, line))
	}
	for line := range strings.Lines(section(a, "outcomes2")) {
		r.later = append(r.later, parseOutcome(t, line))
	}
	for line := range strings.Lines(section(a, "events")) {
		words := strings.Fields(line)
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		r.events = append(r.events, event{at, words[1:]})
	}
	return r
}

func unmarshal(document string, into any) error { return yaml.UnmarshalStrict([]byte(document), into) }

func read(t *testing.T, document string, into any) {
	t.Helper()
	if err := unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
}

// run replays the workflow until nothing happens anymore.
func (r *replay) run(t *testing.T) string {
	t.Helper()
	for pass := range maxPasses {
		given := r.wf.DeepCopy()
		before := Next(r.wf, r.facts)
		if diff := cmp.Diff(given, r.wf); diff != "" {
			t.Fatalf("a decision changed what it was made from:\n%s", diff)
		}
		switch {
		case r.mode == killedAfterActions && pass%2 == 0:
			r.carryOut(t, before)
			continue
		case r.mode == killedAfterStatus && pass%2 == 0:
			r.persist(t, before)
			continue
		}
		changed := r.persist(t, before)
		if r.gone[r.wf.Name] || r.carryOut(t, before) || changed || r.provide(before) {
			if r.gone[r.wf.Name] {
				return r.describe()
			}
			continue
		}
		if !r.tick(t, before) {
			return r.describe()
		}
	}
	t.Fatalf("%s: it has not ended after %d passes:\n%s", r.mode, maxPasses, r.describe())
	return ""
}

// persist writes the status, as an API server keeps it.
func (r *replay) persist(t *testing.T, d Decision) bool {
	t.Helper()
	data, err := yaml.Marshal(d.Workflow)
	if err != nil {
		t.Fatal(err)
	}
	stored := &v1alpha1.Workflow{}
	if err := yaml.Unmarshal(data, stored); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.wf.Spec, stored.Spec); diff != "" {
		t.Fatalf("the spec of the user was changed:\n%s", diff)
	}
	changed := !cmp.Equal(r.wf.Status, stored.Status)
	r.wf = stored
	return changed
}

// describe is the end of a workflow as text: the workflow, what was executed, and all nodes with what follows each.
func (r *replay) describe() string {
	var b strings.Builder
	status := r.wf.Status
	took := status.FinishedAt.Sub(status.StartedAt.Time)
	if status.FinishedAt.IsZero() {
		took = r.facts.Now.Sub(start)
	}
	fmt.Fprintf(&b, "%s after %s, progress %s\n", status.Phase, took, status.Progress)
	if status.Message != "" {
		fmt.Fprintf(&b, "message: %s\n", status.Message)
	}
	for _, key := range slices.Sorted(maps.Keys(r.wf.Labels)) {
		fmt.Fprintf(&b, "label: %s=%s\n", strings.TrimPrefix(key, "workflows.argoproj.io/"), r.wf.Labels[key])
	}
	if status.Outputs != nil {
		for _, p := range status.Outputs.Parameters {
			fmt.Fprintf(&b, "output: %s=%s\n", p.Name, p.Value)
		}
	}
	for _, c := range status.Conditions {
		if c.Type != v1alpha1.ConditionCompleted && c.Type != v1alpha1.ConditionPodRunning {
			fmt.Fprintf(&b, "condition: %s=%s\n", c.Type, c.Status)
		}
	}
	for _, line := range r.runs {
		fmt.Fprintf(&b, "run: %s\n", line)
	}
	var nodes []v1alpha1.NodeStatus
	for _, node := range status.Nodes {
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, c v1alpha1.NodeStatus) int { return strings.Compare(a.Name, c.Name) })
	for _, node := range nodes {
		fmt.Fprintf(&b, "%s %s %s", node.Name, node.Type, node.Phase)
		if node.Outputs != nil {
			for _, p := range node.Outputs.Parameters {
				fmt.Fprintf(&b, " %s=%s", p.Name, p.Value)
			}
		}
		for i, child := range node.Children {
			arrow := " ->"
			if i > 0 {
				arrow = ""
			}
			fmt.Fprintf(&b, "%s %s", arrow, strings.TrimPrefix(status.Nodes[child].Name, r.wf.Name))
		}
		if node.Message != "" {
			fmt.Fprintf(&b, " | %s", node.Message)
		}
		b.WriteString("\n")
	}
	return b.String()
}
