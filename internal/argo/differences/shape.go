package differences

import (
	"bytes"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// ListType is how a list is merged.
type ListType string

// The types of lists.
const (
	// ListUnknown is a list of which managed fields say nothing. It is to be treated as an atomic one.
	ListUnknown ListType = ""
	// ListAtomic is written as a whole: no manager can own a part of it.
	ListAtomic ListType = "atomic"
	// ListMap has its elements known by some of their fields.
	ListMap ListType = "map"
	// ListSet has its elements known by their values.
	ListSet ListType = "set"
)

// List is a list that a field lies in.
type List struct {
	// Depth is how many parts of the path lead to the list.
	Depth int
	// Type is how it is merged.
	Type ListType
	// Keys are the fields by which the elements of a ListMap are known, sorted.
	Keys []string
}

// managed is the set of fields of the given managers, all of them without any.
func managed(u *unstructured.Unstructured, managers ...string) *fieldpath.Set {
	set := fieldpath.NewSet()
	if u == nil {
		return set
	}
	for _, e := range u.GetManagedFields() {
		if e.FieldsV1 == nil || len(managers) > 0 && !slices.Contains(managers, e.Manager) {
			continue
		}
		read := &fieldpath.Set{}
		if err := read.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err == nil {
			set = set.Union(read)
		}
	}
	return set
}

// listOf derives the type of a list from what is managed in it; owned is true if a manager owns the list itself.
func listOf(within *fieldpath.Set, owned bool) List {
	keys := map[string]bool{}
	values := false
	look := func(e fieldpath.PathElement) {
		if e.Key != nil {
			for _, f := range *e.Key {
				keys[f.Name] = true
			}
		}
		values = values || e.Value != nil
	}
	within.Members.Iterate(look)
	within.Children.Iterate(look)
	switch {
	case len(keys) > 0:
		l := List{Type: ListMap}
		for key := range keys {
			l.Keys = append(l.Keys, key)
		}
		slices.Sort(l.Keys)
		return l
	case values:
		return List{Type: ListSet}
	case owned:
		return List{Type: ListAtomic}
	}
	return List{Type: ListUnknown}
}

// byIndex is true for a list whose elements are known by their places only.
func (l List) byIndex() bool { return l.Type == ListAtomic || l.Type == ListUnknown }

// find is the place of an element in the other object's list, -1 where it is not there. A key that the element leaves out
// has a default, and matches any, as long as one element only matches.
func (l List) find(element any, in []any, index int) int {
	found := -1
	for i, other := range in {
		switch l.Type {
		case ListMap:
			if !l.sameKeys(element, other) {
				continue
			}
		case ListSet:
			if !equal(element, other) {
				continue
			}
		default:
			if i != index {
				continue
			}
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func (l List) sameKeys(a, b any) bool {
	first, ok := a.(map[string]any)
	second, too := b.(map[string]any)
	if !ok || !too {
		return false
	}
	same := 0
	for _, key := range l.Keys {
		x, inFirst := first[key]
		y, inSecond := second[key]
		if inFirst && inSecond {
			if !equal(x, y) {
				return false
			}
			same++
		}
	}
	return same > 0
}

// element is how managed fields name an element of the list.
func (l List) element(item any, index int) fieldpath.PathElement {
	switch l.Type {
	case ListMap:
		object, _ := item.(map[string]any)
		var key value.FieldList
		for _, name := range l.Keys {
			if v, there := object[name]; there {
				key = append(key, value.Field{Name: name, Value: value.NewValueInterface(v)})
			}
		}
		key.Sort()
		return fieldpath.PathElement{Key: &key}
	case ListSet:
		v := value.NewValueInterface(item)
		return fieldpath.PathElement{Value: &v}
	}
	return fieldpath.PathElement{Index: &index}
}

func fieldName(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }

// at is an element of a list by the part of a path.
func at(list []any, part string) (any, int, bool) {
	i, err := strconv.Atoi(part)
	if err != nil || i < 0 || i >= len(list) {
		return nil, i, false
	}
	return list[i], i, true
}
