package health

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// reported judges the kinds whose controllers say in every object how it stands: managed resources, Builds, VirtualClusters and Workflows. What says nothing yet
// is on its way, while kstatus takes an object without conditions for what it should be. It is false where the rules for all kinds hold.
func reported(u *unstructured.Unstructured) (engine.Verdict, string, bool) {
	switch gk := u.GroupVersionKind().GroupKind(); {
	case u.GetDeletionTimestamp() != nil:
		return "", "", false
	case gk == schema.GroupKind{Group: "argoproj.io", Kind: "Workflow"}:
		return ran(u)
	case gk == schema.GroupKind{Group: "build.headgate.dev", Kind: "Build"}, gk == schema.GroupKind{Group: "cluster.headgate.dev", Kind: "VirtualCluster"},
		isManaged(u, gk.Group):
		return observed(u)
	}
	return "", "", false
}

// isManaged reports whether an object is a managed resource of Crossplane.
func isManaged(u *unstructured.Unstructured, group string) bool {
	_, has, _ := unstructured.NestedMap(u.Object, "spec", "forProvider")
	return has && strings.HasSuffix(group, ".crossplane.io")
}

// ran judges a Workflow by its phase, as a Job by its end.
func ran(u *unstructured.Unstructured) (engine.Verdict, string, bool) {
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	message, _, _ := unstructured.NestedString(u.Object, "status", "message")
	switch phase {
	case "Succeeded":
		return engine.Current, "", true
	case "Failed", "Error":
		return engine.Failed, "it ended as " + phase + after(message), true
	case "":
		return engine.InProgress, "it has not started", true
	}
	return engine.InProgress, "it is " + strings.ToLower(phase) + after(message), true
}

// observed judges what has no condition Ready, or one that does not say why it is false.
func observed(u *unstructured.Unstructured) (engine.Verdict, string, bool) {
	ready, synced, stalled := condition(u, "Ready"), condition(u, "Synced"), condition(u, "Stalled")
	switch {
	case ready["status"] == "True", stalled["status"] == "True", synced["reason"] == "ReconcilePaused":
		return "", "", false
	case synced["status"] == "False" && synced["message"] != "":
		return engine.InProgress, synced["message"], true
	case ready == nil:
		return engine.InProgress, "it has not been observed yet", true
	case ready["message"] == "":
		return engine.InProgress, ready["reason"], true
	}
	return "", "", false
}

// condition is one of an object, nil when it has none of the type.
func condition(u *unstructured.Unstructured, of string) map[string]string {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range all {
		if one, _ := item.(map[string]any); one["type"] == of {
			found := map[string]string{}
			for _, field := range []string{"status", "reason", "message"} {
				found[field], _ = one[field].(string)
			}
			return found
		}
	}
	return nil
}

func after(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}
