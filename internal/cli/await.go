package cli

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// firstHandled returns the first version of the watched object whose last pass answered the token,
// or nil when the watch ends before.
func firstHandled(events <-chan watch.Event, token string) *unstructured.Unstructured {
	for event := range events {
		u, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		ready, _, _ := condition(u, "Ready")
		if text(u, "status", "lastHandledReconcileAt") == token && ready != "Unknown" {
			return u
		}
	}
	return nil
}
