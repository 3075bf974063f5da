package plan

import (
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// node finds a node by its name; nil if there is none.
func (p *planner) node(name string) *v1alpha1.NodeStatus { return p.nodes[NodeID(p.wf.Name, name)] }

// create makes a node for a request.
func (p *planner) create(r request, kind v1alpha1.NodeType, phase v1alpha1.NodePhase, message string) *v1alpha1.NodeStatus {
	node := &v1alpha1.NodeStatus{
		ID: NodeID(p.wf.Name, r.name), Name: r.name, DisplayName: r.name, Type: kind, Phase: phase, Message: message,
		TemplateName: r.call.Template, TemplateRef: r.call.TemplateRef, TemplateScope: r.place.scope(p.wf.Name),
		BoundaryID: r.boundary, StartedAt: p.now(),
	}
	if r.flag != (v1alpha1.NodeFlag{}) {
		flag := r.flag
		node.NodeFlag = &flag
	}
	if boundary := p.nodes[r.boundary]; boundary != nil {
		node.DisplayName = displayName(boundary.Name, r.name)
	}
	if phase.Fulfilled() {
		node.FinishedAt = node.StartedAt
	}
	if executes(kind) {
		node.Progress = "0/1"
	}
	p.nodes[node.ID] = node
	return node
}

// fail makes the node of a request, or marks the one that it has, because of a mistake that keeps it from being executed.
func (p *planner) fail(r request, err error) *v1alpha1.NodeStatus {
	if node := p.node(r.name); node != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error())
	}
	return p.create(r, v1alpha1.NodeTypeSkipped, v1alpha1.NodeError, err.Error())
}

// mark sets the phase of a node, and when it ended.
func (p *planner) mark(node *v1alpha1.NodeStatus, phase v1alpha1.NodePhase, message string) *v1alpha1.NodeStatus {
	node.Phase, node.Message = phase, message
	if phase.Fulfilled() && node.FinishedAt.IsZero() {
		node.FinishedAt = p.now()
	}
	if phase == v1alpha1.NodeSucceeded {
		node.Progress = complete(node.Progress)
	}
	return node
}

// now is the time as statuses have it, which is in seconds.
func (p *planner) now() metav1.Time { return metav1.NewTime(p.facts.Now.UTC().Truncate(time.Second)) }

// adopt makes a node the child of another one.
func (p *planner) adopt(parent, child *v1alpha1.NodeStatus) {
	if !slices.Contains(parent.Children, child.ID) {
		parent.Children = append(parent.Children, child.ID)
	}
}

// attempts are the children of a node of type Retry, without its hooks.
func (p *planner) attempts(retry *v1alpha1.NodeStatus) []*v1alpha1.NodeStatus {
	var all []*v1alpha1.NodeStatus
	for _, id := range retry.Children {
		if child := p.nodes[id]; child != nil && child.Retried() {
			all = append(all, child)
		}
	}
	return all
}

// outbound are the last nodes of what a node stands for: those that the next ones follow.
func (p *planner) outbound(id string) []string { return p.outboundOf([]string{id}) }

// outboundOf are the last nodes of several ones.
func (p *planner) outboundOf(ids []string) []string {
	var all []string
	// Anyone who can write a status can make nodes that follow themselves.
	seen := map[string]bool{}
	var visit func(string)
	visit = func(id string) {
		if p.nodes[id] == nil || seen[id] {
			return
		}
		seen[id] = true
		next, last := p.follow(id)
		if last != "" && !slices.Contains(all, last) {
			all = append(all, last)
		}
		for _, one := range next {
			visit(one)
		}
	}
	for _, id := range ids {
		visit(id)
	}
	return all
}

// follow are the nodes among which the last ones of a node are, or the one that is the last itself.
func (p *planner) follow(id string) (next []string, last string) {
	node := p.nodes[id]
	switch node.Type {
	case v1alpha1.NodeTypeRetry:
		attempts := p.attempts(node)
		if len(attempts) == 0 {
			return nil, id
		}
		return nil, attempts[len(attempts)-1].ID
	case v1alpha1.NodeTypeTaskGroup:
		if len(node.Children) == 0 {
			return nil, id
		}
		return node.Children, ""
	case v1alpha1.NodeTypeSteps, v1alpha1.NodeTypeDAG:
		return node.OutboundNodes, ""
	default:
		return nil, id
	}
}

// inExit reports whether a node is part of an exit handler.
func inExit(node *v1alpha1.NodeStatus) bool { return exitHandler.MatchString(node.Name) }

// exitHandler is in the names of exit handlers, and of what is part of one.
var exitHandler = regexp.MustCompile(`\.onExit($|[.(\[])`)

// sorted are the IDs of all nodes in a fixed order.
func (p *planner) sorted() []string {
	ids := make([]string, 0, len(p.nodes))
	for id := range p.nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// executes reports whether a type of node stands for an execution.
func executes(kind v1alpha1.NodeType) bool {
	return kind == v1alpha1.NodeTypePod || kind == v1alpha1.NodeTypeHTTP
}
