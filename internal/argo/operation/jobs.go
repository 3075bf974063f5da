package operation

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RunsOnce reports whether an object is a Job that its time to live deletes when it has completed.
func RunsOnce(u *unstructured.Unstructured) bool {
	if u.GetKind() != "Job" || u.GroupVersionKind().Group != "batch" {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "ttlSecondsAfterFinished")
	return found && err == nil
}

// Completed reports whether a Job has run to a good end.
func Completed(u *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	return err == nil && slices.ContainsFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "Complete" && condition["status"] == "True"
	})
}
