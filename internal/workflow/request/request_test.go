package request

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, document string) *v1alpha1.Workflow {
	t.Helper()
	wf := &v1alpha1.Workflow{}
	if err := yaml.UnmarshalStrict([]byte(document), wf); err != nil {
		t.Fatal(err)
	}
	return wf
}

const waiting = `
metadata: {name: wf}
status:
  phase: Running
  nodes:
    wf: {id: wf, name: wf, type: Steps, phase: Running}
    a: {id: a, name: wf.a, displayName: a, type: Suspend, phase: Running, outputs: {parameters: [{name: ok, valueFrom: {supplied: {}}}, {name: note, valueFrom: {supplied: {}, default: none}}]}}
    b: {id: b, name: wf.b, displayName: b, type: Suspend, phase: Running}
    c: {id: c, name: wf.c, displayName: c, type: Suspend, phase: Succeeded}
`

func TestResume(t *testing.T) {
	cases := map[string]struct {
		reason, workflow, selector string
		outputs                    map[string]string
		phases, err                string
	}{
		"All":         {reason: "all that wait", workflow: waiting, outputs: map[string]string{"ok": "yes"}, phases: "a=Succeeded b=Succeeded"},
		"One":         {reason: "one of them", workflow: waiting, selector: "displayName=b", phases: "a=Running b=Succeeded"},
		"Missing":     {reason: "an output without a value", workflow: waiting, err: "raw output parameter 'ok' has not been set"},
		"Unknown":     {reason: "an output that none waits for", workflow: waiting, selector: "displayName=b", outputs: map[string]string{"ok": "x"}, err: `waits for output parameter "ok"`},
		"None":        {reason: "a selector without a match", workflow: waiting, selector: "displayName=c", err: "no node of workflow \"wf\" that waits matches displayName=c"},
		"Suspended":   {reason: "a workflow as a whole", workflow: `{metadata: {name: wf}, spec: {suspend: true}}`},
		"NothingToDo": {reason: "one that does not wait", workflow: `{metadata: {name: wf}}`, err: "is not suspended, and none of its nodes waits"},
		"Ended":       {reason: "one that has ended", workflow: `{metadata: {name: wf}, status: {phase: Failed}}`, err: "has ended (Failed)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			selector, err := ParseSelector(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			wf, err := Resume(read(t, tc.workflow), selector, tc.outputs)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var phases []string
			for _, id := range []string{"a", "b"} {
				if node, has := wf.Status.Nodes[id]; has {
					phases = append(phases, id+"="+string(node.Phase))
				}
			}
			if got := strings.Join(phases, " "); got != tc.phases || wf.Spec.Suspend != nil {
				t.Errorf("%s: %q, suspend %v; want %q", tc.reason, got, wf.Spec.Suspend, tc.phases)
			}
		})
	}
}

// TestEnds stops, suspends and fails, and does neither to what has ended.
func TestEnds(t *testing.T) {
	selector, err := ParseSelector("id=a")
	if err != nil {
		t.Fatal(err)
	}
	wf := read(t, waiting)
	stopped, err := Stop(wf, v1alpha1.ShutdownTerminate)
	if err != nil || stopped.Spec.Shutdown != v1alpha1.ShutdownTerminate || wf.Spec.Shutdown != "" {
		t.Errorf("a copy is terminated: %v", err)
	}
	held, err := Suspend(wf)
	if err != nil || held.Spec.Suspend == nil || !*held.Spec.Suspend {
		t.Errorf("it is suspended: %v", err)
	}
	failed, err := Fail(wf, selector, "not approved")
	if err != nil || failed.Status.Nodes["a"].Phase != v1alpha1.NodeFailed || failed.Status.Nodes["a"].Message != "not approved" || failed.Status.Nodes["b"].Phase != v1alpha1.NodeRunning {
		t.Errorf("one node fails: %v", err)
	}
	wf.Status.Phase = v1alpha1.WorkflowSucceeded
	if _, err := Stop(wf, v1alpha1.ShutdownStop); err == nil {
		t.Error("what has ended is not stopped")
	}
	if _, err := Suspend(wf); err == nil {
		t.Error("what has ended is not suspended")
	}
}

func TestRetry(t *testing.T) {
	failed := read(t, `
metadata: {name: wf}
spec: {arguments: {parameters: [{name: x, value: old}]}}
status:
  phase: Failed
  storedWorkflowTemplateSpec: {arguments: {parameters: [{name: x, value: old}, {name: z, value: kept}]}}
  nodes:
    wf: {id: wf, name: wf, type: DAG, phase: Failed, children: [a]}
    a: {id: a, name: wf.a, displayName: a, type: Pod, phase: Succeeded, boundaryID: wf, children: [b]}
    b: {id: b, name: wf.b, displayName: b, type: Pod, phase: Failed, boundaryID: wf}
`)
	parameters, err := ParseParameters([]string{"x=new"})
	if err != nil {
		t.Fatal(err)
	}
	wf, err := Retry(failed, Retrying{Parameters: parameters}, now)
	if err != nil {
		t.Fatal(err)
	}
	_, kept := wf.Status.Nodes["a"]
	_, gone := wf.Status.Nodes["b"]
	if !kept || gone || wf.Status.Phase != "" || !wf.Status.StartedAt.Equal(&metav1.Time{Time: now}) {
		t.Errorf("what failed starts over: %+v", wf.Status)
	}
	want := []v1alpha1.Parameter{{Name: "x", Value: v1alpha1.Any("new")}, {Name: "z", Value: v1alpha1.Any("kept")}}
	if diff := cmp.Diff(want, wf.Status.StoredWorkflowSpec.Arguments.Parameters); diff != "" {
		t.Errorf("the arguments that the run uses (-want +got):\n%s", diff)
	}
	selector, err := ParseSelector("displayName=a")
	if err != nil {
		t.Fatal(err)
	}
	if wf, err = Retry(failed, Retrying{Selector: selector}, now); err != nil || len(wf.Status.Nodes) != 1 {
		t.Errorf("what is selected starts over with all that follows: %v", err)
	}
	if selector, err = ParseSelector("displayName=other"); err != nil {
		t.Fatal(err)
	}
	if _, err := Retry(failed, Retrying{Selector: selector}, now); err == nil {
		t.Error("a selector without a match is a mistake")
	}
}

func TestParseSelector(t *testing.T) {
	for text, valid := range map[string]bool{
		"displayName=a,phase!=Failed": true, "inputs.parameters.x.value=1": true, "": true,
		"name": false, "pod=x": false, "inputs.parameters.x=1": false,
	} {
		if _, err := ParseSelector(text); (err == nil) != valid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestApply(t *testing.T) {
	priority := int32(7)
	base := read(t, `
metadata: {generateName: a-, labels: {kept: x, team: old}}
spec: {entrypoint: main, arguments: {parameters: [{name: image, value: one, description: which}, {name: other, value: stays}]}}
`)
	parameters, err := ParseParameters([]string{"image=two=2", "added="})
	if err != nil {
		t.Fatal(err)
	}
	wf, err := Submission{
		Name: "b", Entrypoint: "second", ServiceAccount: "robot", Parameters: parameters, Priority: &priority,
		Labels: map[string]string{"team": "new"}, Annotations: map[string]string{"why": "test"},
	}.Apply(base)
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: a-, name: b, labels: {kept: x, team: new}, annotations: {why: test}}
spec:
  entrypoint: second
  serviceAccountName: robot
  priority: 7
  arguments: {parameters: [{name: image, value: two=2, description: which}, {name: other, value: stays}, {name: added, value: ""}]}
`)
	if diff := cmp.Diff(want, wf); diff != "" {
		t.Errorf("the run that is submitted (-want +got):\n%s", diff)
	}
	if _, err := (Submission{}).Apply(&v1alpha1.Workflow{}); err == nil {
		t.Error("a run without a name is a mistake")
	}
}

func TestFrom(t *testing.T) {
	cases := map[string]struct{ kind, name string }{
		"workflowtemplate/a": {v1alpha1.WorkflowTemplateKind, "a"}, "wftmpl/a": {v1alpha1.WorkflowTemplateKind, "a"},
		"cwft/b": {v1alpha1.ClusterWorkflowTemplateKind, "b"}, "CronWF/c": {v1alpha1.CronWorkflowKind, "c"},
		"workflow/a": {}, "cronwf/": {}, "a": {},
	}
	for text, want := range cases {
		kind, name, err := ParseFrom(text)
		if (err != nil) != (want.kind == "") || err == nil && (kind != want.kind || name != want.name) {
			t.Errorf("%q: %s %s %v", text, kind, name, err)
		}
	}
	cron := &v1alpha1.CronWorkflow{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "u"}}
	cron.Spec.WorkflowSpec.Entrypoint = "main"
	cron.Spec.WorkflowMetadata = &metav1.ObjectMeta{Labels: map[string]string{"team": "a"}}
	wf := FromSchedule(cron, now)
	if wf.GenerateName != "nightly-" || wf.Spec.Entrypoint != "main" || wf.OwnerReferences[0].UID != "u" || wf.Labels["team"] != "a" ||
		wf.Labels[v1alpha1.LabelCronWorkflow] != "nightly" || wf.Annotations[v1alpha1.AnnotationScheduledTime] != "2026-03-01T12:00:00Z" {
		t.Errorf("a run of a schedule: %+v", wf)
	}
	wf = FromTemplate("lib", true)
	if wf.Spec.WorkflowTemplateRef.Name != "lib" || !wf.Spec.WorkflowTemplateRef.ClusterScope || wf.Labels[v1alpha1.LabelClusterWorkflowTemplate] != "lib" {
		t.Errorf("a run of a template: %+v", wf)
	}
}

func TestParameterFile(t *testing.T) {
	got, err := ParseParameterFile([]byte("text: a\nnumber: 3\nlist: [1, b]\nyes: true\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.Parameter{
		{Name: "list", Value: v1alpha1.Any(`[1,"b"]`)}, {Name: "number", Value: v1alpha1.Any("3")}, {Name: "text", Value: v1alpha1.Any("a")}, {Name: "true", Value: v1alpha1.Any("true")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if _, err := ParseParameterFile([]byte("- a\n")); err == nil {
		t.Error("a list is a mistake")
	}
	if _, err := ParseParameters([]string{"secret"}); err == nil {
		t.Error("a parameter without a value is a mistake")
	}
	if _, err := ParseLabels("a=b,c"); err == nil {
		t.Error("a label without a value is a mistake")
	}
}

func TestReferences(t *testing.T) {
	wf := read(t, `
spec:
  workflowTemplateRef: {name: base}
  hooks: {exit: {templateRef: {name: hooks, template: x}}}
  templates:
  - name: main
    steps:
    - - {name: a, templateRef: {name: lib, template: x, clusterScope: true}}
      - {name: b, templateRef: {name: lib, template: x}, hooks: {h: {templateRef: {name: inner, template: x}}}}
      - name: c
        inline: {dag: {tasks: [{name: d, templateRef: {name: deep, template: x}}, {name: e, templateRef: {name: lib, template: z}}]}}
`)
	want := []plan.Source{{Name: "base"}, {Name: "deep"}, {Name: "hooks"}, {Name: "inner"}, {Name: "lib"}, {Name: "lib", Cluster: true}}
	if diff := cmp.Diff(want, References(&wf.Spec)); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
}
