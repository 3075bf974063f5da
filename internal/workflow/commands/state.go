// Package commands says what the commands of people mean for the objects of workflows: how they stand, their columns, and what a
// Workflow that has not ended waits for.
//
// It reads the objects that it is given. It refuses to serve anything, to write, and to print.
package commands

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Verbs are the abilities of the dialect that commands ask for.
type Verbs struct{}

// State is how an object stands: that of a Workflow is its phase.
func (Verbs) State(u *unstructured.Unstructured) dialect.State {
	switch u.GetKind() {
	case v1alpha1.WorkflowKind:
		return workflowState(u)
	case v1alpha1.CronWorkflowKind:
		return cronState(u)
	default:
		return dialect.Conventional(u)
	}
}

// unreadable is how an object stands whose fields have other types than they should.
func unreadable(err error) dialect.State {
	return dialect.State{Said: true, Current: true, Ready: "False", Reason: "InvalidSpec", Message: err.Error()}
}

func workflowState(u *unstructured.Unstructured) dialect.State {
	wf, err := declared.Read[v1alpha1.Workflow](u)
	if err != nil {
		return unreadable(err)
	}
	status := wf.Status
	s := dialect.State{
		Said: status.Phase != "", Current: true, Ready: "False", Reason: string(status.Phase), Message: status.Message,
		Suspended: wf.Spec.Suspend != nil && *wf.Spec.Suspend && !status.Phase.Completed(), Moving: !status.Phase.Completed(),
	}
	switch {
	case status.Phase == "":
		s.Reason, s.Message = "Unknown", "waiting to be reconciled"
	case status.Phase.Completed():
		s.Since = stamp(status.FinishedAt)
		if status.Phase == v1alpha1.WorkflowSucceeded {
			s.Ready = string(metav1.ConditionTrue)
		}
	default:
		s.Since = stamp(status.StartedAt)
	}
	if status.Progress != "" && s.Message == "" {
		s.Message = fmt.Sprintf("%s, %s done", status.Phase, status.Progress)
	}
	return s
}

func stamp(at metav1.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// cronState is whether a schedule creates runs.
func cronState(u *unstructured.Unstructured) dialect.State {
	c, err := declared.Read[v1alpha1.CronWorkflow](u)
	if err != nil {
		return unreadable(err)
	}
	s := dialect.State{Said: true, Current: true, Ready: string(metav1.ConditionTrue), Reason: "Scheduled", Suspended: c.Spec.Suspend, Message: scheduled(c)}
	for _, condition := range c.Status.Conditions {
		if condition.Status == metav1.ConditionTrue {
			s.Ready, s.Reason, s.Message = "False", string(condition.Type), condition.Message
			return s
		}
	}
	if c.Status.Phase == v1alpha1.CronStopped {
		s.Reason, s.Message = "Stopped", "its stopStrategy has ended the schedule"
	}
	return s
}

// scheduled says what a schedule did last.
func scheduled(c *v1alpha1.CronWorkflow) string {
	text := "no run yet"
	if last := c.Status.LastScheduledTime; last != nil {
		text = "last run at " + stamp(*last)
	}
	if n := len(c.Status.Active); n > 0 {
		text += fmt.Sprintf(", %d active", n)
	}
	return text
}

// schedules are the schedules of a CronWorkflow, in either spelling.
func schedules(u *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "schedules")
	if one := dialect.Text(u, "spec", "schedule"); one != "" {
		all = append(all, one)
	}
	return strings.Join(all, "; ")
}
