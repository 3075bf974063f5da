package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

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

// carryOut carries out a decision, as everything that executes does: what is there already is adopted.
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
			delete(r.started, action.Node)
			delete(r.ends, action.Node)
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
	if run.Begun {
		line += " begun"
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

// provide reads what a decision needs.
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
func (r *replay) tick(t *testing.T, d Decision) bool {
	t.Helper()
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
		r.happen(t, r.events[0])
		r.events = r.events[1:]
		acted = true
	}
	// Once everything has happened, another pass that decides the same again is the end.
	return acted || !r.settled(d)
}

// settled reports whether another pass decides the same.
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
func (r *replay) happen(t *testing.T, e event) {
	t.Helper()
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
		supplied := map[string]string{}
		for _, word := range e.words[2:] {
			name, value, _ := strings.Cut(word, "=")
			supplied[name] = value
		}
		resumed, err := Resume(r.wf, []string{NodeID(r.wf.Name, r.wf.Name+e.words[1])}, supplied)
		if err != nil {
			t.Fatal(err)
		}
		r.wf = resumed
	case "again":
		var selected []string
		for _, name := range e.words[1:] {
			selected = append(selected, NodeID(r.wf.Name, r.wf.Name+name))
		}
		again, err := Again(r.wf, selected, r.facts.Now)
		if err != nil {
			t.Fatal(err)
		}
		r.wf, r.outcomes = again, r.later
	default:
		t.Fatalf("%q is not an event", e.words[0])
	}
}
