package commands

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Columns are those of Workflows, schedules and templates; templates have nothing else.
func (Verbs) Columns(gk schema.GroupKind) (titles []string, whole bool) {
	switch gk.Kind {
	case v1alpha1.WorkflowKind:
		return []string{"STATUS", "PROGRESS", "DURATION", "MESSAGE"}, true
	case v1alpha1.CronWorkflowKind:
		return []string{"SCHEDULE", "SUSPENDED", "LAST RUN"}, false
	default:
		return []string{"ENTRYPOINT", "TEMPLATES"}, true
	}
}

// Row are the values of an object.
func (Verbs) Row(u *unstructured.Unstructured) []string {
	switch u.GetKind() {
	case v1alpha1.WorkflowKind:
		s := workflowState(u)
		message := dialect.Text(u, "status", "message")
		return []string{s.Reason, dialect.Text(u, "status", "progress"), duration(u), oneLine(message)}
	case v1alpha1.CronWorkflowKind:
		suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
		held := "False"
		if suspended {
			held = "True"
		}
		return []string{schedules(u), held, dialect.Text(u, "status", "lastScheduledTime")}
	default:
		templates, _, _ := unstructured.NestedSlice(u.Object, "spec", "templates")
		return []string{dialect.Text(u, "spec", "entrypoint"), strconv.Itoa(len(templates))}
	}
}

// duration is how long a Workflow took that has ended.
func duration(u *unstructured.Unstructured) string {
	started, errStarted := time.Parse(time.RFC3339, dialect.Text(u, "status", "startedAt"))
	finished, errFinished := time.Parse(time.RFC3339, dialect.Text(u, "status", "finishedAt"))
	if errStarted != nil || errFinished != nil {
		return ""
	}
	return finished.Sub(started).String()
}
