package appset

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReverseDeletion says whether the Applications of a set are deleted in steps, the last one first. The set then
// needs a finalizer, so that it outlives them.
func ReverseDeletion(set *Set) bool {
	return set.rolling() && strings.EqualFold(set.Spec.Strategy.DeletionOrder, "Reverse")
}

// Deletions are the Applications to delete next when the set is deleted, and the names of those that are on their way
// or come later. When both are empty, none is left. Those that no step chooses come last.
func Deletions(set *Set, existing []*unstructured.Unstructured) (next []*unstructured.Unstructured, waiting []string) {
	owned := Owned(set, existing)
	slices.SortFunc(owned, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	of := map[string]int{}
	if ReverseDeletion(set) {
		r := &rolling{steps: set.Spec.Strategy.RollingSync.Steps, of: of}
		for _, app := range owned {
			r.apps = append(r.apps, AppState{Name: app.GetName(), Labels: app.GetLabels()})
		}
		r.assign()
	}
	if len(owned) == 0 {
		return nil, nil
	}
	last := of[slices.MaxFunc(owned, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(of[a.GetName()], of[b.GetName()])
	}).GetName()]
	for _, app := range owned {
		if of[app.GetName()] == last && app.GetDeletionTimestamp() == nil {
			next = append(next, app)
			continue
		}
		waiting = append(waiting, app.GetName())
	}
	return next, waiting
}
