package schema

import (
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/chart"
)

// Rule is a rule of a definition in the Common Expression Language.
type Rule struct {
	// Rule is the expression, Message what is reported when it is false, MessageExpression an expression that gives the message.
	Rule              string `json:"rule"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
	// OptionalOldSelf reports whether the rule counts for objects that are created, though it reads the previous value.
	OptionalOldSelf bool `json:"optionalOldSelf"`
}

// Evaluator evaluates rules: that of chart/schema/expression.
type Evaluator interface {
	// Evaluate is why a value breaks a rule, or "" if it does not. The value has maps, slices, strings, bools, int64 and float64,
	// time.Time, time.Duration and []byte where its schema says so, and the names of fields as the language needs them. An
	// error is a rule that cannot be evaluated.
	Evaluate(rule Rule, self any) (string, error)
}

// expressions evaluates the rules of a schema, unless the object is wrong already: rules rely on fields and types.
func (w *walk) expressions(n *node, v any) {
	if w.check.Expressions == nil || len(n.Rules) == 0 || w.partial || w.status || len(w.findings) > w.before {
		return
	}
	self := w.typedValue(n, v)
	for _, rule := range n.Rules {
		message, err := w.check.Expressions.Evaluate(rule, self)
		switch {
		case err != nil:
			w.add(chart.SeverityInfo, RuleExpression, "a rule of its definition was not evaluated: "+err.Error())
		case message != "":
			w.errorf(RuleExpression, "%s", message)
		}
	}
}

// typedValue is a value as rules see it: with its defaults, and with times, durations and bytes instead of their texts.
func (w *walk) typedValue(n *node, v any) any {
	if n = w.resolve(n); n == nil {
		return v
	}
	switch value := v.(type) {
	case map[string]any:
		return w.typedMap(n, value)
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = w.typedValue(n.Items, item)
		}
		return out
	case string:
		return typedText(n.Format, value)
	case float64:
		if n.Type == "integer" {
			return int64(value)
		}
	case int64:
		if n.Type == "number" {
			return float64(value)
		}
	}
	return v
}

func (w *walk) typedMap(n *node, fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for key, v := range fields {
		switch property := n.Properties[key]; {
		case property != nil:
			out[escaped(key)] = w.typedValue(property, v)
		case n.Additional != nil && n.Additional.schema != nil:
			out[key] = w.typedValue(n.Additional.schema, v)
		default:
			out[key] = v
		}
	}
	for key, property := range n.Properties {
		if _, set := fields[key]; !set && property.Default != nil {
			out[escaped(key)] = w.typedValue(property, property.Default)
		}
	}
	return out
}

func typedText(format, text string) any {
	switch format {
	case "date-time", "datetime", "date":
		layout := time.RFC3339Nano
		if format == "date" {
			layout = time.DateOnly
		}
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	case "duration":
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	case "byte":
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			return data
		}
	}
	return text
}

// reserved are the words of the language that are not names of fields in it.
var reserved = []string{
	"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
	"package", "namespace", "return", "var", "void", "while",
}

// escaped is the name of a field as rules write it.
func escaped(name string) string {
	if slices.Contains(reserved, name) {
		return "__" + name + "__"
	}
	return strings.NewReplacer("__", "__underscores__", ".", "__dot__", "-", "__dash__", "/", "__slash__").Replace(name)
}
