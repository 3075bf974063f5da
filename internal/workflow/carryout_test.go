package workflow

import (
	"context"
	"errors"
	"strings"
	"testing"

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
	waited  bool
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
