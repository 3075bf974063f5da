package plan

import (
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// tolerated are the nodes, by ID, that failed and did not fail the workflow, with all that is part of them: what comes after such a node was executed
// nevertheless, or what it is part of has succeeded.
func tolerated(wf *v1alpha1.Workflow) map[string]bool {
	p := &planner{wf: wf, nodes: map[string]*v1alpha1.NodeStatus{}}
	for id, node := range wf.Status.Nodes {
		p.nodes[id] = &node
	}
	kept := map[string]bool{}
	for _, id := range p.sorted() {
		node := p.nodes[id]
		if !node.Phase.Bad() || !p.succeededAround(node) && !p.followed(node) {
			continue
		}
		kept[id] = true
		for other, inner := range p.nodes {
			if partOf(inner, node) {
				kept[other] = true
			}
		}
	}
	return kept
}

// partOf reports whether a node is below another one by its name: an attempt, a child, a hook.
func partOf(inner, node *v1alpha1.NodeStatus) bool {
	rest, below := strings.CutPrefix(inner.Name, node.Name)
	return below && rest != "" && strings.ContainsAny(rest[:1], ".([")
}

// followed reports whether anything that comes after a node was executed. What was skipped or omitted was not.
func (p *planner) followed(node *v1alpha1.NodeStatus) bool {
	for _, id := range p.outbound(node.ID) {
		for _, next := range p.nodes[id].Children {
			after := p.nodes[next]
			if after != nil && !after.Hooked() && !after.Retried() && !partOf(after, node) && after.Type != v1alpha1.NodeTypeSkipped {
				return true
			}
		}
	}
	return false
}

// succeededAround reports whether anything that a node is part of has succeeded, such as the group of its step. Attempts are part of what is
// retried, and hooks of what they are for.
func (p *planner) succeededAround(node *v1alpha1.NodeStatus) bool {
	for _, other := range p.nodes {
		if other.Phase == v1alpha1.NodeSucceeded && grouped(other.Type) && partOf(node, other) && !node.Hooked() {
			return true
		}
	}
	return false
}
