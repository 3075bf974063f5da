// Package execute is the port by which leaves of workflows are carried out: a container, a script, an action on an object, a request.
//
// What is decided is package plan's; this package says what an executor promises, and its sub-packages are the executors: pods, processes of this
// machine, and what this process does itself. Each keeps what it knows where it outlives the process, under names that follow
// from the workflow and the node, so that an execution is started once, however often it is requested and whenever a process was killed.
package execute

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Workflow is the one whose leaves are meant. One that was deleted and created again is another one: its UID says so.
type Workflow struct {
	types.NamespacedName
	UID types.UID
}

// Of is the Workflow that an object is.
func Of(wf *v1alpha1.Workflow) Workflow {
	return Workflow{types.NamespacedName{Namespace: wf.Namespace, Name: wf.Name}, wf.UID}
}

// Executor carries out executions of some kinds. It is safe for concurrent use; calls for one workflow come one after the other.
type Executor interface {
	// Start starts an execution, or adopts the one that was started for the same node before. When it returns nil, the
	// execution is among the Leaves from then on, also after a restart. What can never be started is no error: it is a leaf that
	// failed, with a message that says what to change; what waits for something that a person has to do is a pending one. An error
	// means that it is unknown whether anything was started: Start is called again.
	Start(ctx context.Context, of *v1alpha1.Workflow, run plan.Run) error
	// Stop ends an execution; its leaf becomes one that failed, with the reason as its message. There may be none, and it may have ended.
	Stop(ctx context.Context, of Workflow, node, reason string) error
	// Remove deletes an execution with everything that is kept of it but its logs and artifacts. There may be none.
	Remove(ctx context.Context, of Workflow, node string) error
	// Leaves are all executions of a workflow that exist, by the IDs of their nodes. An error means that they are unknown.
	Leaves(ctx context.Context, of Workflow) (map[string]plan.Leaf, error)
	// Forget deletes everything that is kept of a workflow that is gone.
	Forget(ctx context.Context, of Workflow) error
}

// Logged is an Executor that has what its executions printed.
type Logged interface {
	// Logs is what the execution of a node printed, until it ends if follow is set. The error is fs.ErrNotExist if there is none.
	Logs(ctx context.Context, of Workflow, node string, follow bool) (io.ReadCloser, error)
}

// Listener is notified when leaves of a workflow have changed, or may have. It must not block.
type Listener interface{ LeavesChanged(of Workflow) }
