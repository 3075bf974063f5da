package apply

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// leaveOut returns desired without the fields that the unit leaves to others: a field that another
// manager applies is left out, of any other field the live value is kept.
func leaveOut(desired, live *unstructured.Unstructured, rules [][]string, ours string) (*unstructured.Unstructured, error) {
	out := desired.DeepCopy()
	for _, pointers := range rules {
		for _, pointer := range pointers {
			path, err := parsePointer(pointer)
			if err != nil {
				return nil, err
			}
			value, found := lookup(live.Object, path)
			if !found {
				continue
			}
			if appliedByOther(live, path, ours) {
				remove(out.Object, path)
				continue
			}
			replace(out.Object, path, value)
		}
	}
	return out, nil
}

// parsePointer reads a JSON pointer (RFC 6901).
func parsePointer(pointer string) ([]string, error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, fmt.Errorf("spec.ignore: JSON pointer %q must begin with /", pointer)
	}
	parts := strings.Split(pointer[1:], "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts, nil
}

func lookup(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

func parent(object map[string]any, path []string) (any, string) {
	value, ok := lookup(object, path[:len(path)-1])
	if !ok {
		return nil, ""
	}
	return value, path[len(path)-1]
}

func remove(object map[string]any, path []string) {
	// An element of a list cannot be left out without moving the others.
	at, key := parent(object, path)
	if m, ok := at.(map[string]any); ok {
		delete(m, key)
	}
}

func replace(object map[string]any, path []string, value any) {
	at, key := parent(object, path)
	switch v := at.(type) {
	case map[string]any:
		if _, declared := v[key]; declared {
			v[key] = value
		}
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			v[i] = value
		}
	}
}

// appliedByOther tells whether another manager holds the field by server-side apply.
func appliedByOther(live *unstructured.Unstructured, path []string, ours string) bool {
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
		set, err := fieldsOf(e)
		if err == nil && set.Has(field) {
			return true
		}
	}
	return false
}
