package apply

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// without returns desired without the fields that can be left out, and with the live values of those
// that cannot. The second result reports whether there are any of these: the object is then only right
// for the version that the values are of.
func without(desired *unstructured.Unstructured, list []place) (*unstructured.Unstructured, bool) {
	out, copied := desired.DeepCopy(), false
	for _, p := range list {
		switch {
		case p.atomic == 0:
			remove(out.Object, p.path)
		case reaches(out.Object, p.path[:p.atomic]):
			put(out.Object, p)
			copied = true
		}
	}
	return out, copied
}

// keeping returns desired with the live values of the fields that are left to others.
func keeping(desired *unstructured.Unstructured, list []place) *unstructured.Unstructured {
	out := desired.DeepCopy()
	for _, p := range list {
		put(out.Object, p)
	}
	return out
}

// reaches reports whether an object has something at a path.
func reaches(node any, path fieldpath.Path) bool {
	for _, element := range path {
		var ok bool
		if node, _, ok = child(node, element); !ok {
			return false
		}
	}
	return true
}

// child is the element of a map or list, and its index in a list.
func child(node any, element fieldpath.PathElement) (any, int, bool) {
	switch n := node.(type) {
	case map[string]any:
		if element.FieldName == nil {
			return nil, 0, false
		}
		v, ok := n[*element.FieldName]
		return v, 0, ok
	case []any:
		i := indexOf(n, element)
		if i < 0 || i >= len(n) {
			return nil, 0, false
		}
		return n[i], i, true
	}
	return nil, 0, false
}

func indexOf(list []any, element fieldpath.PathElement) int {
	switch {
	case element.Index != nil:
		return *element.Index
	case element.Value != nil:
		return slices.IndexFunc(list, func(v any) bool { return same(v, *element.Value) })
	case element.Key != nil:
		return indexByKey(list, *element.Key)
	}
	return -1
}

// indexByKey finds an element by its keys. A key that the declaration leaves to its default fits if no
// other element does.
func indexByKey(list []any, keys value.FieldList) int {
	loose := -1
	for i, v := range list {
		object, _ := v.(map[string]any)
		fits, exact := object != nil, true
		for _, key := range keys {
			field, ok := object[key.Name]
			fits = fits && (!ok || same(field, key.Value))
			exact = exact && ok
		}
		switch {
		case fits && exact:
			return i
		case fits && loose >= 0:
			loose = len(list) // more than one
		case fits:
			loose = i
		}
	}
	return loose
}

// same reports whether two scalars are equal, however their numbers are held.
func same(v any, other value.Value) bool {
	return value.Equals(value.NewValueInterface(v), other)
}

// remove takes out what is at a path, and the maps and lists that this leaves empty: an empty map would
// be a value of its own.
func remove(node any, path fieldpath.Path) (any, bool) {
	next, i, ok := child(node, path[0])
	if !ok {
		return node, false
	}
	empty := len(path) == 1
	if !empty {
		next, empty = remove(next, path[1:])
	}
	switch n := node.(type) {
	case map[string]any:
		if !empty {
			n[*path[0].FieldName] = next
			return n, false
		}
		delete(n, *path[0].FieldName)
		return n, len(n) == 0
	case []any:
		if !empty || path[0].Index != nil { // others would move
			n[i] = next
			return n, false
		}
		n = slices.Delete(slices.Clone(n), i, i+1)
		return n, len(n) == 0
	}
	return node, false
}

// put gives an object the live value of a place, or takes the field out when the live object does not
// have it. Maps on the way are made, elements of lists are not.
func put(object map[string]any, p place) {
	if !p.found {
		remove(object, p.path)
		return
	}
	var node any = object
	for i, element := range p.path {
		last := i == len(p.path)-1
		switch n := node.(type) {
		case map[string]any:
			if element.FieldName == nil {
				return
			}
			if last {
				n[*element.FieldName] = runtime.DeepCopyJSONValue(p.value)
				return
			}
			next, ok := n[*element.FieldName]
			if !ok && p.path[i+1].FieldName != nil {
				next = map[string]any{}
				n[*element.FieldName] = next
			}
			node = next
		case []any:
			at := indexOf(n, element)
			if at < 0 || at >= len(n) {
				return
			}
			if last {
				n[at] = runtime.DeepCopyJSONValue(p.value)
				return
			}
			node = n[at]
		default:
			return
		}
	}
}

// under is the part of a set that lies at one of the paths, or below.
func under(set *fieldpath.Set, paths []fieldpath.Path) *fieldpath.Set {
	part := fieldpath.NewSet()
	if len(paths) == 0 || set.Empty() {
		return part
	}
	set.Iterate(func(p fieldpath.Path) {
		for _, above := range paths {
			if len(p) >= len(above) && p[:len(above)].Equals(above) {
				part.Insert(p.Copy())
				return
			}
		}
	})
	return part
}

// leftOut are the paths of the places that can be left out.
func leftOut(list []place) []fieldpath.Path {
	byText := map[string]fieldpath.Path{}
	for _, p := range list {
		if p.atomic == 0 {
			byText[p.path.String()] = p.path
		}
	}
	paths := make([]fieldpath.Path, 0, len(byText))
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		paths = append(paths, byText[text])
	}
	return paths
}
