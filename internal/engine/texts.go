package engine

import (
	"fmt"
	"maps"
	"slices"
)

// NotStringError is a label or an annotation with a value that is not a string, such as a number without quotes. Whatever sets another
// label on such an object would replace all that it has.
type NotStringError struct {
	// Field is labels or annotations, Key the name of the one that is wrong.
	Field, Key string
}

// Error names the field, and never shows the value.
func (e *NotStringError) Error() string {
	return fmt.Sprintf("metadata.%s: the value of %q is not a string; quote it", e.Field, e.Key)
}

// Strings returns a NotStringError for the first label or annotation of an object that is neither a string nor null, and nil if there
// is none.
func Strings(object map[string]any) error {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		values, _ := metadata[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if _, is := values[key].(string); !is && values[key] != nil {
				return &NotStringError{field, key}
			}
		}
	}
	return nil
}
