package sources

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// UnitResources are those of the kinds whose objects hold others.
func UnitResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{toolkit.Kustomizations, toolkit.HelmReleases, toolkit.ResourceSetResource}
}

// FetchedResources are those of the kinds whose artifacts source-controller fetches.
func FetchedResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{toolkit.GitRepositories, toolkit.OCIRepositories, toolkit.Buckets, toolkit.HelmRepositories, toolkit.HelmCharts}
}

// HeldBy are the objects in the inventory of one that holds others. Entries that cannot be read are left out.
func HeldBy(u *unstructured.Unstructured) []engine.Entry {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "inventory", "entries")
	var entries []engine.Entry
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text, _, _ := unstructured.NestedString(entry, "id")
		version, _, _ := unstructured.NestedString(entry, "v")
		if id, err := engine.DecodeID(text); err == nil {
			entries = append(entries, engine.Entry{ID: id, Version: version})
		}
	}
	return entries
}

// Suspended reports whether an object is set aside: by its field, or by the annotation of the kinds that have none.
func Suspended(u *unstructured.Unstructured) bool {
	if u.GroupVersionKind().Group == toolkit.Operator.Name {
		return toolkit.DisabledByAnnotation(u)
	}
	off, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	return off
}
