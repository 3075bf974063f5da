package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/managedfields"
)

// Applied is the part of a live object that was applied by these names and is theirs still: what all units together declared
// of it that applied it so.
func (n Names) Applied(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	set := fieldpath.NewSet()
	for _, e := range live.GetManagedFields() {
		if e.Manager != n.Manager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" {
			continue
		}
		fields, err := managedfields.Set(e)
		if err != nil {
			return nil, err
		}
		set = set.Union(fields)
	}
	object, _ := within(live.Object, set).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	out := &unstructured.Unstructured{Object: object}
	out.SetAPIVersion(live.GetAPIVersion())
	out.SetKind(live.GetKind())
	out.SetName(live.GetName())
	out.SetNamespace(live.GetNamespace())
	return out, nil
}

// within is a copy of the fields of a value that a set has. What the set has as a whole is copied as a whole.
func within(node any, set *fieldpath.Set) any {
	switch n := node.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range n {
			if part, ok := part(value, set, fieldpath.FieldNameElement(key)); ok {
				out[key] = part
			}
		}
		return out
	case []any:
		out := []any{}
		kept := map[int]any{}
		for _, element := range elements(set) {
			if i := indexOf(n, element); i >= 0 && i < len(n) {
				kept[i], _ = part(n[i], set, element)
			}
		}
		for i := range n {
			if value, ok := kept[i]; ok {
				out = append(out, value)
			}
		}
		return out
	}
	return node
}

// part is what a set has of one element of a map or a list.
func part(value any, set *fieldpath.Set, element fieldpath.PathElement) (any, bool) {
	if below := set.WithPrefix(element); !below.Empty() {
		return within(value, below), true
	}
	return runtime.DeepCopyJSONValue(value), set.Members.Has(element)
}
