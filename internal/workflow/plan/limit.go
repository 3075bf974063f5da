package plan

import (
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// shutdown is how the workflow is to be ended; empty if it is not.
func (p *planner) shutdown() v1alpha1.ShutdownStrategy {
	if p.wf.Spec.Shutdown != "" {
		return p.wf.Spec.Shutdown
	}
	return p.spec.Shutdown
}

// shutting reports whether what is part of an exit handler, or what is not, is to end.
func (p *planner) shutting(exit bool) bool {
	switch p.shutdown() {
	case "":
		return false
	case v1alpha1.ShutdownStop:
		return !exit
	default:
		return true
	}
}

// stopped is what nodes and workflows say that were ended.
func stopped(strategy v1alpha1.ShutdownStrategy) string {
	return fmt.Sprintf("Stopped with strategy '%s'", strategy)
}

// workflowDeadline is when the workflow has to end; zero for never.
func (p *planner) workflowDeadline() time.Time {
	if p.spec.ActiveDeadlineSeconds == nil || p.wf.Status.StartedAt.IsZero() {
		return time.Time{}
	}
	return p.wf.Status.StartedAt.Truncate(time.Second).Add(time.Duration(*p.spec.ActiveDeadlineSeconds) * time.Second).UTC()
}

// overdue reports whether the workflow took too long; exit handlers are exempt.
func (p *planner) overdue(exit bool) bool {
	at := p.workflowDeadline()
	return !exit && !at.IsZero() && !p.facts.Now.Before(at)
}

// refusal is why nothing new is started; empty if something may be.
func (p *planner) refusal(exit bool) string {
	switch {
	case p.shutting(exit):
		return fmt.Sprintf("workflow shutdown with strategy:  %s", p.shutdown())
	case p.overdue(exit):
		return "Step exceeded its deadline"
	default:
		return ""
	}
}

// limit ends what may not continue, since the workflow is shut down or took too long.
func (p *planner) limit() {
	if at := p.workflowDeadline(); !at.IsZero() && p.facts.Now.Before(at) {
		p.wakeAt(at)
	}
	for _, id := range p.sorted() {
		node := p.nodes[id]
		exit := inExit(node)
		waits := executes(node.Type) || node.Type == v1alpha1.NodeTypeSuspend
		if node.Phase.Fulfilled() || !waits {
			continue
		}
		reason := ""
		switch {
		case p.shutting(exit):
			reason = stopped(p.shutdown())
		case p.overdue(exit):
			reason = "Step exceeded its deadline"
		default:
			continue
		}
		if _, exists := p.facts.Leaves[id]; exists {
			p.do(Action{Do: Stop, Node: id, Reason: reason})
		}
		// What runs reports its end; for what only waits, there is nothing to wait for.
		if node.Phase == v1alpha1.NodePending || !executes(node.Type) {
			p.mark(node, v1alpha1.NodeFailed, reason)
		}
	}
}

// mayCreate reports whether one more node may begin: within the parallelism of the workflow and of what it is part of, and not after a failure
// that ends that.
func (p *planner) mayCreate(r request, template *v1alpha1.Template) bool {
	kind := KindOf(template)
	executed := kind != StepsTemplate && kind != DAGTemplate && kind != SuspendTemplate
	if limit := p.spec.Parallelism; limit != nil && executed && p.active("") >= *limit {
		return false
	}
	if r.owner == nil {
		return true
	}
	if r.owner.FailFast != nil && *r.owner.FailFast && p.failed(r.boundary) {
		return false
	}
	return r.owner.Parallelism == nil || p.active(r.boundary) < *r.owner.Parallelism
}

// active counts what is going on: the executions of the whole workflow, or the children of one node.
func (p *planner) active(boundary string) int64 {
	var count int64
	for _, node := range p.nodes {
		switch {
		case node.Phase.Fulfilled() || boundary != "" && node.BoundaryID != boundary:
		case executes(node.Type):
			count++
		case boundary != "" && (node.Type == v1alpha1.NodeTypeSteps || node.Type == v1alpha1.NodeTypeDAG):
			count++
		}
	}
	return count
}

// failed reports whether a child of a node failed for good.
func (p *planner) failed(boundary string) bool {
	for _, node := range p.nodes {
		if node.BoundaryID == boundary && node.Phase.Bad() && !node.Hooked() && !node.Retried() {
			return true
		}
	}
	return false
}
