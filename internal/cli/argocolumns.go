package cli

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/progress"
)

// appColumns are those that kubectl prints of Applications, and what they say.
func appColumns(u *unstructured.Unstructured) []string {
	status, _, message := appReadiness(u)
	if suspended(u) {
		message = "suspended; " + message
	} else if status == "True" && message == "Synced and Healthy" {
		message = ""
	}
	return []string{
		orWord(text(u, "status", "sync", "status"), "Unknown"), orWord(text(u, "status", "health", "status"), "Unknown"),
		progress.Short(appRevision(u)), orWord(text(u, "spec", "project"), "default"), oneLine(progress.Short(message)),
	}
}

// setColumns are about ApplicationSets.
func setColumns(u *unstructured.Unstructured) []string {
	count, _, _ := unstructured.NestedInt64(u.Object, "status", "resourcesCount")
	status, _, message := setReadiness(u)
	return []string{strconv.FormatInt(count, 10), orWord(text(u, "status", "health", "status"), "Unknown"), status, oneLine(message)}
}

// setReadiness is whether the Applications of an ApplicationSet are what it generates.
func setReadiness(u *unstructured.Unstructured) (status, reason, message string) {
	if failed, reason, message := condition(u, "ErrorOccurred"); failed == "True" {
		return "False", reason, message
	}
	status, reason, message = condition(u, "ResourcesUpToDate")
	if status == "" {
		return "False", "Unknown", "waiting to be reconciled"
	}
	return status, reason, message
}

// projectColumns are about AppProjects.
func projectColumns(u *unstructured.Unstructured) []string {
	count := func(field string) string {
		list, _, _ := unstructured.NestedSlice(u.Object, "spec", field)
		return strconv.Itoa(len(list))
	}
	return []string{count("destinations"), count("sourceRepos"), count("syncWindows"), oneLine(text(u, "spec", "description"))}
}
