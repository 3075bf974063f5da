package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Again makes a workflow that failed continue where it failed: what has succeeded or was skipped for its condition stays, and so does what failed
// without failing the workflow; but for the selected nodes, by ID, and all that follows them. With a selection, a workflow that succeeded may continue there, too. It gives a copy.
//
// The copy has no phase but the time of the request as its start, which is what the upstream's command writes as well. The next
// pass removes the executions of nodes that are gone before anything starts: the next ones have their names.
func Again(workflow *v1alpha1.Workflow, selected []string, now time.Time) (*v1alpha1.Workflow, error) {
	phase := workflow.Status.Phase
	switch {
	case phase == v1alpha1.WorkflowFailed || phase == v1alpha1.WorkflowError:
	case phase == v1alpha1.WorkflowSucceeded && len(selected) > 0:
	case phase == v1alpha1.WorkflowSucceeded:
		return nil, fmt.Errorf("workflow %q has succeeded: to retry it, select nodes that start over", workflow.Name)
	default:
		return nil, fmt.Errorf("workflow must be Failed/Error to retry: %q is %q", workflow.Name, phase)
	}
	wf := workflow.DeepCopy()
	over := following(workflow, selected)
	kept := tolerated(workflow)
	reopen(wf, over, kept)
	gone := maps.Clone(over)
	for id, node := range workflow.Status.Nodes {
		if !kept[id] && goes(workflow, &node) {
			gone[id] = true
		}
	}
	for id := range gone {
		delete(wf.Status.Nodes, id)
	}
	for id, node := range wf.Status.Nodes {
		node.Children = slices.DeleteFunc(node.Children, func(child string) bool { return gone[child] })
		wf.Status.Nodes[id] = node
	}
	renew(wf, now)
	return wf, nil
}

// renew makes a workflow begin like a new one, so that a deadline counts from there.
func renew(wf *v1alpha1.Workflow, now time.Time) {
	wf.Spec.Shutdown = ""
	if stored := wf.Status.StoredWorkflowSpec; stored != nil {
		stored.Shutdown = ""
	}
	wf.Status.Phase, wf.Status.Message = "", ""
	wf.Status.StartedAt, wf.Status.FinishedAt = metav1.NewTime(now.UTC().Truncate(time.Second)), metav1.Time{}
	wf.Status.Conditions = slices.DeleteFunc(wf.Status.Conditions, func(c v1alpha1.Condition) bool {
		return c.Type == v1alpha1.ConditionCompleted || c.Type == v1alpha1.ConditionSpecError
	})
	if wf.Labels == nil {
		wf.Labels = map[string]string{}
	}
	wf.Labels[v1alpha1.LabelPhase], wf.Labels[v1alpha1.LabelCompleted] = string(v1alpha1.WorkflowRunning), "false"
}

// reopen lets nodes continue that failed, and those that something is part of which starts over.
func reopen(wf *v1alpha1.Workflow, over, kept map[string]bool) {
	open := map[string]bool{}
	for id, node := range wf.Status.Nodes {
		if node.Phase.Bad() && !kept[id] {
			open[id] = true
		}
	}
	climbed := maps.Clone(over)
	for ids := slices.Collect(maps.Keys(over)); len(ids) > 0; ids = ids[1:] {
		child := wf.Status.Nodes[ids[0]]
		for id, node := range wf.Status.Nodes {
			part := child.BoundaryID == id || slices.Contains(node.Children, child.ID) && strings.HasPrefix(child.Name, node.Name)
			if part && grouped(node.Type) && !climbed[id] {
				open[id], climbed[id] = true, true
				ids = append(ids, id)
			}
		}
	}
	for id := range open {
		node := wf.Status.Nodes[id]
		node.Phase, node.Message, node.FinishedAt, node.OutboundNodes, node.Outputs = v1alpha1.NodeRunning, "", metav1.Time{}, nil, nil
		wf.Status.Nodes[id] = node
	}
}

// following are nodes with all that they consist of, all that comes after them, and their exit handlers and hooks.
func following(wf *v1alpha1.Workflow, ids []string) map[string]bool {
	found := map[string]bool{}
	for ids = slices.Clone(ids); len(ids) > 0; ids = ids[1:] {
		at, exists := wf.Status.Nodes[ids[0]]
		if !exists || found[at.ID] {
			continue
		}
		found[at.ID] = true
		ids = append(ids, at.Children...)
		for id, node := range wf.Status.Nodes {
			rest, _ := strings.CutPrefix(node.Name, at.Name)
			if node.BoundaryID == at.ID || strings.HasPrefix(rest, ".onExit") || strings.HasPrefix(rest, ".hooks.") {
				ids = append(ids, id)
			}
		}
	}
	return found
}

func grouped(kind v1alpha1.NodeType) bool {
	return kind == v1alpha1.NodeTypeSteps || kind == v1alpha1.NodeTypeStepGroup || kind == v1alpha1.NodeTypeDAG ||
		kind == v1alpha1.NodeTypeTaskGroup || kind == v1alpha1.NodeTypeRetry
}

// goes reports whether a node begins from nothing: one that failed and executes something, one that was omitted because of it, exit handlers and hooks of what
// failed or of the workflow, and attempts that failed with all that is part of them.
func goes(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) bool {
	if node.Phase == v1alpha1.NodeOmitted || node.Phase.Bad() && (!grouped(node.Type) || node.Retried()) {
		return true
	}
	for _, other := range wf.Status.Nodes {
		rest, below := strings.CutPrefix(node.Name, other.Name)
		switch {
		case !below || rest == "":
		case strings.HasPrefix(rest, ".onExit") || strings.HasPrefix(rest, ".hooks."):
			if other.Phase.Bad() || other.ID == wf.Name {
				return true
			}
		case other.Retried() && other.Phase.Bad() && strings.ContainsAny(rest[:1], ".[("):
			return true
		}
	}
	return false
}

// restarts reports whether the workflow was requested to continue after its end, and is not ready for it: executions of nodes that it
// does not have anymore are removed first. Only the pass after that starts something, so that what that one starts is not taken for
// a remainder when the process ends before the status is written.
func (p *planner) restarts() bool {
	status := p.before.Status
	if status.Phase != "" || status.StartedAt.IsZero() {
		return false
	}
	ready := true
	for _, id := range slices.Sorted(maps.Keys(p.facts.Leaves)) {
		if p.nodes[id] == nil {
			p.do(Action{Do: Remove, Node: id})
			ready = false
		}
	}
	if ready {
		p.annotate(v1alpha1.AnnotationRetried, strconv.FormatInt(status.StartedAt.Unix(), 10))
		p.phase(v1alpha1.WorkflowRunning, "")
	}
	p.wakeAt(p.facts.Now)
	return true
}

// Resume ends nodes that wait, with outputs that are supplied, and lets a suspended workflow continue. Without a selection, it is all of them.
func Resume(workflow *v1alpha1.Workflow, selected []string, outputs map[string]string) (*v1alpha1.Workflow, error) {
	wf := workflow.DeepCopy()
	if len(selected) == 0 {
		wf.Spec.Suspend = nil
	}
	for id, node := range wf.Status.Nodes {
		waits := node.Type == v1alpha1.NodeTypeSuspend && node.Phase == v1alpha1.NodeRunning
		if !waits || len(selected) > 0 && !slices.Contains(selected, id) {
			continue
		}
		if node.Outputs != nil {
			for i := range node.Outputs.Parameters {
				parameter := &node.Outputs.Parameters[i]
				if value, supplied := outputs[parameter.Name]; supplied {
					parameter.Value, parameter.ValueFrom = v1alpha1.Any(value), nil
				}
			}
		}
		if err := takeDefaults(node.Outputs); err != nil {
			return nil, fmt.Errorf("resuming node %q: %w", node.Name, err)
		}
		node.Phase = v1alpha1.NodeSucceeded
		wf.Status.Nodes[id] = node
	}
	return wf, nil
}
