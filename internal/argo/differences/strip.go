package differences

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Strip is an object without the fields that may differ: those of pointers and expressions. What is left to
// managers takes two objects. Elements of lists that may differ as a whole are gone, and others move up.
func (r ObjectRules) Strip(ctx context.Context, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	paths := slices.Clone(r.pointers)
	var errs []error
	for _, e := range r.expressions {
		found, err := e.paths(ctx, u.Object)
		paths, errs = append(paths, found...), append(errs, err)
	}
	return without(u, paths), errors.Join(errs...)
}

// without is a copy of an object without some of its fields.
func without(u *unstructured.Unstructured, fields []engine.Pointer) *unstructured.Unstructured {
	stripped := u.DeepCopy()
	// The last elements of a list go first, so that the others stay where they are until it is their turn.
	fields = slices.Clone(fields)
	slices.SortFunc(fields, func(a, b engine.Pointer) int { return -slices.CompareFunc(a, b, comparePart) })
	for _, f := range slices.CompactFunc(fields, func(a, b engine.Pointer) bool { return slices.Equal(a, b) }) {
		if rest, ok := remove(stripped.Object, f).(map[string]any); ok {
			stripped.Object = rest
		}
	}
	return stripped
}

// comparePart orders indexes as numbers. Keys that look like numbers have an order all the same.
func comparePart(a, b string) int {
	x, err := strconv.Atoi(a)
	y, otherErr := strconv.Atoi(b)
	if err == nil && otherErr == nil && x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// remove is a value without a field. Maps are changed, and a list that loses an element is another one.
func remove(value any, path engine.Pointer) any {
	if len(path) == 0 {
		return value
	}
	key, rest := path[0], path[1:]
	switch v := value.(type) {
	case map[string]any:
		child, there := v[key]
		switch {
		case !there:
		case len(rest) == 0:
			delete(v, key)
		default:
			v[key] = remove(child, rest)
		}
	case []any:
		child, i, there := at(v, key)
		switch {
		case !there:
		case len(rest) == 0:
			return slices.Delete(v, i, i+1)
		default:
			v[i] = remove(child, rest)
		}
	}
	return value
}
