package workflow

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/here"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// partial is an executor that cannot start one execution, and that is waited for.
type partial struct {
	execute.Executor

	fails   string
	started []string
	removed []string
	waited  bool
}

func (x *partial) Remove(_ context.Context, _ execute.Workflow, node string) error {
	x.removed = append(x.removed, node)
	return nil
}

func (x *partial) Start(_ context.Context, _ *v1alpha1.Workflow, run plan.Run) error {
	if run.NodeID == x.fails {
		return errors.New("quota exceeded")
	}
	x.started = append(x.started, run.NodeID)
	return nil
}

func (x *partial) Wait() { x.waited = true }

// TestActionsAfterOneThatFails is about an execution that cannot be started: the others are, and the error says which one it is.
func TestActionsAfterOneThatFails(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	x := &partial{fails: "a"}
	p := &part{executor: newDispatcher(x, here.New(ctx, here.Config{}))}
	d := plan.Decision{Workflow: &v1alpha1.Workflow{}}
	for _, id := range []string{"a", "b", "c"} {
		d.Actions = append(d.Actions, plan.Action{Do: plan.Start, Node: id, Run: &plan.Run{Kind: plan.Pod, NodeID: id}})
	}
	d.Actions = append(d.Actions, plan.Action{Do: plan.DeleteWorkflow})
	changed, err := p.carryOut(ctx, d)
	if got := strings.Join(x.started, " "); got != "b c" || !changed {
		t.Errorf("started %q, changed %t", got, changed)
	}
	if err == nil || !strings.Contains(err.Error(), "Start of a: quota exceeded") {
		t.Errorf("the error is %v", err)
	}
	end()
	if p.Wait(); !x.waited {
		t.Error("the executor of containers was not waited for")
	}
}

// TestRemoveSelects is about podGC.labelSelector, which is matched with the labels of each execution.
func TestRemoveSelects(t *testing.T) {
	wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "wf"}}
	wf.Spec.PodMetadata = &v1alpha1.Metadata{Labels: map[string]string{"team": "blue"}}
	all := []plan.Action{
		{Do: plan.Remove, Node: "a", Labels: map[string]string{"keep": "no"}},
		{Do: plan.Remove, Node: "b", Labels: map[string]string{"keep": "no", "team": "red"}},
		{Do: plan.Remove, Node: "c"},
	}
	for name, tc := range map[string]struct {
		selector map[string]string
		want     string
	}{
		"Own":      {map[string]string{"keep": "no"}, "a b"},
		"Common":   {map[string]string{"team": "blue"}, "a c"},
		"Workflow": {map[string]string{v1alpha1.LabelWorkflow: "wf"}, "a b c"},
		"None":     {map[string]string{"keep": "yes"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := &partial{}
			p := &part{executor: newDispatcher(x, here.New(t.Context(), here.Config{}))}
			d := plan.Decision{Workflow: wf}
			for _, action := range all {
				action.Selector = &metav1.LabelSelector{MatchLabels: tc.selector}
				d.Actions = append(d.Actions, action)
			}
			if _, err := p.carryOut(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(x.removed, " "); got != tc.want {
				t.Errorf("removed %q, want %q", got, tc.want)
			}
		})
	}
}

// TestClaimNames is about a status with names that its author wrote there: each would be a request in each pass.
func TestClaimNames(t *testing.T) {
	claims := func(names ...string) (all []corev1.PersistentVolumeClaim) {
		for _, name := range names {
			all = append(all, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		return all
	}
	wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "wf"}}
	wf.Spec.VolumeClaimTemplates = claims("work")
	wf.Status.PersistentVolumeClaims = []corev1.Volume{{Name: "other", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "of-somebody"},
	}}}
	defaults, stored := &v1alpha1.WorkflowSpec{}, &v1alpha1.WorkflowSpec{}
	defaults.VolumeClaimTemplates, stored.VolumeClaimTemplates = claims("cache", "work"), claims("stored")
	if got := strings.Join(claimNames(wf, defaults), " "); got != "wf-work wf-cache" {
		t.Errorf("the names are %q", got)
	}
	wf.Status.StoredWorkflowSpec = stored
	if got := strings.Join(claimNames(wf, nil), " "); got != "wf-stored" {
		t.Errorf("with the spec that is stored, the names are %q", got)
	}
}
