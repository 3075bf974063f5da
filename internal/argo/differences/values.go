package differences

import (
	"reflect"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/engine"
)

// equal compares values of which one may have been read as YAML and the other as JSON: a number is what it counts.
func equal(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, number := numberOf(a)
	y, too := numberOf(b)
	if number || too {
		return number && too && x == y
	}
	switch first := a.(type) {
	case map[string]any:
		second, ok := b.(map[string]any)
		if !ok || len(first) != len(second) {
			return false
		}
		for key, value := range first {
			if other, there := second[key]; !there || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		second, ok := b.([]any)
		if !ok || len(first) != len(second) {
			return false
		}
		for i := range first {
			if !equal(first[i], second[i]) {
				return false
			}
		}
		return true
	}
	return false
}

func numberOf(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func indexOf(i int) string { return strconv.Itoa(i) }

// resolve finds a path of managed fields in an object.
func resolve(path fieldpath.Path, object any) (engine.Pointer, bool) {
	var pointer engine.Pointer
	for _, e := range path {
		if e.FieldName != nil {
			m, ok := object.(map[string]any)
			if !ok {
				return nil, false
			}
			if object, ok = m[*e.FieldName]; !ok {
				return nil, false
			}
			pointer = append(pointer, *e.FieldName)
			continue
		}
		list, _ := object.([]any)
		i := placeOf(e, list)
		if i < 0 {
			return nil, false
		}
		object, pointer = list[i], append(pointer, indexOf(i))
	}
	return pointer, true
}

// placeOf is where a list has the element, -1 where it has none.
func placeOf(e fieldpath.PathElement, list []any) int {
	for i, item := range list {
		switch {
		case e.Index != nil:
			if *e.Index == i {
				return i
			}
		case e.Value != nil:
			if equal((*e.Value).Unstructured(), item) {
				return i
			}
		case e.Key != nil:
			if hasKeys(e, item) {
				return i
			}
		}
	}
	return -1
}

func hasKeys(e fieldpath.PathElement, item any) bool {
	object, _ := item.(map[string]any)
	for _, f := range *e.Key {
		if v, there := object[f.Name]; !there || !equal(f.Value.Unstructured(), v) {
			return false
		}
	}
	return object != nil
}
