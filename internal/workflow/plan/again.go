package plan

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Again makes a workflow that failed continue where it failed: what has succeeded or was skipped for its condition stays. It gives a copy, and the IDs of
// the nodes whose executions have to be removed before it is written, since the next ones have their names.
func Again(workflow *v1alpha1.Workflow) (*v1alpha1.Workflow, []string, error) {
	phase := workflow.Status.Phase
	if phase != v1alpha1.WorkflowFailed && phase != v1alpha1.WorkflowError {
		return nil, nil, fmt.Errorf("workflow must be Failed/Error to retry: %q is %q", workflow.Name, phase)
	}
	wf := workflow.DeepCopy()
	var gone []string
	for id, node := range workflow.Status.Nodes {
		switch {
		case goes(workflow, &node):
			gone = append(gone, id)
		case node.Phase.Bad():
			open := wf.Status.Nodes[id]
			open.Phase, open.Message, open.FinishedAt, open.OutboundNodes, open.Outputs = v1alpha1.NodeRunning, "", metav1.Time{}, nil, nil
			wf.Status.Nodes[id] = open
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		delete(wf.Status.Nodes, id)
	}
	for id, node := range wf.Status.Nodes {
		node.Children = slices.DeleteFunc(node.Children, func(child string) bool { return slices.Contains(gone, child) })
		wf.Status.Nodes[id] = node
	}
	// It begins like a new one, so that a deadline counts from there.
	wf.Spec.Shutdown = ""
	wf.Status.Phase, wf.Status.Message = "", ""
	wf.Status.StartedAt, wf.Status.FinishedAt = metav1.Time{}, metav1.Time{}
	wf.Status.Conditions = slices.DeleteFunc(wf.Status.Conditions, func(c v1alpha1.Condition) bool {
		return c.Type == v1alpha1.ConditionCompleted || c.Type == v1alpha1.ConditionSpecError
	})
	if wf.Labels == nil {
		wf.Labels = map[string]string{}
	}
	wf.Labels[v1alpha1.LabelPhase], wf.Labels[v1alpha1.LabelCompleted] = string(v1alpha1.WorkflowRunning), "false"
	return wf, gone, nil
}

// goes tells whether a node begins from nothing: one that failed and executes something, one that was omitted because of it, exit handlers and hooks of what
// failed or of the workflow, and attempts that failed with all that is part of them.
func goes(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) bool {
	grouped := node.Type == v1alpha1.NodeTypeSteps || node.Type == v1alpha1.NodeTypeStepGroup || node.Type == v1alpha1.NodeTypeDAG ||
		node.Type == v1alpha1.NodeTypeTaskGroup || node.Type == v1alpha1.NodeTypeRetry
	if node.Phase == v1alpha1.NodeOmitted || node.Phase.Bad() && (!grouped || node.Retried()) {
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
