// Package view shows workflows as text: a table of several, the summary of one with the tree of its nodes, and the lines of what
// changed since it was shown last.
//
// It is a pure function of the objects and of the time. What it shows is what the objects say: it asks nothing, and hides nothing that
// is in a status, since no secret ever is.
package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Status is the phase of a workflow, with what a user did to it.
func Status(wf *v1alpha1.Workflow) string {
	switch phase := wf.Status.Phase; {
	case phase == v1alpha1.WorkflowRunning && suspended(wf):
		return "Running (Suspended)"
	case phase == v1alpha1.WorkflowFailed && wf.Spec.Shutdown != "":
		return "Failed (Terminated)"
	default:
		return string(cmp.Or(phase, v1alpha1.WorkflowPending))
	}
}

// suspended reports whether a workflow starts nothing, or has a node that waits to be resumed.
func suspended(wf *v1alpha1.Workflow) bool {
	if wf.Spec.Suspend != nil && *wf.Spec.Suspend {
		return true
	}
	for _, node := range wf.Status.Nodes {
		if waits(&node) {
			return true
		}
	}
	return false
}

// waits reports whether a node waits for a time, or for a user.
func waits(node *v1alpha1.NodeStatus) bool {
	return node.Type == v1alpha1.NodeTypeSuspend && node.Phase == v1alpha1.NodeRunning
}

// Columns are the titles of a list.
func Columns(namespace, wide bool) []string {
	titles := []string{"NAME", "STATUS", "AGE", "DURATION", "PRIORITY", "PROGRESS", "MESSAGE"}
	if wide {
		titles = append(titles, "P/R/C", "PARAMETERS")
	}
	if namespace {
		titles = append([]string{"NAMESPACE"}, titles...)
	}
	return titles
}

// Row are the values of a workflow in a list.
func Row(wf *v1alpha1.Workflow, now time.Time, namespace, wide bool) []string {
	priority := int32(0)
	if wf.Spec.Priority != nil {
		priority = *wf.Spec.Priority
	}
	row := []string{
		wf.Name, Status(wf), duration.HumanDuration(now.Sub(wf.CreationTimestamp.Time)), took(wf.Status.StartedAt.Time, wf.Status.FinishedAt.Time, now),
		fmt.Sprint(priority), oneLine(cmp.Or(wf.Status.Progress, "-")), oneLine(wf.Status.Message),
	}
	if wide {
		row = append(row, counts(wf), parameters(wf))
	}
	if namespace {
		row = append([]string{wf.Namespace}, row...)
	}
	return row
}

// counts are how many executions are pending, running and completed.
func counts(wf *v1alpha1.Workflow) string {
	var pending, running, completed int
	for _, node := range wf.Status.Nodes {
		switch {
		case node.Type != v1alpha1.NodeTypePod && node.Type != v1alpha1.NodeTypeHTTP:
		case node.Phase.Completed():
			completed++
		case node.Phase == v1alpha1.NodeRunning:
			running++
		case node.Phase == v1alpha1.NodePending:
			pending++
		}
	}
	return fmt.Sprintf("%d/%d/%d", pending, running, completed)
}

// parameters are the arguments of a workflow on one line.
func parameters(wf *v1alpha1.Workflow) string {
	var all []string
	for _, p := range spec(wf).Arguments.Parameters {
		if p.Value != nil {
			all = append(all, oneLine(p.Name+"="+p.Value.String()))
		}
	}
	return strings.Join(all, ",")
}

// spec is the merged spec, if there is one.
func spec(wf *v1alpha1.Workflow) *v1alpha1.WorkflowSpec {
	if wf.Status.StoredWorkflowSpec != nil {
		return wf.Status.StoredWorkflowSpec
	}
	return &wf.Spec
}

// Sort orders workflows as lists have them: those that have not ended first, then the last ended one.
func Sort(all []*v1alpha1.Workflow) {
	slices.SortStableFunc(all, func(a, b *v1alpha1.Workflow) int {
		openA, openB := a.Status.FinishedAt.IsZero(), b.Status.FinishedAt.IsZero()
		switch {
		case openA != openB && openA:
			return -1
		case openA != openB:
			return 1
		}
		byEnd := b.Status.FinishedAt.Compare(a.Status.FinishedAt.Time)
		byStart := b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
		return cmp.Or(byEnd, byStart, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// took is how long something took that may not have ended.
func took(started, finished, now time.Time) string {
	if started.IsZero() {
		return "-"
	}
	if finished.IsZero() {
		finished = now
	}
	return duration.HumanDuration(finished.Sub(started))
}

// oneLine is a text on one line, without what steers a terminal: the author of a workflow, or what it runs, would steer that of everybody who lists it.
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// visible is a text whose control characters are shown, but for those between lines and columns.
func visible(s string) string {
	steers := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if !strings.ContainsFunc(s, steers) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
