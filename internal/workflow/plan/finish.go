package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// end marks the workflow as ended.
func (p *planner) end(phase v1alpha1.WorkflowPhase, message string) {
	if p.wf.Status.StartedAt.IsZero() {
		p.wf.Status.StartedAt = p.now()
	}
	if root := p.node(p.wf.Name); root != nil && phase == v1alpha1.WorkflowError && root.Phase == v1alpha1.NodeRunning {
		p.mark(root, v1alpha1.NodeError, "Workflow operation error")
	}
	p.phase(phase, message)
	p.wf.Status.FinishedAt = p.now()
	p.label(v1alpha1.LabelCompleted, "true")
	p.condition(v1alpha1.Condition{Type: v1alpha1.ConditionCompleted, Status: metav1.ConditionTrue})
	// The next pass decides what is removed, once the end is recorded.
	p.wakeAt(p.facts.Now)
}

// phase sets the phase of the workflow.
func (p *planner) phase(phase v1alpha1.WorkflowPhase, message string) {
	p.wf.Status.Phase, p.wf.Status.Message = phase, message
	p.label(v1alpha1.LabelPhase, string(phase))
	if p.wf.Labels[v1alpha1.LabelCompleted] == "" {
		p.label(v1alpha1.LabelCompleted, "false")
	}
}

func (p *planner) label(name, value string) {
	if p.wf.Labels == nil {
		p.wf.Labels = map[string]string{}
	}
	p.wf.Labels[name] = value
}

func (p *planner) annotate(name, value string) {
	if p.wf.Annotations == nil {
		p.wf.Annotations = map[string]string{}
	}
	p.wf.Annotations[name] = value
}

// Refuse ends a workflow that cannot be executed, for what is wrong with its spec.
func Refuse(workflow *v1alpha1.Workflow, now time.Time, err error) Decision {
	p := &planner{facts: Facts{Now: now}, wf: workflow.DeepCopy(), nodes: map[string]*v1alpha1.NodeStatus{}}
	p.specError(err)
	return Decision{Workflow: p.wf, Wake: p.wake}
}

// condition sets a condition of the workflow.
func (p *planner) condition(c v1alpha1.Condition) {
	p.wf.Status.Conditions = upsert(p.wf.Status.Conditions, c, func(one v1alpha1.Condition) string { return string(one.Type) })
}

// summarize adds up the progress, says whether pods are running, and removes those that are done with.
func (p *planner) summarize() {
	running := metav1.ConditionFalse
	sum := [2]int64{}
	for _, id := range p.sorted() {
		node := p.nodes[id]
		if !executes(node.Type) {
			continue
		}
		sum = addProgress(sum, node.Progress)
		if node.Type == v1alpha1.NodeTypePod && node.Phase == v1alpha1.NodeRunning {
			running = metav1.ConditionTrue
		}
	}
	for _, node := range p.nodes {
		if !executes(node.Type) && node.Type != v1alpha1.NodeTypeSkipped && node.Type != v1alpha1.NodeTypeSuspend {
			node.Progress = p.progressOf(node, map[string]bool{})
		}
	}
	if sum[1] > 0 {
		p.wf.Status.Progress = fmt.Sprintf("%d/%d", sum[0], sum[1])
	}
	p.condition(v1alpha1.Condition{Type: v1alpha1.ConditionPodRunning, Status: running})
	p.collectPods()
}

// progressOf is the progress of all executions that are part of a node.
func (p *planner) progressOf(node *v1alpha1.NodeStatus, seen map[string]bool) string {
	sum := [2]int64{}
	var visit func(*v1alpha1.NodeStatus)
	visit = func(at *v1alpha1.NodeStatus) {
		for _, id := range at.Children {
			child := p.nodes[id]
			// What follows a graph or steps is a child of their last nodes, and part of what they are part of.
			if child == nil || seen[id] || !p.within(child, node) {
				continue
			}
			seen[id] = true
			if executes(child.Type) {
				sum = addProgress(sum, child.Progress)
			}
			visit(child)
		}
	}
	visit(node)
	if sum[1] == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", sum[0], sum[1])
}

// within reports whether a node is part of another one.
func (p *planner) within(node, other *v1alpha1.NodeStatus) bool {
	if other.Type == v1alpha1.NodeTypeSteps || other.Type == v1alpha1.NodeTypeDAG {
		// No node is part of more than there are, but in a status that a user wrote, where one is part of itself.
		at := node
		for range len(p.nodes) {
			if at == nil || at.BoundaryID == other.ID {
				return at != nil
			}
			at = p.nodes[at.BoundaryID]
		}
		return false
	}
	// Groups and attempts have the names of what they are part of at their beginning.
	return len(node.Name) > len(other.Name) && node.Name[:len(other.Name)] == other.Name
}
