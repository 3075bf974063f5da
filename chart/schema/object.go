package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/chart/similar"
)

const objectMeta = "apimachinery.pkg.apis.meta.v1.ObjectMeta"

// object validates the fields of a map.
func (w *walk) object(n *node, fields map[string]any) {
	whole := len(w.steps) == 0 || n.Embedded
	for key, v := range fields {
		w.into(key)
		w.member(n, key, v, whole)
		w.out()
	}
	if !w.status {
		w.required(n, fields)
	}
	if n.MinProperties != nil && len(fields) < *n.MinProperties {
		w.errorf(RuleBounds, "has %s, must have at least %d", count(len(fields), "entry", "entries"), *n.MinProperties)
	}
	if n.MaxProperties != nil && len(fields) > *n.MaxProperties {
		w.errorf(RuleBounds, "has %s, must have at most %d", count(len(fields), "entry", "entries"), *n.MaxProperties)
	}
	w.meaning(n, fields)
}

// member validates one field of a map. whole reports that the map is an object of its own, so that it has an apiVersion, a kind and metadata.
func (w *walk) member(n *node, key string, v any, whole bool) {
	property := n.Properties[key]
	switch {
	case whole && w.own && key == "metadata":
		w.metadata(v)
		if property != nil {
			w.partially(property, v)
		}
	case whole && w.own && property == nil && (key == "apiVersion" || key == "kind"):
		w.value(&node{Type: "string"}, v)
	case property != nil:
		status := w.status
		w.status = status || len(w.steps) == 1 && key == "status"
		w.value(property, v)
		w.status = status
	case n.Additional != nil && n.Additional.schema != nil:
		w.value(n.Additional.schema, v)
	case !w.allowsMore(n, key):
		w.unknownField(n, key)
	}
}

// allowsMore reports whether a map has fields that its schema does not name.
func (w *walk) allowsMore(n *node, key string) bool {
	return w.check.Sources && len(w.steps) == 1 && key == "sops" ||
		n.Additional != nil && n.Additional.allowed || n.PreserveUnknown || w.partial || n.Type == "" && n.Properties == nil
}

// metadata validates that of a custom resource, whose definition does not describe it.
func (w *walk) metadata(v any) {
	own := w.own
	w.own = false
	w.value(&node{Ref: objectMeta}, v)
	w.own = own
}

func (w *walk) unknownField(n *node, key string) {
	known := slices.Sorted(maps.Keys(n.Properties))
	message := "unknown field"
	switch near := similar.Closest(key, known); {
	case near != "":
		message += fmt.Sprintf("; did you mean %q?", near)
	case len(known) == 0:
		message += "; there are none here"
	case len(known) <= 12:
		message += "; there are " + strings.Join(known, ", ")
	}
	w.errorf(RuleUnknownField, "%s", message)
}

// required reports what is missing. A field with a default is not: the API server sets it first.
func (w *walk) required(n *node, fields map[string]any) {
	for _, name := range n.Required {
		v, present := fields[name]
		property := w.resolve(n.Properties[name])
		switch {
		case v != nil && (w.own || v != ""):
			continue
		case property != nil && (property.Default != nil || present && property.Nullable):
			continue
		case v == "" && (property == nil || property.Type != "string"):
			continue
		}
		w.errorIn(name, RuleRequired, "is missing%s", example(property))
	}
}

// example says what a missing field is to be.
func example(n *node) string {
	switch {
	case n == nil || n.Type == "" && !intOrString(n):
		return ""
	case len(n.Enum) > 0:
		return ": one of " + values(n.Enum)
	}
	return ": " + typeName(n)
}

// list validates the items of a list.
func (w *walk) list(n *node, items []any) {
	if n.Items != nil {
		for i, v := range items {
			w.intoItem(i)
			w.value(n.Items, v)
			w.out()
		}
	}
	if n.MinItems != nil && len(items) < *n.MinItems {
		w.errorf(RuleBounds, "has %s, must have at least %d", count(len(items), "item", "items"), *n.MinItems)
	}
	if n.MaxItems != nil && len(items) > *n.MaxItems {
		w.errorf(RuleBounds, "has %s, must have at most %d", count(len(items), "item", "items"), *n.MaxItems)
	}
	if len(items) > 1 {
		w.duplicates(n, items)
	}
}

// duplicates reports items with the same key, or that are the same in a set.
func (w *walk) duplicates(n *node, items []any) {
	var keys []string
	switch {
	case n.ListType == "map":
		keys = n.ListMapKeys
	case n.ListType != "set" && !n.UniqueItems:
		return
	}
	inner := w.resolve(n.Items)
	seen := make(map[string]int, len(items))
	for i, item := range items {
		id, ok := identity(inner, keys, item)
		if !ok {
			continue
		}
		first, twice := seen[id]
		if !twice {
			seen[id] = i
			continue
		}
		w.intoItem(i)
		if len(keys) == 0 {
			w.errorf(RuleDuplicate, "is the same as item %d; each must be there once", first)
		} else {
			w.errorf(RuleDuplicate, "has the same %s as item %d%s", strings.Join(keys, " and "), first, w.quoted(strings.ReplaceAll(id, "\x00", " ")))
		}
		w.out()
	}
}

// identity is what tells an item from the others; a missing key has its default.
func identity(n *node, keys []string, item any) (string, bool) {
	if len(keys) == 0 {
		return fmt.Sprintf("%T %v", item, item), item != nil
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	parts := make([]string, len(keys))
	for i, key := range keys {
		v, present := fields[key]
		if !present && n != nil && n.Properties[key] != nil {
			v = n.Properties[key].Default
		}
		text, isText := v.(string)
		if !isText && v != nil {
			text = fmt.Sprint(v)
		}
		parts[i] = text
	}
	return strings.Join(parts, "\x00"), true
}

// quoted is a short value in parentheses, or nothing in a Secret.
func (w *walk) quoted(value string) string {
	if w.secret || utf8.RuneCountInString(value) > 80 {
		return ""
	}
	return fmt.Sprintf(" (%q)", value)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
