package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Changes are lines for what is new since a workflow was shown before, which is nil for the first time: a line for each node that
// got to another phase, in the order in which that happened, and one for the workflow itself.
func Changes(earlier, wf *v1alpha1.Workflow) []string {
	var known v1alpha1.WorkflowStatus
	if earlier != nil {
		known = earlier.Status
	}
	var changed []v1alpha1.NodeStatus
	for id, node := range wf.Status.Nodes {
		old := known.Nodes[id]
		if grouping(node.Type) || old.Phase == node.Phase && old.Message == node.Message {
			continue
		}
		changed = append(changed, node)
	}
	turns := turnsOf(wf)
	slices.SortFunc(changed, func(a, b v1alpha1.NodeStatus) int {
		return cmp.Or(since(&a).Compare(since(&b)), a.StartedAt.Compare(b.StartedAt.Time), cmp.Compare(turns[a.ID], turns[b.ID]), byName(a.Name, b.Name))
	})
	var lines []string
	for i := range changed {
		lines = append(lines, change(Symbol(&changed[i]), changed[i].Name, string(changed[i].Phase), changed[i].Message))
	}
	if status := wf.Status; earlier == nil || known.Phase != status.Phase || known.Message != status.Message {
		symbol := cmp.Or(symbols[v1alpha1.NodePhase(status.Phase)], symbols[v1alpha1.NodePending])
		lines = append(lines, change(symbol, wf.Name, Status(wf), status.Message))
	}
	return lines
}

// change is one line.
func change(symbol, name, phase, message string) string {
	return strings.TrimRight(fmt.Sprintf("%s %-40s %-10s %s", symbol, visible(name), oneLine(phase), oneLine(message)), " ")
}

// since is when a node got to its phase.
func since(node *v1alpha1.NodeStatus) time.Time {
	if node.Phase.Fulfilled() {
		return node.FinishedAt.Time
	}
	return node.StartedAt.Time
}

// grouping reports whether a node only has others below it.
func grouping(kind v1alpha1.NodeType) bool {
	switch kind {
	case v1alpha1.NodeTypeSteps, v1alpha1.NodeTypeDAG, v1alpha1.NodeTypeStepGroup, v1alpha1.NodeTypeTaskGroup, v1alpha1.NodeTypeRetry:
		return true
	default:
		return false
	}
}
