package declared

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// Read reads an object as the type that its kind has.
func Read[T any](u *unstructured.Unstructured) (*T, error) {
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	return object, nil
}

// Fields are those of a status as JSON has them. What they say in words has no credentials of URLs; what mirrors a declaration
// stays as it is.
func Fields(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	redact(m)
	return m, nil
}

// redact takes credentials out of messages, at every depth, and out of the metadata of artifacts.
func redact(fields map[string]any) {
	for key, value := range fields {
		switch value := value.(type) {
		case string:
			if key == "message" {
				fields[key] = redaction.Text(value)
			}
		case map[string]any:
			if key == "metadata" {
				for name, v := range value {
					if text, is := v.(string); is {
						value[name] = redaction.Text(text)
					}
				}
			}
			redact(value)
		case []any:
			for _, item := range value {
				if inner, is := item.(map[string]any); is {
					redact(inner)
				}
			}
		}
	}
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
