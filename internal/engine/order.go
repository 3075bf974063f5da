package engine

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Stage says when an object is applied: all objects of a stage are applied, in parallel, before
// the next stage begins.
type Stage int

// The stages, in their order.
const (
	// StageDefinitions holds what other objects are made of: CRDs, namespaces, cluster roles.
	StageDefinitions Stage = iota
	// StageClasses holds kinds whose name ends in Class.
	StageClasses
	// StageObjects holds everything else.
	StageObjects
	// StageWebhooks holds what can refuse other objects, and therefore comes last.
	StageWebhooks
)

// StageOf returns the stage of an object.
func StageOf(id ObjectID) Stage {
	switch {
	case id.Kind == "CustomResourceDefinition", id.Kind == "Namespace" && id.Group == "",
		id.Kind == "ClusterRole":
		return StageDefinitions
	case strings.HasSuffix(id.Kind, "Class"):
		return StageClasses
	case strings.HasSuffix(id.Kind, "WebhookConfiguration"):
		return StageWebhooks
	default:
		return StageObjects
	}
}

// kindOrder is the order of kinds within a list: what is referred to comes before what refers.
var kindOrder = []string{
	"CustomResourceDefinition", "Namespace", "ClusterRole", "ClusterRoleBinding",
	"ResourceQuota", "LimitRange", "PodSecurityPolicy", "StorageClass", "PriorityClass",
	"ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Secret", "PersistentVolume",
	"PersistentVolumeClaim", "Service", "DaemonSet", "Deployment", "StatefulSet", "ReplicaSet",
	"Pod", "Job", "CronJob", "PodDisruptionBudget", "NetworkPolicy", "Ingress",
}

func kindRank(id ObjectID) int {
	if rank := slices.Index(kindOrder, id.Kind); rank >= 0 {
		return rank
	}
	if StageOf(id) == StageWebhooks {
		return len(kindOrder) + 1
	}
	return len(kindOrder)
}

// CompareOrder orders identities as they are applied: by kind, then by namespace and name.
func CompareOrder(a, b ObjectID) int {
	return cmp.Or(cmp.Compare(StageOf(a), StageOf(b)), cmp.Compare(kindRank(a), kindRank(b)), a.Compare(b))
}

// Sort returns the objects in the order in which they are applied.
func Sort(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int {
		return CompareOrder(IDOf(a), IDOf(b))
	})
	return sorted
}

// Leftover returns the entries of old that are not in current, in the order in which they are
// deleted: the reverse of the order in which they were applied.
func Leftover(old, current []Entry) []Entry {
	keep := make(map[ObjectID]bool, len(current))
	for _, e := range current {
		keep[e.ID] = true
	}
	var left []Entry
	for _, e := range old {
		if !keep[e.ID] {
			left = append(left, e)
		}
	}
	slices.SortStableFunc(left, func(a, b Entry) int { return CompareOrder(b.ID, a.ID) })
	return left
}

// Union returns the entries of a, and those of b that a does not have.
func Union(a, b []Entry) []Entry {
	return append(slices.Clone(a), Leftover(b, a)...)
}
