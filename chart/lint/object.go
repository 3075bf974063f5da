package lint

import (
	"strconv"
	"strings"
)

// object is an object of Kubernetes, however wrong its fields are.
type object map[string]any

func (o object) kind() string { return text(o, "kind") }

func (o object) group() string {
	group, _, found := strings.Cut(text(o, "apiVersion"), "/")
	if !found {
		return ""
	}
	return group
}

func (o object) name() string                { return text(child(o, "metadata"), "name") }
func (o object) namespace() string           { return text(child(o, "metadata"), "namespace") }
func (o object) labels() map[string]any      { return child(o, "metadata", "labels") }
func (o object) annotations() map[string]any { return child(o, "metadata", "annotations") }

// items are the objects of a List, and nil for any other object.
func (o object) items() []map[string]any {
	if _, is := o["items"].([]any); !is || !strings.HasSuffix(o.kind(), "List") {
		return nil
	}
	return mappings(o, "items")
}

// child is the mapping at a place; nil if there is none.
func child(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// mappings are the mappings in a list; what is none is an empty one, so that positions stay.
func mappings(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	all := make([]map[string]any, len(list))
	for i, one := range list {
		all[i], _ = one.(map[string]any)
	}
	return all
}

func text(m map[string]any, key string) string {
	value, _ := m[key].(string)
	return value
}

func truth(m map[string]any, key string) bool {
	value, _ := m[key].(bool)
	return value
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// join is the path of a field: keys with dots between them, and indices.
func join(parts ...string) string {
	var out strings.Builder
	for _, part := range parts {
		if out.Len() > 0 && part != "" && !strings.HasPrefix(part, "[") {
			out.WriteByte('.')
		}
		out.WriteString(part)
	}
	return out.String()
}

// open reports whether a text holds a variable or a template, so that nothing is known of it.
func open(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "{{") || strings.Contains(text, "$(")
}
