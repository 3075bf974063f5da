// Package process carries out containers and scripts as processes of this machine, for a person who permits that for a directory of their own.
//
// Nothing is pulled: the command of a container has to be a program of this machine. A process sees the files of the machine, which it cannot
// change, and has directories of its own wherever its template declares any: volumes, artifacts, outputs, /tmp. Its environment is what the
// template declares. What it may do in the cluster is what the account of the template may do, and what it gets of Secrets is
// what that account may read; secret values are handed over by pipes and kept in memory, and are taken out of what is printed.
// It has no capabilities, no devices but harmless ones, and cannot change settings of the kernel. A machine without namespaces cannot confine it so: there
// nothing runs, unless that is permitted, too. It is no sandbox against its own user: it runs as the user of this process, in the network of this machine.
//
// Each execution has a directory, and a keeper: a process of this binary that outlives the engine, starts the program, and records
// how it ended. The keeper holds a lock for as long as it lives, so that it is always known whether one does. It records that it begins before it
// begins, so that nothing is begun twice; where neither an end nor a keeper is found, the outcome is lost and the leaf an error.
// Only its directory decides what an execution is: another engine that reads it takes the same decisions.
package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Limits bound each execution.
type Limits struct {
	// Log is how much is kept of what it prints, in bytes; Result how much of that is its result, from the end; Parameter how large the value
	// of an output is.
	Log, Result, Parameter int
	// Grace is the time between the request to end and the end.
	Grace time.Duration
}

// DefaultLimits are those of an Executor that is given none.
func DefaultLimits() Limits {
	return Limits{Log: 16 << 20, Result: 256 << 10, Parameter: 256 << 10, Grace: 10 * time.Second}
}

// Options are what an Executor needs.
type Options struct {
	// Dir is a directory of its own that outlives the process.
	Dir string
	// Config is how the cluster is reached, by an identity that may impersonate accounts and request tokens for them.
	Config *rest.Config
	// Program is this binary, as sandbox.Self finds it. Its main begins with Serve.
	Program string
	// Places is where artifacts are, and go.
	Places *artifacts.Places
	// Hidden are directories that no process gets to see, such as that of the state of the cluster.
	Hidden []string
	// Unconfined has processes run also where they cannot be confined.
	Unconfined bool
	// AtOnce is how many processes of a namespace run at a time, of all namespaces one more; zero for one per processor.
	AtOnce int
	// Limits are the default ones where they are zero.
	Limits Limits
	// Listener is notified of changes.
	Listener execute.Listener
	Guard    guard.Guard
}

// Executor carries out containers and scripts.
type Executor struct {
	options Options
	ability ability
	slots   *rounds.Slots
	// running ends what waits here when the engine ends; keepers live longer.
	running context.Context //nolint:containedctx // it is that of New
	wg      sync.WaitGroup

	mu     sync.Mutex
	active map[string]*execution
}

// The directories of an executor: of executions, and of what they print.
const (
	runsDir = "runs"
	logsDir = "logs"
)

// New returns an Executor for as long as ctx lasts. It adopts what runs already, and continues with what waits.
func New(ctx context.Context, o Options) (*Executor, error) {
	defaults := DefaultLimits()
	if o.Limits == (Limits{}) {
		o.Limits = defaults
	}
	if o.AtOnce <= 0 {
		o.AtOnce = runtime.NumCPU()
	}
	for _, dir := range []string{runsDir, logsDir} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("preparing to run processes: %w", err)
		}
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("preparing to run processes: %w", err)
	}
	if o.Dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("preparing to run processes: %w", err)
	}
	e := &Executor{options: o, slots: rounds.NewBoundedSlots(o.AtOnce+1, o.AtOnce), running: ctx, active: map[string]*execution{}}
	e.ability = probe(ctx, o.Program, o.Dir)
	return e, e.resume()
}

// Able is why processes are not confined on this machine, and have no paths of their own; empty if they are.
func (e *Executor) Able() string { return e.ability.Reason }

// Wait waits until nothing more is done here. Keepers and their programs are not waited for.
func (e *Executor) Wait() { e.wg.Wait() }

// resume continues with every execution that has not ended.
func (e *Executor) resume() error {
	found, err := filepath.Glob(filepath.Join(e.options.Dir, runsDir, "*", "*", intentFile))
	if err != nil {
		return err
	}
	for _, name := range found {
		x, err := e.open(filepath.Dir(name))
		if err != nil {
			return fmt.Errorf("adopting an execution: %w; delete its directory if it is damaged", err)
		}
		if x.has(leafFile) {
			x.tidy()
			continue
		}
		e.take(x)
	}
	return nil
}

// name is what a UID and an ID of a node look like, which are names of directories here.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// place is the directory of an execution.
func (e *Executor) place(of execute.Workflow, node string) (string, error) {
	if !name.MatchString(string(of.UID)) || !name.MatchString(node) {
		return "", fmt.Errorf("execution %q of workflow %q with the UID %q: it has no name that a directory may have", node, of.Name, of.UID)
	}
	return filepath.Join(e.options.Dir, runsDir, string(of.UID), node), nil
}

// Start records what is to be executed, after which it is executed sooner or later.
func (e *Executor) Start(_ context.Context, of *v1alpha1.Workflow, run plan.Run) error {
	workflow := execute.Of(of)
	dir, err := e.place(workflow, run.NodeID)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := e.remember(workflow); err != nil {
		return err
	}
	x := &execution{dir: dir, intent: intent{Namespace: of.Namespace, Workflow: of.Name, UID: of.UID, Run: run}, ended: make(chan struct{})}
	if reason := e.refusal(&run); reason != "" {
		return x.create(&plan.Leaf{Phase: v1alpha1.NodeError, Message: reason, Final: true, FinishedAt: time.Now(), Labels: run.Labels()})
	}
	if err := x.create(nil); err != nil {
		return err
	}
	e.takeLocked(x)
	return nil
}

// take brings an execution to its end, in the background.
func (e *Executor) take(x *execution) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takeLocked(x)
}

func (e *Executor) takeLocked(x *execution) {
	ctx, cancel := context.WithCancel(e.running)
	x.cancel = cancel
	e.active[x.dir] = x
	e.wg.Add(1)
	e.options.Guard.Go("step "+x.intent.Run.NodeID, func() {
		defer e.wg.Done()
		defer e.left(x)
		defer cancel()
		e.bring(ctx, x)
	})
}

// left is when an execution is no longer followed.
func (e *Executor) left(x *execution) {
	e.mu.Lock()
	delete(e.active, x.dir)
	e.mu.Unlock()
	close(x.ended)
	e.changed(x.intent.of())
}

func (e *Executor) changed(of execute.Workflow) {
	if e.options.Listener != nil {
		e.options.Listener.LeavesChanged(of)
	}
}

// activeAt is the execution in a directory, as long as it has not ended.
func (e *Executor) activeAt(dir string) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.active[dir]
}

// Stop ends an execution.
func (e *Executor) Stop(_ context.Context, of execute.Workflow, node, reason string) error {
	dir, err := e.place(of, node)
	if err != nil {
		return err
	}
	x := e.activeAt(dir)
	if x == nil {
		return nil
	}
	return x.stop(reason)
}

// Remove deletes an execution, and ends it before that.
func (e *Executor) Remove(ctx context.Context, of execute.Workflow, node string) error {
	dir, err := e.place(of, node)
	if err != nil {
		return err
	}
	if x := e.activeAt(dir); x != nil {
		if err := x.stop("it is removed"); err != nil {
			return err
		}
		select {
		case <-x.ended:
		case <-ctx.Done():
			return fmt.Errorf("removing %s: it has not ended: %w", node, context.Cause(ctx))
		}
	}
	return discard(dir)
}

// Leaves are all executions of a workflow.
func (e *Executor) Leaves(_ context.Context, of execute.Workflow) (map[string]plan.Leaf, error) {
	leaves := map[string]plan.Leaf{}
	entries, err := e.nodes(of)
	if err != nil {
		return nil, err
	}
	for _, node := range entries {
		dir, err := e.place(of, node)
		if err != nil {
			return nil, err
		}
		leaf, err := e.leaf(dir)
		if err != nil {
			return nil, fmt.Errorf("reading the state of %s: %w", node, err)
		}
		leaves[node] = leaf
	}
	return leaves, nil
}

// nodes are the IDs of the nodes that have executions.
func (e *Executor) nodes(of execute.Workflow) ([]string, error) {
	dir, err := e.place(of, "none")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the executions of workflow %s: %w", of.NamespacedName, err)
	}
	var nodes []string
	for _, entry := range entries {
		if name.MatchString(entry.Name()) {
			nodes = append(nodes, entry.Name())
		}
	}
	return nodes, nil
}

// Forget deletes everything that is kept of a workflow.
func (e *Executor) Forget(ctx context.Context, of execute.Workflow) error {
	nodes, err := e.nodes(of)
	if err != nil {
		return err
	}
	var errs []error
	for _, node := range nodes {
		errs = append(errs, e.Remove(ctx, of, node))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err = errors.Join(
		discard(filepath.Join(e.options.Dir, runsDir, string(of.UID))),
		discard(filepath.Join(e.options.Dir, logsDir, string(of.UID))),
		discard(e.claims(of.UID)),
		e.options.Places.Store.Forget(of.UID),
	)
	if err != nil {
		return err
	}
	return discard(filepath.Join(e.options.Dir, keptDir, string(of.UID)+".json"))
}

// claims is where the claims of a workflow have their directories.
func (e *Executor) claims(uid types.UID) string {
	return filepath.Join(e.options.Dir, "claims", string(uid))
}

// discard deletes a directory, also what a program has made unwritable.
func discard(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(file, 0o700) //nolint:gosec // it is about to be deleted
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("deleting what an execution has left: %w", err)
	}
	return nil
}
