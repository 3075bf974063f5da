package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/chart/similar"
)

const quantity = "apimachinery.pkg.api.resource.Quantity"

func intOrString(n *node) bool { return n.IntOrString || n.Format == "int-or-string" }

// typed reports a value of the wrong type; false means that nothing more can be said of it.
func (w *walk) typed(n *node, v any) bool {
	ok := true
	switch {
	case intOrString(n):
		ok = isString(v) || isInteger(v)
	case n.name == quantity:
		_, number := numberOf(v)
		ok = isString(v) || number
	case n.Type == "string":
		ok = isString(v)
	case n.Type == "integer":
		ok = isInteger(v)
	case n.Type == "number":
		_, ok = numberOf(v)
	case n.Type == "boolean":
		_, ok = v.(bool)
	case n.Type == "object":
		_, ok = v.(map[string]any)
	case n.Type == "array":
		_, ok = v.([]any)
	}
	if !ok {
		w.errorf(RuleType, "is %s, must be %s%s", w.describe(v), typeName(n), cure(n, v))
	}
	return ok
}

// typeName is the type of a schema with its article.
func typeName(n *node) string {
	switch {
	case intOrString(n):
		return "a whole number or a string"
	case n.name == quantity:
		return `a quantity such as "500m" or "1Gi"`
	}
	names := map[string]string{"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "true or false", "object": "a map", "array": "a list"}
	if name := names[n.Type]; name != "" {
		return name
	}
	return "a value"
}

// describe is the type of a value, and the value if it is short and of no Secret.
func (w *walk) describe(v any) string {
	switch value := v.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		if w.secret || utf8.RuneCountInString(value) > 40 {
			return "a string"
		}
		return fmt.Sprintf("the string %q", value)
	case bool:
		if w.secret {
			return "a bool"
		}
		return strconv.FormatBool(value)
	default:
		if w.secret {
			return "a number"
		}
		return fmt.Sprintf("the number %v", v)
	}
}

// cure is how to write a value so that it has the type.
func cure(n *node, v any) string {
	_, isMap := v.(map[string]any)
	_, isList := v.([]any)
	switch {
	case n.Type == "string" && !isMap && !isList:
		return ": put it in quotes"
	case n.Type == "array" && !isList:
		return ": begin each item with a dash"
	case n.Type == "boolean" && isString(v), n.Type == "integer" && isString(v), n.Type == "number" && isString(v):
		return ": write it without quotes"
	}
	return ""
}

// scalar validates the value of a text, number or bool whose type is right.
func (w *walk) scalar(n *node, v any) {
	if text, ok := v.(string); ok {
		w.text(n, text)
		return
	}
	number, ok := numberOf(v)
	if !ok {
		return
	}
	format := n.Format
	if format == "int-or-string" {
		format = "int32"
	}
	if low, high, bounded := limits(format); bounded && (number < low || number > high) {
		w.errorf(RuleBounds, "does not fit into %s", format)
	}
	w.bounds(n, number)
}

// limits are those of a format of integers.
func limits(format string) (low, high float64, bounded bool) {
	switch format {
	case "int32":
		return math.MinInt32, math.MaxInt32, true
	case "int64":
		return math.MinInt64, math.MaxInt64, true
	}
	return 0, 0, false
}

func (w *walk) bounds(n *node, number float64) {
	switch {
	case n.Minimum != nil && (number < *n.Minimum || n.ExclusiveMinimum && number == *n.Minimum):
		w.errorf(RuleBounds, "must be %s %v", either(n.ExclusiveMinimum, "more than", "at least"), *n.Minimum)
	case n.Maximum != nil && (number > *n.Maximum || n.ExclusiveMaximum && number == *n.Maximum):
		w.errorf(RuleBounds, "must be %s %v", either(n.ExclusiveMaximum, "less than", "at most"), *n.Maximum)
	case n.MultipleOf != nil && *n.MultipleOf > 0 && math.Mod(number, *n.MultipleOf) != 0:
		w.errorf(RuleBounds, "must be a multiple of %v", *n.MultipleOf)
	}
}

func either(condition bool, one, other string) string {
	if condition {
		return one
	}
	return other
}

// text validates the value of a string.
func (w *walk) text(n *node, text string) {
	if n.MinLength != nil && utf8.RuneCountInString(text) < *n.MinLength {
		w.errorf(RuleBounds, "must have at least %s", count(*n.MinLength, "character", "characters"))
	}
	if n.MaxLength != nil && utf8.RuneCountInString(text) > *n.MaxLength {
		w.errorf(RuleBounds, "must have at most %s", count(*n.MaxLength, "character", "characters"))
	}
	if n.Pattern != nil && !n.Pattern.matches(text) {
		w.errorf(RuleBounds, "must match %s", n.Pattern.text)
	}
	format := n.Format
	if n.name == quantity {
		format = "quantity"
	}
	if want, ok := validFormat(format, text); !ok {
		hint := either(w.secret && format == "byte", ": plain text belongs into stringData", "")
		w.errorf(RuleFormat, "is not %s%s", want, hint)
	}
}

// enum reports a value that is not one of those allowed. An empty text is one that is not set, but in custom resources.
func (w *walk) enum(n *node, v any) {
	if v == "" && !w.own || slices.ContainsFunc(n.Enum, func(allowed any) bool { return same(allowed, v) }) {
		return
	}
	message := "must be one of " + values(n.Enum)
	if text, ok := v.(string); ok && !w.secret {
		message = fmt.Sprintf("is %q, must be one of %s", text, values(n.Enum))
		if near := similar.Closest(text, texts(n.Enum)); near != "" {
			message += fmt.Sprintf("; did you mean %q?", near)
		}
	}
	w.errorf(RuleEnum, "%s", message)
}

func values(all []any) string {
	out := make([]string, len(all))
	for i, v := range all {
		data, err := json.Marshal(v)
		if err != nil {
			data = []byte(fmt.Sprint(v))
		}
		out[i] = strings.Trim(string(data), `"`)
	}
	return strings.Join(out, ", ")
}

func texts(all []any) []string {
	var out []string
	for _, v := range all {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func same(a, b any) bool {
	x, isNumber := numberOf(a)
	y, both := numberOf(b)
	if isNumber && both {
		return x == y
	}
	switch a.(type) {
	case map[string]any, []any:
		return fmt.Sprint(a) == fmt.Sprint(b)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}

// isInteger accepts 1.0, which is 1 once it was written.
func isInteger(v any) bool {
	number, ok := numberOf(v)
	return ok && number == math.Trunc(number) && !math.IsInf(number, 0)
}

// numberOf is the value of a number of any type that decoders of YAML and JSON give.
func numberOf(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int32:
		return float64(n), true
	case uint64:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}
