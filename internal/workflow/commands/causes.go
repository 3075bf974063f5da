package commands

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// Causes are what a Workflow waits for, node by node, or what it failed at.
func (Verbs) Causes(_ context.Context, _ dialect.Session, u *unstructured.Unstructured) iter.Seq[dialect.Cause] {
	return func(yield func(dialect.Cause) bool) {
		if u.GetKind() != v1alpha1.WorkflowKind {
			return
		}
		wf, err := declared.Read[v1alpha1.Workflow](u)
		if err != nil {
			yield(dialect.Cause{Text: "✗ " + err.Error()})
			return
		}
		for _, line := range Waits(wf) {
			if !yield(dialect.Cause{Text: line}) {
				return
			}
		}
	}
}

// Waits are lines that say what a Workflow waits for, or what it failed at, in the order of the names of its nodes.
func Waits(wf *v1alpha1.Workflow) []string {
	nodes := wf.Status.Nodes
	var all []string
	for _, id := range slices.SortedFunc(maps.Keys(nodes), func(a, b string) int { return cmp.Compare(nodes[a].Name, nodes[b].Name) }) {
		node := nodes[id]
		if line := wait(wf, &node); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// wait is what one node waits for, or why it failed; empty for one that is part of the others' story.
func wait(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) string {
	leaf := node.Type == v1alpha1.NodeTypePod || node.Type == v1alpha1.NodeTypeHTTP
	switch {
	case node.Phase.Bad():
		return failure(node)
	case node.Phase.Fulfilled():
		return ""
	case node.Type == v1alpha1.NodeTypeSuspend:
		return suspension(wf, node)
	case node.Type == v1alpha1.NodeTypeRetry:
		return backOff(wf, node)
	case leaf:
		return fmt.Sprintf("◌ %s is %s%s%s", node.Name, strings.ToLower(string(cmp.Or(node.Phase, v1alpha1.NodePending))), since(node), colon(node.Message))
	default:
		return ""
	}
}

// failure is why a node failed on its own; what it is part of failed for the same reason.
func failure(node *v1alpha1.NodeStatus) string {
	switch node.Type {
	case v1alpha1.NodeTypePod, v1alpha1.NodeTypeHTTP, v1alpha1.NodeTypeSkipped, v1alpha1.NodeTypeSuspend:
		return fmt.Sprintf("✗ %s: %s%s", node.Name, node.Phase, colon(node.Message))
	default:
		return ""
	}
}

// suspension is until when a node waits, or by what it is resumed.
func suspension(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) string {
	if at := resumesAt(wf, node); !at.IsZero() {
		return fmt.Sprintf("◌ %s is suspended until %s", node.Name, at.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("◌ %s is suspended%s: headgate workflow resume %s -n %s", node.Name, since(node), wf.Name, wf.Namespace)
}

// resumesAt is when a node is resumed on its own; zero for one that a person has to resume, or whose duration is known to the engine alone.
func resumesAt(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) time.Time {
	template := templateOf(wf, node)
	if template == nil || template.Suspend == nil || template.Suspend.Duration == "" {
		return time.Time{}
	}
	duration, err := text.Duration(template.Suspend.Duration)
	if err != nil {
		return time.Time{}
	}
	return node.StartedAt.Add(duration)
}

// templateOf is the template of a node as it was written; nil if it is not in the Workflow.
func templateOf(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) *v1alpha1.Template {
	for key, template := range wf.Status.StoredTemplates {
		if ref := node.TemplateRef; ref != nil && strings.HasSuffix(key, "/"+ref.Name+"/"+ref.Template) {
			return &template
		}
	}
	spec := &wf.Spec
	if wf.Status.StoredWorkflowSpec != nil {
		spec = wf.Status.StoredWorkflowSpec
	}
	for i := range spec.Templates {
		if node.TemplateRef == nil && spec.Templates[i].Name == node.TemplateName {
			return &spec.Templates[i]
		}
	}
	return nil
}

// backOff is until when a node waits for its next attempt; empty while one is made.
func backOff(wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus) string {
	pause, waits := strings.CutPrefix(node.Message, plan.BackingOff)
	wait, err := time.ParseDuration(pause)
	if !waits || err != nil {
		return ""
	}
	var last time.Time
	for _, id := range node.Children {
		if attempt := wf.Status.Nodes[id]; attempt.Retried() && attempt.FinishedAt.After(last) {
			last = attempt.FinishedAt.Time
		}
	}
	return fmt.Sprintf("◌ %s is retried at %s", node.Name, last.Add(wait).UTC().Format(time.RFC3339))
}

func since(node *v1alpha1.NodeStatus) string {
	if node.StartedAt.IsZero() {
		return ""
	}
	return " since " + stamp(node.StartedAt)
}

func colon(message string) string {
	if message == "" {
		return ""
	}
	return ": " + oneLine(message)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
