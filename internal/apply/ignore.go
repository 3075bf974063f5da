package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// leaveOut returns desired without the fields that the unit leaves to others: a field that another
// manager applies is left out, of any other field the live value is kept.
func leaveOut(desired, live *unstructured.Unstructured, fields []engine.Pointer, ours string) *unstructured.Unstructured {
	out := desired.DeepCopy()
	for _, field := range fields {
		value, found := field.Lookup(live.Object)
		switch {
		case !found:
		case appliedByOther(live, field, ours):
			field.Remove(out.Object)
		default:
			field.Replace(out.Object, value)
		}
	}
	return out
}

// appliedByOther reports whether another manager holds the field by server-side apply.
func appliedByOther(live *unstructured.Unstructured, path engine.Pointer, ours string) bool {
	elements := make([]any, len(path))
	for i, p := range path {
		elements[i] = p
	}
	field, err := fieldpath.MakePath(elements...)
	if err != nil {
		return false
	}
	for _, e := range live.GetManagedFields() {
		if e.Manager == ours || e.Operation != metav1.ManagedFieldsOperationApply || e.FieldsV1 == nil {
			continue
		}
		set, err := managedfields.Set(e)
		if err == nil && set.Has(field) {
			return true
		}
	}
	return false
}
