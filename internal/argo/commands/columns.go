package commands

import (
	"cmp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Columns are those that kubectl prints of the kinds of Argo CD, and what they say.
func (Verbs) Columns(gk schema.GroupKind) (titles []string, whole bool) {
	switch gk {
	case applicationKind:
		return []string{"SYNC STATUS", "HEALTH STATUS", "REVISION", "PROJECT", "MESSAGE"}, true
	case applicationSetKind:
		return []string{"APPLICATIONS", "HEALTH STATUS", "UP TO DATE", "MESSAGE"}, true
	case projectKind:
		return []string{"DESTINATIONS", "SOURCES", "WINDOWS", "DESCRIPTION"}, true
	}
	return nil, false
}

// Row are the values of the columns.
func (Verbs) Row(u *unstructured.Unstructured) []string {
	switch kindOf(u) {
	case applicationKind:
		return applicationRow(u)
	case applicationSetKind:
		return setRow(u)
	default:
		return projectRow(u)
	}
}

func applicationRow(u *unstructured.Unstructured) []string {
	status, _, message := readiness(u)
	if applicationState(u).Suspended {
		message = "suspended; " + message
	} else if status == "True" && message == "Synced and Healthy" {
		message = ""
	}
	return []string{
		cmp.Or(dialect.Text(u, "status", "sync", "status"), "Unknown"), cmp.Or(dialect.Text(u, "status", "health", "status"), "Unknown"),
		revisionOf(u), cmp.Or(dialect.Text(u, "spec", "project"), "default"), oneLine(message),
	}
}

func setRow(u *unstructured.Unstructured) []string {
	count, _, _ := unstructured.NestedInt64(u.Object, "status", "resourcesCount")
	status, _, message := setReadiness(u)
	return []string{strconv.FormatInt(count, 10), cmp.Or(dialect.Text(u, "status", "health", "status"), "Unknown"), status, oneLine(message)}
}

// setReadiness is whether the Applications of an ApplicationSet are what it generates.
func setReadiness(u *unstructured.Unstructured) (status, reason, message string) {
	if failed, reason, message, _ := dialect.Condition(u, "ErrorOccurred"); failed == "True" {
		return "False", reason, message
	}
	status, reason, message, _ = dialect.Condition(u, "ResourcesUpToDate")
	if status == "" {
		return "False", "Unknown", "waiting to be reconciled"
	}
	return status, reason, message
}

func projectRow(u *unstructured.Unstructured) []string {
	count := func(field string) string {
		list, _, _ := unstructured.NestedSlice(u.Object, "spec", field)
		return strconv.Itoa(len(list))
	}
	return []string{count("destinations"), count("sourceRepos"), count("syncWindows"), oneLine(dialect.Text(u, "spec", "description"))}
}
