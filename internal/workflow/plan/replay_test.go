package plan

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
	events   []event
	ends     map[string]time.Time
	started  map[string]bool
	runs     []string
	gone     map[string]bool
}

// outcome is how the executions of some nodes end.
type outcome struct {
	node   string
	leaf   v1alpha1.NodePhase
	takes  time.Duration
	fields map[string]string
}

// event is something that a user does.
type event struct {
	at    time.Duration
	words []string
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

// parseOutcome reads a line such as: .build(1) Failed exit=2 takes=10s result=x out.name=value
func parseOutcome(t *testing.T, line string) outcome {
	t.Helper()
	words := strings.Fields(line)
	o := outcome{node: words[0], leaf: v1alpha1.NodePhase(words[1]), takes: time.Second, fields: map[string]string{}}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		o.fields[key] = strings.ReplaceAll(value, "_", " ")
	}
	if takes, found := o.fields["takes"]; found {
		var err error
		if o.takes, err = time.ParseDuration(takes); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (r *replay) outcome(node string) outcome {
	for _, o := range r.outcomes {
		if matched, err := path.Match(o.node, strings.TrimPrefix(node, r.wf.Name)); err == nil && matched {
			return o
		}
	}
	return outcome{leaf: v1alpha1.NodeSucceeded, takes: time.Second}
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
		if !r.tick(before) {
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

// carryOut does what a decision asks for, as everything that executes does: what is there already is adopted.
func (r *replay) carryOut(t *testing.T, d Decision) bool {
	t.Helper()
	acted := false
	for _, action := range d.Actions {
		switch action.Do {
		case Start:
			if _, exists := r.facts.Leaves[action.Node]; exists {
				t.Fatalf("%s is started, but it exists", action.Node)
			}
			if r.started[action.Node] {
				t.Fatalf("%s is started a second time", action.Node)
			}
			r.started[action.Node] = true
			r.launch(action.Run)
		case Stop:
			leaf := r.facts.Leaves[action.Node]
			if leaf.Phase.Fulfilled() {
				continue
			}
			leaf.Phase, leaf.Message, leaf.FinishedAt = v1alpha1.NodeFailed, action.Reason, r.facts.Now
			r.facts.Leaves[action.Node] = leaf
		case Remove:
			delete(r.facts.Leaves, action.Node)
			r.runs = append(r.runs, fmt.Sprintf("%s removed %s", r.facts.Now.Sub(start), action.Node))
		case CreateClaim:
			r.facts.Claims[action.Claim.Name] = true
			r.runs = append(r.runs, "claim "+action.Claim.Name)
		case DeleteClaim:
			delete(r.facts.Claims, action.Claim.Name)
			r.runs = append(r.runs, "deleted claim "+action.Claim.Name)
		case DeleteWorkflow:
			r.gone[r.wf.Name] = true
			r.runs = append(r.runs, fmt.Sprintf("%s deleted", r.facts.Now.Sub(start)))
		}
		acted = true
	}
	return acted
}

// launch starts an execution, and remembers what it got.
func (r *replay) launch(run *Run) {
	o := r.outcome(run.NodeName)
	leaf := Leaf{Phase: v1alpha1.NodeRunning, StartedAt: r.facts.Now, Host: o.fields["host"]}
	if o.leaf == v1alpha1.NodePending {
		leaf.Phase = v1alpha1.NodePending
	}
	r.facts.Leaves[run.NodeID] = leaf
	r.ends[run.NodeID] = r.facts.Now.Add(o.takes)
	line := fmt.Sprintf("%s %s %s", r.facts.Now.Sub(start), run.Kind, run.NodeName)
	for _, p := range run.Template.Inputs.Parameters {
		line += " " + p.Name + "=" + p.Value.String()
	}
	for _, a := range run.Template.Inputs.Artifacts {
		if a.Raw != nil {
			line += " " + a.Name + "=raw:" + a.Raw.Data
		}
		if a.Local != nil {
			line += " " + a.Name + "=" + a.Local.Digest
		}
	}
	if c := run.Template.Container; c != nil && len(c.Args) > 0 {
		line += " args=" + strings.Join(c.Args, ",")
	}
	if s := run.Template.Script; s != nil {
		line += " source=" + strings.TrimSpace(s.Source)
	}
	if h := run.Template.HTTP; h != nil {
		line += " url=" + h.URL
	}
	if run.Object != nil {
		line += " " + run.Object.GetKind() + "/" + run.Object.GetName() + " owners=" + strconv.Itoa(len(run.Object.GetOwnerReferences()))
	}
	if run.Result {
		line += " result"
	}
	if len(run.Avoid) > 0 {
		line += " avoid=" + strings.Join(run.Avoid, ",")
	}
	if !run.Deadline.IsZero() {
		line += " until=" + run.Deadline.Sub(start).String()
	}
	if len(run.Settings.Volumes) > 0 {
		line += " volumes=" + strconv.Itoa(len(run.Settings.Volumes))
	}
	r.runs = append(r.runs, line)
}

// provide reads what a decision asks for.
func (r *replay) provide(d Decision) bool {
	for _, source := range d.Templates {
		r.facts.Templates[source] = r.library[source]
	}
	for _, key := range d.Configs {
		r.facts.Configs[key] = r.configs[key]
	}
	return len(d.Templates)+len(d.Configs) > 0
}

// tick lets the time pass until something happens: the end of an execution, an event, or what the decision waits for.
func (r *replay) tick(d Decision) bool {
	var next time.Time
	at := func(when time.Time) {
		if next.IsZero() || when.Before(next) {
			next = when
		}
	}
	for id, end := range r.ends {
		if leaf, exists := r.facts.Leaves[id]; exists && !leaf.Phase.Fulfilled() && r.outcomeOf(id).leaf.Fulfilled() {
			at(end)
		}
	}
	for _, e := range r.events {
		at(start.Add(e.at))
	}
	if !d.Wake.IsZero() {
		at(d.Wake)
	}
	if next.IsZero() {
		return false
	}
	if next.After(r.facts.Now) {
		r.facts.Now = next
	}
	acted := false
	for _, id := range slices.Sorted(maps.Keys(r.ends)) {
		leaf, o := r.facts.Leaves[id], r.outcomeOf(id)
		if _, exists := r.facts.Leaves[id]; exists && !leaf.Phase.Fulfilled() && o.leaf.Fulfilled() && !r.ends[id].After(r.facts.Now) {
			r.facts.Leaves[id] = r.finish(leaf, o)
			acted = true
		}
	}
	for len(r.events) > 0 && !start.Add(r.events[0].at).After(r.facts.Now) {
		r.happen(r.events[0])
		r.events = r.events[1:]
		acted = true
	}
	// Once everything has happened, another pass that decides the same again is the end.
	return acted || !r.settled(d)
}

// settled tells whether another pass decides the same.
func (r *replay) settled(d Decision) bool {
	again := Next(r.wf, r.facts)
	return len(again.Actions) == 0 && cmp.Equal(again.Workflow.Status, d.Workflow.Status) && again.Wake.Equal(d.Wake)
}

func (r *replay) outcomeOf(id string) outcome {
	if node, found := r.wf.Status.Nodes[id]; found {
		return r.outcome(node.Name)
	}
	return outcome{leaf: v1alpha1.NodeSucceeded, takes: time.Second}
}

func (r *replay) finish(leaf Leaf, o outcome) Leaf {
	leaf.Phase, leaf.FinishedAt, leaf.Message = o.leaf, r.facts.Now, o.fields["message"]
	leaf.Transient, leaf.Final = o.fields["transient"] == "yes", o.fields["final"] == "yes"
	outputs := &v1alpha1.Outputs{}
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		value := o.fields[key]
		kind, name, _ := strings.Cut(key, ".")
		switch kind {
		case "exit":
			outputs.ExitCode = &value
		case "result":
			outputs.Result = &value
		case "out":
			outputs.Parameters = append(outputs.Parameters, v1alpha1.Parameter{Name: name, Value: v1alpha1.Any(value)})
		case "global":
			outputs.Parameters = append(outputs.Parameters, v1alpha1.Parameter{Name: name, Value: v1alpha1.Any(value), GlobalName: name})
		case "file":
			outputs.Artifacts = append(outputs.Artifacts, v1alpha1.Artifact{Name: name, ArtifactLocation: v1alpha1.ArtifactLocation{Local: &v1alpha1.LocalArtifact{Digest: value}}})
		}
	}
	if !cmp.Equal(outputs, &v1alpha1.Outputs{}) {
		leaf.Outputs = outputs
	}
	return leaf
}

// happen changes the workflow as a user does.
func (r *replay) happen(e event) {
	no, yes := false, true
	switch e.words[0] {
	case "shutdown":
		r.wf.Spec.Shutdown = v1alpha1.ShutdownStrategy(e.words[1])
	case "suspend":
		r.wf.Spec.Suspend = &yes
	case "unsuspend":
		r.wf.Spec.Suspend = &no
	case "lose":
		id := NodeID(r.wf.Name, r.wf.Name+e.words[1])
		delete(r.facts.Leaves, id)
		delete(r.started, id)
	case "resume":
		id := NodeID(r.wf.Name, r.wf.Name+e.words[1])
		node := r.wf.Status.Nodes[id]
		node.Phase = v1alpha1.NodeSucceeded
		for _, word := range e.words[2:] {
			name, value, _ := strings.Cut(word, "=")
			for i := range node.Outputs.Parameters {
				if node.Outputs.Parameters[i].Name == name {
					node.Outputs.Parameters[i].Value = v1alpha1.Any(value)
				}
			}
		}
		r.wf.Status.Nodes[id] = node
	}
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
