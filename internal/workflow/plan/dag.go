package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// graph is one pass over the tasks of a graph.
type graph struct {
	call

	node  *v1alpha1.NodeStatus
	tasks map[string]*v1alpha1.DAGTask
	needs map[string]text.Dependencies
	// visited are tasks that this pass was at; ended are those that have ended with their hooks.
	visited, ended map[string]bool
	// halted is set when no task begins anymore.
	halted bool
}

// dag brings a node further that stands for a graph of tasks.
func (p *planner) dag(c call) *v1alpha1.NodeStatus {
	node := p.node(c.name)
	if node == nil {
		node = p.begun(c, v1alpha1.NodeTypeDAG)
	}
	g, err := newGraph(c, node)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error())
	}
	targets := g.targets()
	g.halted = g.halts(p)
	for _, name := range targets {
		if err := p.task(g, name); err != nil {
			return p.mark(node, v1alpha1.NodeError, err.Error())
		}
	}
	if g.halts(p) {
		p.endRetries(node)
	}
	phase := p.assess(g, targets)
	if phase == v1alpha1.NodeRunning {
		return node
	}
	node.OutboundNodes = nil
	for _, name := range targets {
		if target := p.node(g.taskName(name)); target != nil {
			node.OutboundNodes = append(node.OutboundNodes, p.outbound(target.ID)...)
		}
	}
	if phase.Bad() {
		return p.mark(node, phase, "")
	}
	scope := c.inner.Inside()
	for i := range c.template.DAG.Tasks {
		p.describeTask(scope, g, c.template.DAG.Tasks[i].Name)
	}
	return p.complete(c, node, scope)
}

func newGraph(c call, node *v1alpha1.NodeStatus) (*graph, error) {
	g := &graph{
		call: c, node: node, tasks: map[string]*v1alpha1.DAGTask{}, needs: map[string]text.Dependencies{},
		visited: map[string]bool{}, ended: map[string]bool{},
	}
	for i := range c.template.DAG.Tasks {
		task := &c.template.DAG.Tasks[i]
		g.tasks[task.Name] = task
	}
	for name, task := range g.tasks {
		needs, err := text.ParseDependencies(task, g.tasks)
		if err != nil {
			return nil, fmt.Errorf("task %q: %w", name, err)
		}
		for _, other := range needs.Tasks {
			if g.tasks[other] == nil {
				return nil, fmt.Errorf("task %q depends on %q, which is not a task of template %q", name, other, c.template.Name)
			}
		}
		g.needs[name] = needs
	}
	for _, name := range g.targets() {
		if g.tasks[name] == nil {
			return nil, fmt.Errorf("target %q is not a task of template %q", name, c.template.Name)
		}
	}
	return g, g.acyclic()
}

// acyclic refuses a graph in which a task depends on itself by way of others.
func (g *graph) acyclic() error {
	done := map[string]bool{}
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		if slices.Contains(path, name) {
			return fmt.Errorf("tasks of template %q depend on each other: %s", g.template.Name, strings.Join(append(path, name), " -> "))
		}
		if done[name] {
			return nil
		}
		for _, other := range g.needs[name].Tasks {
			if err := visit(other, append(path, name)); err != nil {
				return err
			}
		}
		done[name] = true
		return nil
	}
	for i := range g.template.DAG.Tasks {
		if err := visit(g.template.DAG.Tasks[i].Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// targets are the tasks that are wanted: those that are named, or those that no other one depends on.
func (g *graph) targets() []string {
	if target := g.template.DAG.Target; target != "" {
		return strings.Fields(target)
	}
	var last []string
	for name := range g.tasks {
		needed := false
		for _, needs := range g.needs {
			needed = needed || slices.Contains(needs.Tasks, name)
		}
		if !needed {
			last = append(last, name)
		}
	}
	slices.Sort(last)
	return last
}

func (g *graph) taskName(task string) string { return g.name + "." + task }

// halts reports whether a task failed in a way that no other one handles, after which none begins.
func (g *graph) halts(p *planner) bool {
	if fast := g.template.DAG.FailFast; fast != nil && !*fast {
		return false
	}
	known := p.results(g)
	for name, task := range g.tasks {
		node := p.node(g.taskName(name))
		if node == nil || !node.Phase.Bad() || task.ContinueOn.Covers(node.Phase) {
			continue
		}
		handled := false
		for other, needs := range g.needs {
			if !slices.Contains(needs.Tasks, name) {
				continue
			}
			after := p.node(g.taskName(other))
			if after == nil && needs.Possible(known) || after != nil && !skipped(after) {
				handled = true
			}
		}
		if !handled {
			return true
		}
	}
	return false
}

func skipped(node *v1alpha1.NodeStatus) bool {
	return node.Phase == v1alpha1.NodeOmitted || node.Phase == v1alpha1.NodeSkipped
}

// results are those of the tasks that have ended.
func (p *planner) results(g *graph) map[string]text.Result {
	all := map[string]text.Result{}
	for name := range g.tasks {
		node := p.node(g.taskName(name))
		if node == nil || !node.Phase.Fulfilled() {
			continue
		}
		result := text.Result{
			Succeeded: node.Phase == v1alpha1.NodeSucceeded, Failed: node.Phase == v1alpha1.NodeFailed, Errored: node.Phase == v1alpha1.NodeError,
			Skipped: node.Phase == v1alpha1.NodeSkipped, Omitted: node.Phase == v1alpha1.NodeOmitted,
		}
		if node.Type == v1alpha1.NodeTypeTaskGroup {
			result.AllFailed = len(node.Children) > 0
			for _, id := range node.Children {
				if child := p.nodes[id]; child != nil && !child.Hooked() {
					result.AnySucceeded = result.AnySucceeded || child.Phase == v1alpha1.NodeSucceeded
					result.AllFailed = result.AllFailed && child.Phase == v1alpha1.NodeFailed
				}
			}
		}
		all[name] = result
	}
	return all
}

// assess is the phase of the graph: Running while anything is in progress, else what the targets say.
func (p *planner) assess(g *graph, targets []string) v1alpha1.NodePhase {
	for name := range g.tasks {
		if node := p.node(g.taskName(name)); node != nil && (!node.Phase.Fulfilled() || !g.ended[name] && g.visited[name]) {
			return v1alpha1.NodeRunning
		}
	}
	result := v1alpha1.NodeSucceeded
	for _, name := range targets {
		if p.node(g.taskName(name)) == nil && !g.halted {
			return v1alpha1.NodeRunning
		}
		if phase := p.branch(g, name, map[string]v1alpha1.NodePhase{}); phase.Bad() && !g.tasks[name].ContinueOn.Covers(phase) && !result.Bad() {
			result = phase
		}
	}
	if g.halted && !result.Bad() {
		result = v1alpha1.NodeFailed
	}
	if p.shutting(g.exit) {
		return v1alpha1.NodeFailed
	}
	return result
}

// branch is the phase that a task counts with: its own, or the worst of what it depends on if it was not executed.
func (p *planner) branch(g *graph, name string, known map[string]v1alpha1.NodePhase) v1alpha1.NodePhase {
	if phase, found := known[name]; found {
		return phase
	}
	node := p.node(g.taskName(name))
	if node != nil && node.Phase.Completed() {
		known[name] = node.Phase
		return node.Phase
	}
	phase := v1alpha1.NodeSucceeded
	for _, other := range g.needs[name].Tasks {
		if before := p.branch(g, other, known); before.Bad() && !phase.Bad() {
			phase = before
		}
	}
	known[name] = phase
	return phase
}
