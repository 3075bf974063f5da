package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func workflow(t testing.TB, spec string) *v1alpha1.Workflow {
	t.Helper()
	wf := &v1alpha1.Workflow{}
	if err := unmarshal(spec, &wf.Spec); err != nil {
		t.Fatal(err)
	}
	wf.Name, wf.Namespace, wf.UID, wf.CreationTimestamp = "wf", "ns", "uid-1", metav1.NewTime(start)
	return wf
}

const oneStep = `{entrypoint: main, templates: [{name: main, container: {image: busybox}}]}`

// TestOwnedAfterTheCrash keeps what a killed process started from being started again, although no status knows of it.
func TestOwnedAfterTheCrash(t *testing.T) {
	d := Next(workflow(t, oneStep), Facts{Now: start, Leaves: map[string]Leaf{"wf": {Phase: v1alpha1.NodeSucceeded}}})
	if len(d.Actions) != 0 || d.Workflow.Status.Phase != v1alpha1.WorkflowSucceeded {
		t.Errorf("what exists is adopted: %d actions, %s", len(d.Actions), d.Workflow.Status.Phase)
	}
}

// TestFrozen keeps a change of a template from changing a run, while what people change to halt it counts at once.
func TestFrozen(t *testing.T) {
	wf := workflow(t, `{workflowTemplateRef: {name: base}}`)
	spec := workflow(t, oneStep).Spec
	facts := Facts{Now: start, Leaves: map[string]Leaf{}, Templates: map[Source]*v1alpha1.WorkflowSpec{{Name: "base"}: &spec}}
	wf = Next(wf, facts).Workflow
	spec.Templates[0].Container.Image = "changed"
	d := Next(wf, facts)
	if len(d.Actions) != 1 || d.Actions[0].Run.Template.Container.Image != "busybox" {
		t.Errorf("the run keeps the template that it began with: %+v", d.Actions)
	}
	wf.Spec.Shutdown = v1alpha1.ShutdownTerminate
	if d := Next(wf, facts); d.Workflow.Status.Phase != v1alpha1.WorkflowFailed {
		t.Errorf("a request to end it counts although its spec is kept: %s", d.Workflow.Status.Phase)
	}
}

// TestComing waits a while for templates that were applied together with the workflow, and came after it.
func TestComing(t *testing.T) {
	for name, spec := range map[string]string{
		"workflowTemplateRef": `{workflowTemplateRef: {name: base}}`,
		"templateRef":         `{entrypoint: main, templates: [{name: main, steps: [[{name: a, templateRef: {name: base, template: main}}]]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			absent := map[Source]*v1alpha1.WorkflowSpec{{Name: "base"}: nil}
			d := Next(workflow(t, spec), Facts{Now: start.Add(templateGrace - 1), Templates: absent})
			if d.Workflow.Status.Phase.Completed() || d.Wake.IsZero() || len(d.Actions) != 0 {
				t.Errorf("it does not wait: %s %q, wakes at %s", d.Workflow.Status.Phase, d.Workflow.Status.Message, d.Wake)
			}
			base := workflow(t, oneStep).Spec
			if d := Next(d.Workflow, Facts{Now: start, Templates: map[Source]*v1alpha1.WorkflowSpec{{Name: "base"}: &base}}); len(d.Actions) != 1 {
				t.Errorf("it does not begin when the template is there: %s %q", d.Workflow.Status.Phase, d.Workflow.Status.Message)
			}
			d = Next(d.Workflow, Facts{Now: start.Add(templateGrace), Templates: absent})
			if d.Workflow.Status.Phase != v1alpha1.WorkflowError || !strings.Contains(d.Workflow.Status.Message, `WorkflowTemplate "base" not found`) {
				t.Errorf("it waits for what does not come: %s %q", d.Workflow.Status.Phase, d.Workflow.Status.Message)
			}
		})
	}
}

// TestSuspended starts nothing, and still sees what has ended.
func TestSuspended(t *testing.T) {
	wf := workflow(t, `{entrypoint: main, suspend: true, templates: [{name: main, container: {image: busybox}}]}`)
	if d := Next(wf, Facts{Now: start}); len(d.Actions) != 0 || len(d.Workflow.Status.Nodes) != 0 {
		t.Errorf("a suspended workflow began: %+v", d.Actions)
	}
}

// TestNeeds names what has to be read, once, and starts nothing that depends on it.
func TestNeeds(t *testing.T) {
	wf := workflow(t, `
entrypoint: main
templates:
- name: main
  dag:
    tasks:
    - {name: a, templateRef: {name: lib, template: x}}
    - {name: b, templateRef: {name: lib, template: z}}
    - {name: c, templateRef: {name: lib, template: z, clusterScope: true}}
    - {name: d, template: own}
    - {name: e, template: configured}
- {name: own, container: {image: busybox}}
- {name: configured, inputs: {parameters: [{name: p, valueFrom: {configMapKeyRef: {name: cm, key: k}}}]}, container: {image: busybox}}
`)
	d := Next(wf, Facts{Now: start})
	if diff := cmp.Diff([]Source{{Name: "lib"}, {Name: "lib", Cluster: true}}, d.Templates); diff != "" {
		t.Errorf("objects to read (-want +got):\n%s", diff)
	}
	if len(d.Configs) != 1 || d.Configs[0].Name != "cm" || d.Configs[0].Key != "k" {
		t.Errorf("values to read: %+v", d.Configs)
	}
	if len(d.Actions) != 1 || d.Actions[0].Run.NodeName != "wf.d" {
		t.Errorf("what depends on none of it starts: %+v", d.Actions)
	}
}

// TestDepth ends a template that calls itself without an end.
func TestDepth(t *testing.T) {
	d := Next(workflow(t, `{entrypoint: main, templates: [{name: main, steps: [[{name: again, template: main}]]}]}`), Facts{Now: start})
	if len(d.Actions) != 0 || d.Workflow.Status.Phase != v1alpha1.WorkflowFailed {
		t.Errorf("it ends without having started anything: %s, %d actions", d.Workflow.Status.Phase, len(d.Actions))
	}
	deepest := ""
	for _, node := range d.Workflow.Status.Nodes {
		if node.Type == v1alpha1.NodeTypeSkipped {
			deepest = node.Message
		}
	}
	if deepest != errDepth.Error() || len(d.Workflow.Status.Nodes) > 2*maxDepth {
		t.Errorf("the deepest of %d nodes says %q", len(d.Workflow.Status.Nodes), deepest)
	}
}

// TestRetriedAtOnce waits a moment before another attempt of what fails without having been executed.
func TestRetriedAtOnce(t *testing.T) {
	wf := workflow(t, `{entrypoint: main, templates: [{name: main, retryStrategy: {retryPolicy: Always}, dag: {tasks: [{name: a, template: none}]}}]}`)
	d := Next(wf, Facts{Now: start})
	if len(d.Workflow.Status.Nodes) > 4 || !d.Wake.After(start) {
		t.Errorf("a retry without a limit is one attempt a pass: %d nodes, wake %s", len(d.Workflow.Status.Nodes), d.Wake)
	}
}

// TestTwice decides the same for the same, in the same order.
func TestTwice(t *testing.T) {
	spec := `{entrypoint: main, templates: [{name: main, dag: {tasks: [{name: x, template: w, withSequence: {count: 9}}, {name: b, template: w}, {name: c, template: w}]}}, {name: w, container: {image: busybox}}]}`
	first := Next(workflow(t, spec), Facts{Now: start})
	for range 20 {
		if diff := cmp.Diff(first, Next(workflow(t, spec), Facts{Now: start})); diff != "" {
			t.Fatalf("the same facts gave another decision:\n%s", diff)
		}
	}
}

// BenchmarkNext is a pass over a graph of 20 tasks in the middle of its run.
func BenchmarkNext(b *testing.B) {
	spec := "{entrypoint: main, templates: [{name: w, container: {image: busybox}}, {name: main, dag: {tasks: [{name: t0, template: w}"
	for i := range 19 {
		spec += fmt.Sprintf(", {name: t%d, template: w, depends: t%d}", i+1, i/2)
	}
	wf := workflow(b, spec+"]}}]}")
	facts := Facts{Now: start, Leaves: map[string]Leaf{}}
	for range 4 {
		d := Next(wf, facts)
		for _, action := range d.Actions {
			facts.Leaves[action.Node] = Leaf{Phase: v1alpha1.NodeSucceeded}
		}
		wf = d.Workflow
	}
	for b.Loop() {
		Next(wf, facts)
	}
}

// TestRemovalHasLabels is about podGC.labelSelector: which executions it means is known by their labels.
func TestRemovalHasLabels(t *testing.T) {
	wf := workflow(t, `{entrypoint: main, podGC: {strategy: OnPodCompletion, labelSelector: {matchLabels: {keep: "no"}}}, templates: [{name: main, metadata: {labels: {keep: "no"}}, container: {image: busybox}}]}`)
	d := Next(wf, Facts{Now: start})
	run := d.Actions[0].Run
	facts := Facts{Now: start, Leaves: map[string]Leaf{run.NodeID: {Phase: v1alpha1.NodeSucceeded, FinishedAt: start, Labels: run.Labels()}}}
	d = Next(Next(d.Workflow, facts).Workflow, facts)
	if len(d.Actions) != 1 || d.Actions[0].Do != Remove || d.Actions[0].Selector == nil || d.Actions[0].Labels["keep"] != "no" {
		t.Errorf("the actions are %+v", d.Actions)
	}
}
