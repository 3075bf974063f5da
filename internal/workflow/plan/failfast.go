package plan

import (
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// failedFast is the message of what a failure beside it ended.
const failedFast = "template has failed or errored children and failFast enabled"

// failFast ends a group of steps of which one has failed while others have not ended, if its template says so, once none of them executes anything.
func (p *planner) failFast(c call, node, current *v1alpha1.NodeStatus) {
	if c.template.FailFast == nil || !*c.template.FailFast {
		return
	}
	p.endRetries(node)
	if !p.executing(current) {
		p.endWaiting(current)
		p.mark(current, v1alpha1.NodeFailed, failedFast)
	}
}

// endRetries ends the children of a node that wait for another attempt, which a failure beside them keeps from beginning.
func (p *planner) endRetries(node *v1alpha1.NodeStatus) {
	for _, id := range p.sorted() {
		child := p.nodes[id]
		if child.BoundaryID != node.ID || child.Type != v1alpha1.NodeTypeRetry || child.Phase.Fulfilled() || child.Hooked() {
			continue
		}
		attempts := p.attempts(child)
		if len(attempts) == 0 {
			continue
		}
		if last := attempts[len(attempts)-1]; last.Phase.Fulfilled() {
			p.mark(child, last.Phase, failedFast)
		}
	}
}

// executing reports whether an execution below a node is in progress.
func (p *planner) executing(node *v1alpha1.NodeStatus) bool {
	for _, other := range p.nodes {
		if executes(other.Type) && !other.Phase.Fulfilled() && strings.HasPrefix(other.Name, node.Name+".") {
			return true
		}
	}
	return false
}

// endWaiting ends all nodes below one that has failed: nothing executes there, and what they wait for has lost its meaning.
func (p *planner) endWaiting(node *v1alpha1.NodeStatus) {
	for _, id := range p.sorted() {
		if other := p.nodes[id]; !other.Phase.Fulfilled() && strings.HasPrefix(other.Name, node.Name+".") {
			p.mark(other, v1alpha1.NodeFailed, failedFast)
		}
	}
}
