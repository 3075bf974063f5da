package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/here"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Containers makes the executor of containers and scripts for a cluster: as pods, or as processes of this machine.
type Containers interface {
	// Executor is called once, when the dialect is about to serve. What it starts ends with ctx.
	Executor(ctx context.Context, host *dialect.Host, listener execute.Listener) (execute.Executor, error)
}

// dispatcher is the executor of everything: it passes each execution on to the one of its kind.
type dispatcher struct {
	of map[plan.Kind]execute.Executor
	// here is also notified of what was recorded.
	here *here.Executor
	all  []execute.Executor
}

func newDispatcher(containers execute.Executor, local *here.Executor) *dispatcher {
	return &dispatcher{
		of:   map[plan.Kind]execute.Executor{plan.Pod: containers, plan.Resource: local, plan.HTTP: local},
		here: local, all: []execute.Executor{containers, local},
	}
}

// Start passes an execution on.
func (d *dispatcher) Start(ctx context.Context, wf *v1alpha1.Workflow, run plan.Run) error {
	executor, known := d.of[run.Kind]
	if !known {
		return fmt.Errorf("nothing executes %q", run.Kind)
	}
	return executor.Start(ctx, wf, run)
}

// Stop ends an execution, whichever executor has it.
func (d *dispatcher) Stop(ctx context.Context, of execute.Workflow, node, reason string) error {
	var all error
	for _, executor := range d.all {
		all = errors.Join(all, executor.Stop(ctx, of, node, reason))
	}
	return all
}

// Remove removes an execution, whichever executor has it.
func (d *dispatcher) Remove(ctx context.Context, of execute.Workflow, node string) error {
	var all error
	for _, executor := range d.all {
		all = errors.Join(all, executor.Remove(ctx, of, node))
	}
	return all
}

// Leaves are those of all executors; they are unknown if one of them does not know.
func (d *dispatcher) Leaves(ctx context.Context, of execute.Workflow) (map[string]plan.Leaf, error) {
	all := map[string]plan.Leaf{}
	for _, executor := range d.all {
		leaves, err := executor.Leaves(ctx, of)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, leaves)
	}
	return all, nil
}

// Forget deletes what is kept of a workflow that is gone.
func (d *dispatcher) Forget(ctx context.Context, of execute.Workflow) error {
	var all error
	for _, executor := range d.all {
		all = errors.Join(all, executor.Forget(ctx, of))
	}
	return all
}

// Kept are the workflows of which any executor keeps something.
func (d *dispatcher) Kept(ctx context.Context) ([]execute.Workflow, error) {
	var all []execute.Workflow
	for _, executor := range d.all {
		keeping, keeps := executor.(execute.Keeping)
		if !keeps {
			continue
		}
		kept, err := keeping.Kept(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, kept...)
	}
	return all, nil
}

// Wait waits until what the executors have begun has ended.
func (d *dispatcher) Wait() {
	for _, executor := range d.all {
		if ending, ends := executor.(execute.Ending); ends {
			ending.Wait()
		}
	}
}

var _ execute.Executor = (*dispatcher)(nil)

// refuser stands in for an executor of containers where there is none: what is started waits, and says what a person has to do.
type refuser struct {
	message string

	mu    sync.Mutex
	waits map[execute.Workflow]map[string]plan.Leaf
}

func newRefuser(message string) *refuser {
	return &refuser{message: message, waits: map[execute.Workflow]map[string]plan.Leaf{}}
}

// Start has an execution wait. Nothing has to survive a restart: what was never seen running is started again.
func (r *refuser) Start(_ context.Context, wf *v1alpha1.Workflow, run plan.Run) error {
	of := execute.Of(wf)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits[of] == nil {
		r.waits[of] = map[string]plan.Leaf{}
	}
	r.waits[of][run.NodeID] = plan.Leaf{Phase: v1alpha1.NodePending, Message: r.message}
	return nil
}

// Stop ends a wait.
func (r *refuser) Stop(_ context.Context, of execute.Workflow, node, reason string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, waits := r.waits[of][node]; waits {
		r.waits[of][node] = plan.Leaf{Phase: v1alpha1.NodeFailed, Message: reason}
	}
	return nil
}

// Remove forgets a wait.
func (r *refuser) Remove(_ context.Context, of execute.Workflow, node string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waits[of], node)
	return nil
}

// Leaves are those that wait.
func (r *refuser) Leaves(_ context.Context, of execute.Workflow) (map[string]plan.Leaf, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.waits[of]), nil
}

// Forget forgets all waits of a workflow.
func (r *refuser) Forget(_ context.Context, of execute.Workflow) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waits, of)
	return nil
}
