package engine

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Marks are the annotations, or labels, by which an object steers how it is applied and pruned.
type Marks struct {
	// HandsOff is set by "reconcile: disabled" and by "ssa: Ignore": the object is neither applied nor pruned.
	HandsOff bool
	// Once is set by "ssa: IfNotPresent": an object that exists is left as it is.
	Once bool
	// Merge is set by "ssa: Merge": what kubectl added stays.
	Merge bool
	// Force is set by "force: enabled" and by "sync-options: Force=true": the object is recreated when it cannot be changed in place.
	Force bool
	// Replace is set by "sync-options: Replace=true": the object is replaced, not applied.
	Replace bool
	// Keep is set by "prune: disabled": the object is not deleted when nothing declares it any more.
	Keep bool
}

// MarksOf reads the marks of an object, declared or live, whose names begin with prefix.
func MarksOf(u *unstructured.Unstructured, prefix string) Marks {
	if prefix == "" {
		return Marks{}
	}
	annotations, labels := u.GetAnnotations(), u.GetLabels()
	has := func(key, value string) bool {
		return strings.EqualFold(annotations[prefix+key], value) || strings.EqualFold(labels[prefix+key], value)
	}
	option := func(text string) bool {
		return slices.ContainsFunc(strings.Split(annotations[prefix+"sync-options"], ","), func(item string) bool { return strings.TrimSpace(item) == text })
	}
	return Marks{
		HandsOff: has("reconcile", "disabled") || has("ssa", "Ignore"),
		Once:     has("ssa", "IfNotPresent"), Merge: has("ssa", "Merge"),
		Force: has("force", "enabled") || option("Force=true"), Replace: option("Replace=true"), Keep: has("prune", "disabled"),
	}
}

// IsMark reports whether an annotation or label of that name is one of the marks.
func IsMark(name, prefix string) bool {
	key, ours := strings.CutPrefix(name, prefix)
	return ours && prefix != "" && slices.Contains([]string{"reconcile", "ssa", "force", "prune"}, key)
}
