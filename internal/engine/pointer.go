package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901), unescaped. It has one part at least.
type Pointer []string

// ParsePointer reads a JSON pointer. That of the whole document names no field, and is an error.
func ParsePointer(text string) (Pointer, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("JSON pointer %q must start with /", text)
	}
	parts := strings.Split(text[1:], "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts, nil
}

// EscapePointer is a key as part of a JSON pointer.
func EscapePointer(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// String is the pointer as it is written.
func (p Pointer) String() string {
	var text strings.Builder
	for _, part := range p {
		text.WriteString("/" + EscapePointer(part))
	}
	return text.String()
}

// Lookup returns the value at the pointer.
func (p Pointer) Lookup(value any) (any, bool) {
	for _, key := range p {
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

// parent is what holds the value at the pointer, nil when there is none, and under which key.
func (p Pointer) parent(object map[string]any) (any, string) {
	last := len(p) - 1
	value, _ := p[:last].Lookup(object)
	return value, p[last]
}

// Remove takes a field out of an object. An element of a list stays, since others would move.
func (p Pointer) Remove(object map[string]any) {
	at, key := p.parent(object)
	if m, ok := at.(map[string]any); ok {
		delete(m, key)
	}
}

// Replace gives a field of an object another value, if the object has the field.
func (p Pointer) Replace(object map[string]any, value any) {
	at, key := p.parent(object)
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
