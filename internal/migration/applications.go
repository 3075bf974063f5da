package migration

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/engine"
)

var applications = schema.GroupVersionResource{Group: argo.Group, Version: "v1alpha1", Resource: "applications"}

// Annotations of Applications: refresh asks for a comparison, and skip asks for none.
const (
	refresh = "argocd.argoproj.io/refresh"
	skip    = "argocd.argoproj.io/skip-reconcile"
)

// skipped reports whether an Application asks to be left alone.
func skipped(u *unstructured.Unstructured) bool {
	return u.GetAnnotations()[skip] == "true" || u.GetDeletionTimestamp() != nil
}

// resourcesOf are the objects that an Application says it has, when they are in this cluster.
func resourcesOf(u *unstructured.Unstructured) []engine.Entry {
	server, _, _ := unstructured.NestedString(u.Object, "spec", "destination", "server")
	name, _, _ := unstructured.NestedString(u.Object, "spec", "destination", "name")
	if server != "https://kubernetes.default.svc" && name != "in-cluster" {
		return nil
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "resources")
	var all []engine.Entry
	for _, item := range list {
		r, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(field string) string { value, _ := r[field].(string); return value }
		if text("group") == argo.Group {
			// An Application has its status within what is counted by its generation.
			continue
		}
		all = append(all, engine.Entry{Version: text("version"), ID: engine.ObjectID{
			Group: text("group"), Kind: text("kind"), Namespace: text("namespace"), Name: text("name"),
		}})
	}
	return all
}
