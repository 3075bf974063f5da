// Package here executes what needs no program: actions on objects and requests, in this process.
//
// Objects are read and written with the rights of the account that the template names, by impersonation, never with those of the engine.
// What was executed is kept in memory alone: an action on an object is repeated after a restart, and an object that was created is known
// by its name and its annotation. A request that may not be repeated is sent once the status of the workflow says that it is
// running, so that after a restart it is known that its outcome is lost.
//
// The package decides nothing about workflows, and writes no object of its own.
package here

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Kinds reports how kinds are reached.
type Kinds interface {
	Resolve(ctx context.Context, gvk schema.GroupVersionKind) (cluster.Resource, bool, error)
}

// Config is what an Executor needs.
type Config struct {
	// Cluster is how the cluster is reached by an account that may impersonate others.
	Cluster *rest.Config
	Kinds   Kinds
	// Listener is notified when an execution has got further.
	Listener execute.Listener
	Guard    guard.Guard
	// Egress is where requests may go. They are sent from the network of the engine, and not from that of a pod of the workflow's namespace.
	Egress egress.Rules
	// Sandbox is where paths and filters over objects are evaluated; nil evaluates them in this process.
	Sandbox *sandbox.Pool
}

const (
	// slots bound what is sent at a time, perShare what one namespace or one host has of that. The last of them are for namespaces that have none.
	slots    = 128
	perShare = 16
	kept     = 64
)

// Executor carries out actions on objects, and requests.
type Executor struct {
	Config
	ctx   context.Context
	slots *rounds.Slots
	wg    sync.WaitGroup

	mu   sync.Mutex
	runs map[execute.Workflow]map[string]*execution
}

// New returns an Executor whose executions end with ctx.
func New(ctx context.Context, c Config) *Executor {
	return &Executor{Config: c, ctx: ctx, slots: rounds.NewBoundedSlots(slots, perShare).Keep(kept), runs: map[execute.Workflow]map[string]*execution{}}
}

// execution is one action or request, and how far it got.
type execution struct {
	of   execute.Workflow
	wf   *v1alpha1.Workflow
	run  plan.Run
	stop context.CancelCauseFunc
	// recorded is closed once the status of the workflow says that this is running.
	recorded chan struct{}
	once     sync.Once
	// leaf is what others see; it is guarded by the lock of the Executor.
	leaf plan.Leaf
}

// stopped is why an execution ends that was stopped; its text is the message.
type stopped string

func (s stopped) Error() string { return string(s) }

// Start begins an execution that is unknown.
func (e *Executor) Start(_ context.Context, wf *v1alpha1.Workflow, run plan.Run) error {
	of := execute.Of(wf)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[of][run.NodeID] != nil {
		return nil
	}
	ctx, stop := context.WithCancelCause(e.ctx)
	x := &execution{of: of, wf: wf, run: run, stop: stop, recorded: make(chan struct{})}
	x.leaf = plan.Leaf{Phase: v1alpha1.NodePending}
	if run.Kind == plan.HTTP || run.Begun {
		x.leaf.Phase, x.leaf.StartedAt = v1alpha1.NodeRunning, time.Now()
	}
	if e.runs[of] == nil {
		e.runs[of] = map[string]*execution{}
	}
	e.runs[of][run.NodeID] = x
	e.wg.Add(1)
	e.Guard.Go(x.String(), func() {
		defer e.wg.Done()
		defer stop(nil)
		e.carryOut(ctx, x)
	})
	return nil
}

func (x *execution) String() string { return x.of.String() + " " + x.run.NodeName }

// carryOut executes something to its end, and says how it ended. What ends with this process has no end that anything is notified of.
func (e *Executor) carryOut(ctx context.Context, x *execution) {
	defer e.Listener.LeavesChanged(x.of)
	var leaf plan.Leaf
	err := e.Guard.Call(x.String(), func() error {
		if x.run.Kind == plan.HTTP {
			leaf = e.request(ctx, x)
		} else {
			leaf = e.act(ctx, x)
		}
		return nil
	})
	var why stopped
	switch {
	case errors.As(context.Cause(ctx), &why) && !leaf.Phase.Completed():
		leaf = failed(v1alpha1.NodeFailed, "%s", string(why))
	case err != nil:
		leaf = failed(v1alpha1.NodeError, "%s", err)
	case e.ctx.Err() != nil && !leaf.Phase.Completed():
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	leaf.StartedAt, leaf.FinishedAt = x.leaf.StartedAt, time.Now()
	x.leaf = leaf
}

// failed is the end of an execution that did not succeed.
func failed(phase v1alpha1.NodePhase, format string, args ...any) plan.Leaf {
	return plan.Leaf{Phase: phase, Message: fmt.Sprintf(format, args...)}
}

// progress says how far an execution got that has not ended.
func (e *Executor) progress(x *execution, phase v1alpha1.NodePhase, message string) {
	e.mu.Lock()
	changed := x.leaf.Phase != phase || x.leaf.Message != message
	x.leaf.Phase, x.leaf.Message = phase, message
	if phase == v1alpha1.NodeRunning && x.leaf.StartedAt.IsZero() {
		x.leaf.StartedAt = time.Now()
	}
	e.mu.Unlock()
	if changed {
		e.Listener.LeavesChanged(x.of)
	}
}

// Stop ends an execution.
func (e *Executor) Stop(_ context.Context, of execute.Workflow, node, reason string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.runs[of][node]; x != nil {
		x.stop(stopped(reason))
	}
	return nil
}

// Remove forgets an execution.
func (e *Executor) Remove(_ context.Context, of execute.Workflow, node string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.runs[of][node]; x != nil {
		x.stop(nil)
		delete(e.runs[of], node)
	}
	return nil
}

// Leaves are the executions of a workflow.
func (e *Executor) Leaves(_ context.Context, of execute.Workflow) (map[string]plan.Leaf, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make(map[string]plan.Leaf, len(e.runs[of]))
	for id, x := range e.runs[of] {
		leaf := x.leaf
		leaf.Labels = x.run.Labels()
		all[id] = leaf
	}
	return all, nil
}

// Forget ends and forgets the executions of a workflow.
func (e *Executor) Forget(_ context.Context, of execute.Workflow) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.runs[of] {
		x.stop(nil)
	}
	delete(e.runs, of)
	return nil
}

// Recorded takes note of the status of a workflow as it is stored: what is running there may have effects that cannot be repeated, and
// what has ended there is forgotten here.
func (e *Executor) Recorded(wf *v1alpha1.Workflow) {
	of := execute.Of(wf)
	e.mu.Lock()
	defer e.mu.Unlock()
	runs := e.runs[of]
	maps.DeleteFunc(runs, func(id string, x *execution) bool {
		node, known := wf.Status.Nodes[id]
		if known && node.Phase == v1alpha1.NodeRunning {
			x.once.Do(func() { close(x.recorded) })
		}
		return known && node.Phase.Fulfilled() && x.leaf.Phase.Fulfilled()
	})
	if len(runs) == 0 {
		delete(e.runs, of)
	}
}

// Wait waits until everything has ended that was begun, once the context has.
func (e *Executor) Wait() {
	<-e.ctx.Done()
	e.wg.Wait()
}

var _ execute.Executor = (*Executor)(nil)
