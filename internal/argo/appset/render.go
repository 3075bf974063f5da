package appset

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deep renders all texts in a value, and the keys of its maps. An error names the field.
func deep(e engine, value any, params map[string]any) (any, error) {
	switch value := value.(type) {
	case string:
		text, err := e.render(value, params)
		return text, err
	case []any:
		made := make([]any, len(value))
		for i, item := range value {
			rendered, err := deep(e, item, params)
			if err != nil {
				return nil, within(fmt.Sprintf("[%d]", i), err)
			}
			made[i] = rendered
		}
		return made, nil
	case map[string]any:
		return deepMap(e, value, params)
	}
	return value, nil
}

func deepMap(e engine, value map[string]any, params map[string]any) (map[string]any, error) {
	made := make(map[string]any, len(value))
	for _, key := range slices.Sorted(maps.Keys(value)) {
		name, err := e.render(key, params)
		if err != nil {
			return nil, within("."+key, err)
		}
		if _, twice := made[name]; twice {
			return nil, within("."+key, fmt.Errorf("another key is also %q", name))
		}
		rendered, err := deep(e, value[key], params)
		if err != nil {
			return nil, within("."+key, err)
		}
		made[name] = rendered
	}
	return made, nil
}

// fieldError is an error at a field.
type fieldError struct {
	path string
	err  error
}

// Error is the path of the field, and what is wrong there.
func (e *fieldError) Error() string { return strings.TrimPrefix(e.path, ".") + ": " + e.err.Error() }

// Unwrap is what is wrong.
func (e *fieldError) Unwrap() error { return e.err }

// within puts a field before the path of an error.
func within(field string, err error) error {
	if inner, ok := err.(*fieldError); ok { //nolint:errorlint // Only one that is not wrapped has a path that can be made longer.
		return &fieldError{field + inner.path, inner.err}
	}
	return &fieldError{field, err}
}

// underlay fills what a value leaves empty from another one, as upstream lays the template of a generator over that
// of the set: whatever is not empty wins, maps are filled key by key, and lists are taken as a whole.
func underlay(over, under map[string]any) map[string]any {
	made := maps.Clone(over)
	if made == nil {
		made = map[string]any{}
	}
	for key, below := range under {
		above := made[key]
		upper, ok := above.(map[string]any)
		if lower, also := below.(map[string]any); ok && also {
			made[key] = underlay(upper, lower)
			continue
		}
		if empty(above) {
			made[key] = below
		}
	}
	return made
}

// empty says whether a value is that of an unset field.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case int64:
		return value == 0
	case float64:
		return value == 0
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	case map[string]string:
		return len(value) == 0
	}
	return false
}
