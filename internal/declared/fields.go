package declared

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Read reads an object as the type that its kind has.
func Read[T any](u *unstructured.Unstructured) (*T, error) {
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return object, nil
}

// Fields are those of a value as JSON has them.
func Fields(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	return m, nil
}

// Difference is a merge patch that makes one value the other, at every depth; it is empty when they are the same.
func Difference(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key, value := range after {
		was, there := before[key]
		if there && reflect.DeepEqual(was, value) {
			continue
		}
		inner, is := value.(map[string]any)
		outer, had := was.(map[string]any)
		if is && had {
			patch[key] = Difference(outer, inner)
			continue
		}
		patch[key] = value
	}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	return patch
}
