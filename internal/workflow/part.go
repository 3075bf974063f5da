package workflow

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/here"
)

// manager is the field manager of what is written into Workflows and schedules.
const manager = "headgate"

// passes bounds the passes that are made at a time.
const passes = 16

// part is the dialect as it is served in one cluster.
type part struct {
	*dialect.Host
	client dynamic.Interface
	kube   kubernetes.Interface
	events *declared.Events
	// defaults are merged below the spec of every Workflow.
	defaults *v1alpha1.WorkflowSpec
	// inherited are the labels that runs of a schedule need to be served where it is: those of the shard.
	inherited []string

	workflows *declared.Registry[v1alpha1.Workflow, *v1alpha1.Workflow]
	schedules *declared.Registry[v1alpha1.CronWorkflow, *v1alpha1.CronWorkflow]
	templates *declared.Registry[v1alpha1.WorkflowTemplate, *v1alpha1.WorkflowTemplate]
	clusterly *declared.Registry[v1alpha1.ClusterWorkflowTemplate, *v1alpha1.ClusterWorkflowTemplate]

	runs, crons *rounds.Loop[types.NamespacedName]
	executor    *dispatcher
	wg          sync.WaitGroup

	mu sync.Mutex
	// gone are workflows that were deleted, and that the executors have yet to forget.
	gone map[types.NamespacedName][]execute.Workflow
	// broken are Workflows and schedules that cannot be read, and whose status has yet to say so.
	broken map[engine.UnitID]*unstructured.Unstructured
}

// Serve puts together what serves workflows.
func (d *Dialect) Serve(ctx context.Context, host *dialect.Host) (dialect.Part, error) {
	kube, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	kind := func(name string) schema.GroupKind {
		return schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}
	}
	p := &part{
		Host: host, client: host.Home.Dynamic, kube: kube, gone: map[types.NamespacedName][]execute.Workflow{},
		broken:    map[engine.UnitID]*unstructured.Unstructured{},
		events:    declared.NewEvents(kube, nil),
		defaults:  d.Defaults,
		workflows: declared.NewRegistry[v1alpha1.Workflow](kind(v1alpha1.WorkflowKind)),
		schedules: declared.NewRegistry[v1alpha1.CronWorkflow](kind(v1alpha1.CronWorkflowKind)),
		templates: declared.NewRegistry[v1alpha1.WorkflowTemplate](kind(v1alpha1.WorkflowTemplateKind)),
		clusterly: declared.NewRegistry[v1alpha1.ClusterWorkflowTemplate](kind(v1alpha1.ClusterWorkflowTemplateKind)),
	}
	selector, err := labels.Parse(host.Selector)
	if err != nil {
		return nil, fmt.Errorf("reading the selector of the shard: %w", err)
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		p.inherited = append(p.inherited, r.Key())
	}
	options := rounds.Options{
		Slots: rounds.NewSlots(passes), Backoff: rounds.Backoff{Min: 250 * time.Millisecond, Max: time.Minute}, Log: host.Log, Guard: host.Guard,
	}
	p.runs, p.crons = rounds.New(workflowPasses{p}, options), rounds.New(schedulePasses{p}, options)
	local := here.New(ctx, here.Config{Cluster: host.Config, Kinds: host.Home.Kinds, Listener: p, Guard: host.Guard, Sandbox: host.Sandbox, Egress: host.Egress.Requests})
	var containers execute.Executor = newRefuser(cmp.Or(d.Refusal, refusal))
	if d.Containers != nil {
		if containers, err = d.Containers.Executor(ctx, host, p); err != nil {
			return nil, fmt.Errorf("preparing to execute containers: %w", err)
		}
	}
	p.executor = newDispatcher(containers, local)
	return p, nil
}

// Joins brings nothing to the runner: Workflows are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute

// Start begins to serve what there is. Templates are known before Workflows that name them.
func (p *part) Start(ctx context.Context) error {
	context.AfterFunc(ctx, p.events.Stop)
	wait, cancel := context.WithTimeoutCause(ctx, syncTimeout, fmt.Errorf("timed out after %s", syncTimeout))
	defer cancel()
	watches := func(kinds map[string]cluster.Sink, selector string) error {
		var all errgroup.Group
		for resource, sink := range kinds {
			all.Go(func() error {
				return cluster.Within(wait, resource, func() error {
					return p.Home.Watch(ctx, v1alpha1.GroupVersion.WithResource(resource), selector, sink)
				})
			})
		}
		return all.Wait()
	}
	if err := watches(map[string]cluster.Sink{
		"workflowtemplates":        {Put: p.putTemplate, Dropped: p.dropTemplate},
		"clusterworkflowtemplates": {Put: p.putTemplate, Dropped: p.dropTemplate},
	}, ""); err != nil {
		return err
	}
	if err := watches(map[string]cluster.Sink{
		"workflows":     {Put: p.putWorkflow, Dropped: p.dropWorkflow},
		"cronworkflows": {Put: p.putSchedule, Dropped: p.dropSchedule},
	}, p.Selector); err != nil {
		return err
	}
	if err := p.forgetOthers(wait); err != nil {
		return err
	}
	p.unread(wait)
	p.runs.Start(ctx)
	p.crons.Start(ctx)
	p.wg.Go(p.runs.Wait)
	p.wg.Go(p.crons.Wait)
	return nil
}

// forgetOthers has the executors forget workflows that were deleted while no engine was running.
func (p *part) forgetOthers(ctx context.Context) error {
	kept, err := p.executor.Kept(ctx)
	if err != nil {
		return fmt.Errorf("reading what is kept of executions: %w", err)
	}
	for _, of := range kept {
		if wf, known := p.workflow(of.NamespacedName); !known || wf.UID != of.UID {
			p.leave(of)
		}
	}
	return nil
}

// leave has the executors forget a workflow.
func (p *part) leave(of execute.Workflow) {
	p.mu.Lock()
	p.gone[of.NamespacedName] = append(p.gone[of.NamespacedName], of)
	p.mu.Unlock()
	p.runs.Wake(of.NamespacedName)
}

// LeavesChanged has a pass made for a workflow whose executions got further.
func (p *part) LeavesChanged(of execute.Workflow) { p.runs.Wake(of.NamespacedName) }

// Nudge has nothing to fetch.
func (*part) Nudge(func(url string) bool) {}

// Wait waits until everything has ended: passes first, as they start executions.
func (p *part) Wait() {
	p.wg.Wait()
	p.executor.Wait()
}

// nameOf is what an object is known by.
func nameOf(u *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
}

var (
	_ dialect.Part     = (*part)(nil)
	_ execute.Listener = (*part)(nil)
)
