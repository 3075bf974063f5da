package below

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pending reports whether a Pod or a claim has not got where it is going, whatever its conditions say.
func pending(o *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return phase == "Pending" || phase == "Failed" || phase == "Lost"
}

// replicas says how many of the replicas of a workload are ready; empty for what has none.
func replicas(o *unstructured.Unstructured) string {
	want, has, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
	if o.GetKind() == daemonSets.Kind {
		want, has, _ = unstructured.NestedInt64(o.Object, "status", "desiredNumberScheduled")
		ready, _, _ = unstructured.NestedInt64(o.Object, "status", "numberReady")
	}
	if o.GetKind() == jobs.Kind {
		return "not complete"
	}
	if !has {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas are ready", ready, want)
}

// faults are what the status of an object says against it.
func faults(o *unstructured.Unstructured) []string {
	var texts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, c := range entries(o, "conditions") {
		if againstIt(o.GetKind(), str(c, "type"), str(c, "status")) {
			add(cmp.Or(str(c, "message"), str(c, "reason")))
		}
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range entries(o, list) {
			add(container(c))
		}
	}
	if str(o.Object["status"], "phase") == "Failed" {
		add(strings.Trim(str(o.Object["status"], "reason")+": "+str(o.Object["status"], "message"), ": "))
	}
	return texts
}

// againstIt reports whether a condition is a reason, and not only a sum of others such as Ready.
func againstIt(kind, condition, status string) bool {
	switch kind + " " + condition {
	case "ReplicaSet ReplicaFailure", "Deployment ReplicaFailure", "Job Failed", "Job FailureTarget":
		return status == "True"
	case "Pod PodScheduled", "Deployment Progressing":
		return status == "False"
	}
	return false
}

// container is what keeps a container from running; empty for one that runs.
func container(c map[string]any) string {
	name := str(c, "name")
	state, _ := c["state"].(map[string]any)
	if waiting, is := state["waiting"].(map[string]any); is {
		reason, message := str(waiting, "reason"), str(waiting, "message")
		if reason == "PodInitializing" || reason == "ContainerCreating" && message == "" {
			return ""
		}
		return strings.TrimSuffix(fmt.Sprintf("container %q waits: %s: %s", name, reason, message), ": ")
	}
	if ended, is := state["terminated"].(map[string]any); is {
		if code, _ := ended["exitCode"].(int64); code != 0 {
			return strings.TrimSuffix(fmt.Sprintf("container %q ended with exit code %d: %s", name, code, cmp.Or(str(ended, "message"), str(ended, "reason"))), ": ")
		}
	}
	return ""
}

// said are the last two things that events say, each once.
func said(events []unstructured.Unstructured) []string {
	slices.SortFunc(events, func(a, b unstructured.Unstructured) int {
		return strings.Compare(last(b.Object), last(a.Object))
	})
	var texts []string
	for _, e := range events {
		text := str(e.Object, "reason") + ": " + strings.TrimSpace(str(e.Object, "message"))
		if !slices.Contains(texts, text) && len(texts) < 2 {
			texts = append(texts, text)
		}
	}
	return texts
}

// last is when an event happened last, as it is written: in UTC, so that texts compare as times do.
func last(event map[string]any) string {
	series, _ := event["series"].(map[string]any)
	return cmp.Or(str(series, "lastObservedTime"), str(event, "lastTimestamp"), str(event, "eventTime"))
}

func entries(o *unstructured.Unstructured, field string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", field)
	var all []map[string]any
	for _, item := range list {
		if fields, is := item.(map[string]any); is {
			all = append(all, fields)
		}
	}
	return all
}

func str(in any, field string) string {
	fields, _ := in.(map[string]any)
	text, _ := fields[field].(string)
	return text
}
