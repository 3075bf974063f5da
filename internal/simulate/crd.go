package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CRD makes a permissive definition of a kind that is not installed: it takes every field, and has a status
// of its own. The versions are served, and the first one is stored; without any they are those of the table of
// well-known kinds. Plural and scope are those of the table too, or else guessed from the name and from the
// objects of the kind that were seen.
func CRD(gk schema.GroupKind, versions []string, seen ...*unstructured.Unstructured) *unstructured.Unstructured {
	plural, cluster, isKnown := Known(gk)
	if !isKnown {
		cluster = cluster && !anyInNamespace(seen)
	}
	scope := "Namespaced"
	if cluster {
		scope = "Cluster"
	}
	metadata := map[string]any{"name": plural + "." + gk.Group, "labels": map[string]any{Label: "true"}}
	if isProtected(gk.Group) {
		// The API server takes definitions in the groups of the community with this annotation only.
		metadata["annotations"] = map[string]any{"api-approved.kubernetes.io": "unapproved, a stand-in"}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   metadata,
		"spec": map[string]any{
			"group": gk.Group,
			"scope": scope,
			"names": map[string]any{
				"kind": gk.Kind, "listKind": gk.Kind + "List", "plural": plural, "singular": strings.ToLower(gk.Kind),
			},
			"versions": permissive(versionsOf(gk, versions)),
		},
	}}
}

func anyInNamespace(objects []*unstructured.Unstructured) bool {
	for _, o := range objects {
		if o.GetNamespace() != "" {
			return true
		}
	}
	return false
}

func isProtected(group string) bool {
	for _, domain := range []string{"k8s.io", "kubernetes.io"} {
		if group == domain || strings.HasSuffix(group, "."+domain) {
			return true
		}
	}
	return false
}

// versionsOf are the requested versions, each one once.
func versionsOf(gk schema.GroupKind, asked []string) []string {
	if len(asked) == 0 {
		if k, ok := lookup(gk); ok {
			return k.versions
		}
		return []string{"v1"}
	}
	var versions []string
	taken := map[string]bool{}
	for _, version := range asked {
		if !taken[version] {
			taken[version] = true
			versions = append(versions, version)
		}
	}
	return versions
}

func permissive(versions []string) []any {
	list := make([]any, 0, len(versions))
	for i, version := range versions {
		list = append(list, map[string]any{
			"name":         version,
			"served":       true,
			"storage":      i == 0,
			"subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "x-kubernetes-preserve-unknown-fields": true,
			}},
		})
	}
	return list
}
