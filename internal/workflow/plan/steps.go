package plan

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// steps brings a node further that stands for groups of steps, one after the other.
func (p *planner) steps(c call) *v1alpha1.NodeStatus {
	node := p.node(c.name)
	if node == nil {
		node = p.begun(c, v1alpha1.NodeTypeSteps)
	}
	scope := c.inner.Inside()
	var previous *v1alpha1.NodeStatus
	for i, group := range c.template.Steps {
		current := p.group(c, node, previous, i)
		if !current.Phase.Fulfilled() {
			p.stepGroup(c, node, current, group, scope)
		}
		if !current.Phase.Fulfilled() {
			return node
		}
		if current.Phase.Bad() {
			node.OutboundNodes = p.outboundOf(current.Children)
			return p.mark(node, current.Phase, current.Message)
		}
		for j := range group {
			p.describeStep(scope, c, node, current, &group[j].Execution)
		}
		previous = current
	}
	if previous != nil {
		node.OutboundNodes = p.outboundOf(previous.Children)
		if len(previous.Children) == 0 {
			node.OutboundNodes = []string{previous.ID}
		}
	}
	return p.complete(c, node, scope)
}

// begun makes the node of steps or a graph.
func (p *planner) begun(c call, kind v1alpha1.NodeType) *v1alpha1.NodeStatus {
	node := p.create(c.request, kind, v1alpha1.NodeRunning, "")
	if inputs := c.template.Inputs; len(inputs.Parameters)+len(inputs.Artifacts) > 0 {
		node.Inputs = inputs.DeepCopy()
	}
	return node
}

// complete ends steps or a graph that went well, with their outputs.
func (p *planner) complete(c call, node *v1alpha1.NodeStatus, scope *text.Scope) *v1alpha1.NodeStatus {
	outputs, err := collect(c.template, scope)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error())
	}
	node.Outputs = outputs
	p.export(outputs)
	return p.mark(node, v1alpha1.NodeSucceeded, "")
}

// group is the node of one group, made if need be, as a child of what it follows.
func (p *planner) group(c call, node, previous *v1alpha1.NodeStatus, index int) *v1alpha1.NodeStatus {
	name := fmt.Sprintf("%s[%d]", c.name, index)
	if current := p.node(name); current != nil {
		return current
	}
	current := p.create(request{name: name, place: c.at, boundary: node.ID}, v1alpha1.NodeTypeStepGroup, v1alpha1.NodeRunning, "")
	switch {
	case previous == nil:
		p.adopt(node, current)
	case len(previous.Children) == 0:
		p.adopt(previous, current)
	default:
		for _, id := range p.outboundOf(previous.Children) {
			p.adopt(p.nodes[id], current)
		}
	}
	return current
}

// stepGroup brings all steps of a group further, and ends it once all of them have ended.
func (p *planner) stepGroup(c call, node, current *v1alpha1.NodeStatus, group v1alpha1.ParallelSteps, scope *text.Scope) {
	done := true
	var failed string
	for i := range group {
		step := &group[i].Execution
		all, err := expand(step, scope)
		if err != nil {
			p.mark(current, v1alpha1.NodeError, err.Error())
			return
		}
		for _, one := range all {
			child, settled, err := p.step(c, node, current, step, one)
			if err != nil && (child == nil || !step.ContinueOn.Covers(child.Phase)) {
				p.mark(current, v1alpha1.NodeError, fmt.Sprintf("step group deemed errored due to child %s error: %s", current.Name+"."+one.name, err))
				return
			}
			done = done && (settled || err != nil)
			if failed == "" && child != nil && child.Phase.Bad() && !step.ContinueOn.Covers(child.Phase) {
				failed = child.ID
			}
		}
	}
	switch {
	case !done && failed != "":
		p.failFast(c, node, current)
	case !done:
	case failed != "":
		p.mark(current, v1alpha1.NodeFailed, fmt.Sprintf("child '%s' failed", failed))
	default:
		p.mark(current, v1alpha1.NodeSucceeded, "")
	}
}

// step brings one execution of a step further, and reports whether it has ended with its hooks.
func (p *planner) step(c call, node, current *v1alpha1.NodeStatus, step *v1alpha1.Execution, one concrete) (*v1alpha1.NodeStatus, bool, error) {
	r := p.stepRequest(c, node, current, step, one.name)
	child := p.node(r.name)
	if child == nil {
		switch {
		case one.err != nil:
			p.adopt(current, p.fail(r, one.err))
			return nil, false, one.err
		case one.skip != "":
			child = p.create(r, v1alpha1.NodeTypeSkipped, v1alpha1.NodeSkipped, one.skip)
			p.adopt(current, child)
			return child, true, nil
		}
	}
	if child == nil || !child.Phase.Fulfilled() {
		r.arguments = one.arguments
		var err error
		if child, err = p.execute(r); child != nil {
			p.adopt(current, child)
		}
		if err != nil {
			return child, false, err
		}
	}
	if child == nil {
		return nil, false, nil
	}
	settled, err := p.hooks(step, child, r, "steps."+step.Name, one.scope)
	return child, settled && child.Phase.Fulfilled(), err
}

func (p *planner) stepRequest(c call, node, current *v1alpha1.NodeStatus, step *v1alpha1.Execution, name string) request {
	return request{
		name: current.Name + "." + name, call: step.Call, inline: step.Inline, place: c.at, boundary: node.ID, owner: c.template, step: step.Name,
		caller: [2]string{"steps.name", name}, exit: c.exit, scope: c.scope, until: c.until, avoid: c.avoid,
	}
}

// describeStep gives what is known of a step that has ended its names.
func (p *planner) describeStep(scope *text.Scope, c call, node, current *v1alpha1.NodeStatus, step *v1alpha1.Execution) {
	r := p.stepRequest(c, node, current, step, step.Name)
	name := "steps." + step.Name
	if child := p.node(r.name); child != nil {
		p.describe(scope, name, child, r)
		return
	}
	p.aggregate(scope, name, r.name+"(", r)
	scope.Set(name+".status", string(current.Phase))
	p.skippedLoop(scope, name, r, current)
}

// skippedLoop says that a loop gets no more outputs; one of which every execution was skipped has the defaults of its template.
func (p *planner) skippedLoop(scope *text.Scope, name string, r request, current *v1alpha1.NodeStatus) {
	all := v1alpha1.NodeStatus{Phase: v1alpha1.NodeSkipped}
	if slices.ContainsFunc(current.Children, func(id string) bool {
		return p.nodes[id] != nil && p.nodes[id].Phase.Completed()
	}) {
		all.Phase = v1alpha1.NodeSucceeded
	}
	p.finished(scope, name, &all, r)
}
