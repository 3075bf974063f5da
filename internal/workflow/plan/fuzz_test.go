package plan

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// FuzzNext decides on whatever can be read as a workflow, status included: anyone who can create one may write it.
func FuzzNext(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(section(archive, "workflow.yaml"))
	}
	f.Add(`{spec: {entrypoint: a}, status: {phase: Running, nodes: {wf: {id: wf, name: wf, type: Steps, phase: Running, boundaryID: wf, children: [wf], outboundNodes: [wf]}}}}`)
	f.Fuzz(func(_ *testing.T, document string) {
		wf := &v1alpha1.Workflow{}
		if err := unmarshal(document, wf); err != nil {
			return
		}
		wf.Name, wf.CreationTimestamp = "wf", metav1.NewTime(start)
		facts := Facts{Now: start, Leaves: map[string]Leaf{}}
		for range 5 {
			d := Next(wf, facts)
			for _, action := range d.Actions {
				if action.Do == Start {
					facts.Leaves[action.Node] = Leaf{Phase: v1alpha1.NodeSucceeded}
				}
			}
			wf, facts.Now = d.Workflow, facts.Now.Add(1000)
		}
		if again, err := Again(wf, []string{"wf"}, start); err == nil {
			Next(again, facts)
		}
		_, _ = Resume(wf, nil, nil)
	})
}

// TestCircles ends although the status has nodes that are part of themselves and follow themselves.
func TestCircles(t *testing.T) {
	wf := workflow(t, `{entrypoint: main, templates: [{name: main, steps: [[{name: a, template: w}], [{name: b, template: w}]]}, {name: w, container: {image: x}}]}`)
	wf.Status = v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowRunning, StartedAt: metav1.NewTime(start), Nodes: v1alpha1.Nodes{}}
	for _, name := range []string{"wf", "wf[0]", "wf[0].a"} {
		id := NodeID("wf", name)
		wf.Status.Nodes[id] = v1alpha1.NodeStatus{
			ID: id, Name: name, Type: v1alpha1.NodeTypeSteps, Phase: v1alpha1.NodeSucceeded, BoundaryID: id, Children: []string{id}, OutboundNodes: []string{id},
		}
	}
	root := wf.Status.Nodes["wf"]
	root.Phase = v1alpha1.NodeRunning
	wf.Status.Nodes["wf"] = root
	if d := Next(wf, Facts{Now: start}); len(d.Actions) != 1 || d.Actions[0].Run.NodeName != "wf[1].b" {
		t.Errorf("what comes next is started: %+v", d.Actions)
	}
}
