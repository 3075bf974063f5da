package plan

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// task brings a task further, after those that it depends on.
func (p *planner) task(g *graph, name string) error {
	if g.visited[name] {
		return nil
	}
	g.visited[name] = true
	for _, other := range g.needs[name].Tasks {
		if err := p.task(g, other); err != nil {
			return err
		}
	}
	task := &g.tasks[name].Execution
	node := p.node(g.taskName(name))
	if node == nil {
		ready, err := p.ready(g, name)
		if err != nil || !ready {
			return err
		}
	}
	scope := p.taskScope(g, name)
	node = p.node(g.taskName(name))
	if node == nil || !node.Phase.Fulfilled() {
		if err := p.runTask(g, name, scope); err != nil {
			return err
		}
		node = p.node(g.taskName(name))
	}
	if node == nil {
		return nil
	}
	r := p.taskRequest(g, task, name)
	// The executions of a loop have hooks; their group has none, and ends after them.
	settled := true
	if node.Type != v1alpha1.NodeTypeTaskGroup {
		var err error
		if settled, err = p.hooks(task, node, r, "tasks."+name, scope); err != nil {
			p.mark(node, v1alpha1.NodeError, err.Error())
			settled = true
		}
	}
	g.ended[name] = settled && node.Phase.Fulfilled()
	return nil
}

// ready reports whether a task may begin. One that never will is omitted.
func (p *planner) ready(g *graph, name string) (bool, error) {
	results := p.results(g)
	needs := g.needs[name]
	for _, other := range needs.Tasks {
		if _, known := results[other]; !known || !g.ended[other] {
			return false, nil
		}
	}
	met, err := needs.Met(results)
	if err != nil {
		return false, err
	}
	r := p.taskRequest(g, &g.tasks[name].Execution, name)
	if !met {
		node := p.create(r, v1alpha1.NodeTypeSkipped, v1alpha1.NodeOmitted, "omitted: depends condition not met")
		p.connect(g, name, node)
		g.ended[name] = true
		return true, nil
	}
	return !g.halted, nil
}

// connect makes a node the child of what its task depends on, or of the graph.
func (p *planner) connect(g *graph, name string, node *v1alpha1.NodeStatus) {
	needs := g.needs[name].Tasks
	if len(needs) == 0 {
		p.adopt(g.node, node)
		return
	}
	for _, other := range needs {
		if before := p.node(g.taskName(other)); before != nil {
			for _, id := range p.outbound(before.ID) {
				p.adopt(p.nodes[id], node)
			}
		}
	}
}

// runTask brings the executions of a task further.
func (p *planner) runTask(g *graph, name string, scope *text.Scope) error {
	task := &g.tasks[name].Execution
	all, err := expand(task, scope)
	if err != nil {
		p.refuse(g, name, err)
		return nil
	}
	if !task.Expands() || len(all) == 1 && all[0].skip != "" && all[0].name == name {
		_, _, err := p.execution(g, task, name, all[0], nil)
		return err
	}
	group := p.node(g.taskName(name))
	if group == nil {
		group = p.create(p.taskRequest(g, task, name), v1alpha1.NodeTypeTaskGroup, v1alpha1.NodeRunning, "")
		p.connect(g, name, group)
	}
	phase, done := v1alpha1.NodeSucceeded, true
	for _, one := range all {
		node, settled, err := p.execution(g, task, name, one, group)
		if err != nil {
			return err
		}
		done = done && settled
		if node != nil && node.Phase.Bad() {
			phase = node.Phase
		}
	}
	if done {
		p.mark(group, phase, "")
		g.ended[name] = true
	}
	return nil
}

// refuse ends a task that a mistake keeps from being executed.
func (p *planner) refuse(g *graph, name string, err error) {
	node := p.fail(p.taskRequest(g, &g.tasks[name].Execution, name), err)
	p.connect(g, name, node)
	g.ended[name] = true
}

// execution brings one execution of a task further, and reports whether it has ended with its hooks.
func (p *planner) execution(g *graph, task *v1alpha1.Execution, name string, one concrete, group *v1alpha1.NodeStatus) (*v1alpha1.NodeStatus, bool, error) {
	r := p.taskRequest(g, task, one.name)
	node := p.node(r.name)
	fresh := node == nil
	switch {
	case fresh && one.err != nil:
		node = p.fail(r, one.err)
	case fresh && one.skip != "":
		node = p.create(r, v1alpha1.NodeTypeSkipped, v1alpha1.NodeSkipped, one.skip)
	case fresh || !node.Phase.Fulfilled():
		r.arguments = one.arguments
		var err error
		if node, err = p.execute(r); err != nil && node != nil {
			p.mark(node, v1alpha1.NodeError, fmt.Sprintf("task '%s' errored: %s", r.name, err))
		}
	}
	if node == nil {
		return nil, false, nil
	}
	if fresh {
		if group != nil {
			p.adopt(group, node)
		} else {
			p.connect(g, name, node)
		}
	}
	if group == nil {
		return node, node.Phase.Fulfilled(), nil
	}
	settled, err := p.hooks(task, node, r, "tasks."+name, one.scope)
	if err != nil {
		p.mark(node, v1alpha1.NodeError, err.Error())
		settled = true
	}
	return node, settled && node.Phase.Fulfilled(), nil
}

func (p *planner) taskRequest(g *graph, task *v1alpha1.Execution, name string) request {
	return request{
		name: g.taskName(name), call: task.Call, inline: task.Inline, place: g.at, boundary: g.node.ID, owner: g.template, step: task.Name,
		caller: [2]string{"tasks.name", name}, exit: g.exit, scope: g.scope, until: g.until, avoid: g.avoid,
	}
}

// taskScope is what a task sees: all that comes before it.
func (p *planner) taskScope(g *graph, name string) *text.Scope {
	scope := g.inner.Inside()
	seen := map[string]bool{}
	var visit func(string)
	visit = func(task string) {
		for _, other := range g.needs[task].Tasks {
			if !seen[other] {
				seen[other] = true
				visit(other)
				p.describeTask(scope, g, other)
			}
		}
	}
	visit(name)
	return scope
}

// describeTask gives what is known of a task its names.
func (p *planner) describeTask(scope *text.Scope, g *graph, name string) {
	if node := p.node(g.taskName(name)); node != nil {
		p.describe(scope, "tasks."+name, node, p.taskRequest(g, &g.tasks[name].Execution, name))
	}
}
