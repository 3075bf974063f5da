package plan

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// observe takes over what executions report.
func (p *planner) observe() {
	for _, id := range p.sorted() {
		node := p.nodes[id]
		if node.Phase.Fulfilled() {
			if node.FinishedAt.IsZero() {
				node.FinishedAt = p.now() // a user resumed it
			}
			p.export(node.Outputs)
			continue
		}
		if executes(node.Type) {
			p.see(node)
		}
	}
}

// see takes over what the execution of one node reports.
func (p *planner) see(node *v1alpha1.NodeStatus) {
	leaf, exists := p.facts.Leaves[node.ID]
	if !exists {
		return
	}
	if leaf.Phase == "" {
		leaf.Phase = v1alpha1.NodePending
	}
	if leaf.Host != "" {
		node.HostNodeName = leaf.Host
	}
	if leaf.Progress != "" {
		node.Progress = leaf.Progress
	}
	if leaf.Outputs != nil {
		node.Outputs = reported(leaf.Outputs, node.Outputs)
	}
	if leaf.Phase.Fulfilled() && !leaf.FinishedAt.IsZero() {
		node.FinishedAt = metav1.NewTime(leaf.FinishedAt)
	}
	p.mark(node, leaf.Phase, leaf.Message)
	if leaf.Phase.Fulfilled() {
		p.export(node.Outputs)
	}
}

// reported are the outputs that an execution reports, with those that its node has already: values that the template declares.
func reported(outputs, before *v1alpha1.Outputs) *v1alpha1.Outputs {
	all := outputs.DeepCopy()
	if before == nil {
		return all
	}
	for _, parameter := range before.Parameters {
		if !slices.ContainsFunc(all.Parameters, func(p v1alpha1.Parameter) bool { return p.Name == parameter.Name }) {
			all.Parameters = append(all.Parameters, parameter)
		}
	}
	return all
}

// complete is a progress with nothing left.
func complete(progress string) string {
	if _, total, found := strings.Cut(progress, "/"); found {
		return total + "/" + total
	}
	return progress
}

// addProgress adds up two of them; what is not one does not count.
func addProgress(sum [2]int64, progress string) [2]int64 {
	done, total, found := strings.Cut(progress, "/")
	if !found {
		return sum
	}
	n, errDone := strconv.ParseInt(done, 10, 64)
	m, errTotal := strconv.ParseInt(total, 10, 64)
	if errDone != nil || errTotal != nil || n < 0 || n > m {
		return sum
	}
	return [2]int64{sum[0] + n, sum[1] + m}
}
