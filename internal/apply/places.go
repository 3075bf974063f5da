package apply

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// place is a field that is left to others, in the terms of server-side apply: elements of lists by
// their keys, so that it is found in the declaration as well, where they may be ordered otherwise.
type place struct {
	path fieldpath.Path
	// atomic is how many elements of path lead to a list or map that has one owner as a whole. No field
	// in it can be left out: what is there has to be said again. It is 0 when the field can be left out.
	atomic int
	// value is what the live object has there.
	value any
	found bool
}

// places finds the fields of a live object that pointers name. Pointers that lead into a list beyond
// its end, or through something that is neither list nor map, name nothing.
func places(live *unstructured.Unstructured, pointers []engine.Pointer) ([]place, error) {
	if len(pointers) == 0 {
		return nil, nil
	}
	owned, err := allFields(live.GetManagedFields())
	if err != nil {
		return nil, err
	}
	var list []place
	for _, pointer := range pointers {
		if p, ok := placeOf(live.Object, pointer, owned); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// allFields is what all managers own together.
func allFields(entries []metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	all := fieldpath.NewSet()
	for _, e := range entries {
		set, err := managedfields.Set(e)
		if err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	return all, nil
}

// walk is the way down an object along a pointer.
type walk struct {
	place
	node any
	// owned is what is owned below the node, whole that the node itself is, and nothing below it.
	owned *fieldpath.Set
	whole bool
	// keys are the fields by which the node is known in its list.
	keys []string
}

func placeOf(object map[string]any, pointer engine.Pointer, owned *fieldpath.Set) (place, bool) {
	w := walk{node: object, owned: owned}
	for _, part := range pointer {
		if !w.step(part) {
			return place{}, false
		}
	}
	if w.found {
		w.value = w.node
	}
	return w.place, true
}

// step goes one part of a pointer down.
func (w *walk) step(part string) bool {
	var element fieldpath.PathElement
	keys := w.keys
	w.keys = nil
	switch n := w.node.(type) {
	case nil: // below a field that the live object does not have
		element, w.found = fieldpath.FieldNameElement(part), false
	case map[string]any:
		// An element without its key would be another one.
		if (w.whole && len(n) > 0) || slices.Contains(keys, part) {
			w.bound()
		}
		element = fieldpath.FieldNameElement(part)
		w.node, w.found = n[part]
	case []any:
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i >= len(n) {
			return false
		}
		if len(elements(w.owned)) == 0 {
			w.bound()
		}
		element = fieldpath.IndexElement(i)
		if w.atomic == 0 {
			element, w.keys = elementOf(n, i, w.owned)
		}
		w.node, w.found = n[i], true
	default:
		return false
	}
	member := w.owned.Members.Has(element)
	w.owned = w.owned.WithPrefix(element)
	w.whole = member && w.owned.Empty()
	w.path = append(w.path, element)
	return true
}

// bound notes that what the way has led to has one owner as a whole.
func (w *walk) bound() {
	if w.atomic == 0 {
		w.atomic = len(w.path)
	}
}

// elements are those of a list that are owned individually.
func elements(set *fieldpath.Set) []fieldpath.PathElement {
	var list []fieldpath.PathElement
	add := func(e fieldpath.PathElement) {
		if e.Key != nil || e.Value != nil {
			list = append(list, e)
		}
	}
	set.Members.Iterate(add)
	set.Children.Iterate(add)
	return list
}

// elementOf is how an element of a list is known, and by which of its fields.
func elementOf(list []any, i int, owned *fieldpath.Set) (fieldpath.PathElement, []string) {
	known := elements(owned)[0]
	if known.Key == nil {
		return fieldpath.ValueElement(value.NewValueInterface(list[i])), nil
	}
	object, _ := list[i].(map[string]any)
	var names []string
	var fields value.FieldList
	for _, f := range *known.Key {
		names = append(names, f.Name)
		if v, ok := object[f.Name]; ok {
			fields = append(fields, value.Field{Name: f.Name, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.KeyElement(fields...), names
}
