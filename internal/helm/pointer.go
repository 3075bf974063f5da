package helm

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// escaped is a key as part of a JSON pointer (RFC 6901).
func escaped(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// leave has desired say what live says at a JSON pointer. A field that live lacks is taken out; an
// element of a list stays, since others would move. What desired does not say it goes on not to say.
func leave(desired, live *unstructured.Unstructured, pointer string) error {
	if !strings.HasPrefix(pointer, "/") {
		return fmt.Errorf("JSON pointer %q must begin with /", pointer)
	}
	path := strings.Split(pointer[1:], "/")
	for i, p := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	last := path[len(path)-1]
	value, there := at(live.Object, path)
	within, ok := at(desired.Object, path[:len(path)-1])
	if !ok {
		return nil
	}
	switch v := within.(type) {
	case map[string]any:
		if _, declared := v[last]; !declared {
			return nil
		}
		if there {
			v[last] = value
			return nil
		}
		delete(v, last)
	case []any:
		if i, err := strconv.Atoi(last); err == nil && there && i >= 0 && i < len(v) {
			v[i] = value
		}
	}
	return nil
}

// at is the value at a path.
func at(value any, path []string) (any, bool) {
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
