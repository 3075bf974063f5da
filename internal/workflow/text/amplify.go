package text

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm/runtime"
)

// amplifying are the functions of the language whose result, or whose time, grows faster than what they are given. They count it before they begin.
func (m *meter) amplifying() []expr.Option {
	return []expr.Option{
		expr.Function("repeat", m.repeat, new(func(string, int) string)),
		expr.Function("replace", m.replace, new(func(string, string, string, int) string), new(func(string, string, string) string)),
		expr.Function("join", m.join, new(func([]any, string) string), new(func([]any) string), new(func([]string, string) string), new(func([]string) string)),
		expr.Function("split", m.split, new(func(string, string, int) []string), new(func(string, string) []string)),
		expr.Function("splitAfter", m.splitAfter, new(func(string, string, int) []string), new(func(string, string) []string)),
		expr.Function("fromJSON", m.fromJSON, new(func(string) any)),
		expr.Function("uniq", m.uniq, new(func([]any) []any), new(func(any) []any)),
	}
}

// perPart is what a part of a text takes, or a value that is read out of one, whatever its length.
const perPart = 32

func (m *meter) repeat(arguments ...any) (any, error) {
	text, isText := arguments[0].(string)
	count, isNumber := arguments[1].(int)
	switch {
	case !isText || !isNumber || count < 0:
		return nil, fmt.Errorf("repeat: it takes a text and how often, which is not negative")
	case count > 0 && len(text) > maxReplaced/count:
		return nil, fmt.Errorf("repeat: the result is more than %d bytes", maxReplaced)
	}
	return strings.Repeat(text, count), m.charge(len(text), count)
}

func (m *meter) replace(arguments ...any) (any, error) {
	texts, limit, err := textsOf("replace", arguments, 3)
	if err != nil {
		return nil, err
	}
	times := strings.Count(texts[0], texts[1])
	if limit >= 0 {
		times = min(times, limit)
	}
	if err := m.charge(len(texts[2]), times); err != nil {
		return nil, fmt.Errorf("replace: %w", err)
	}
	return strings.Replace(texts[0], texts[1], texts[2], limit), nil
}

func (m *meter) split(arguments ...any) (any, error) { return m.parts(strings.SplitN, arguments) }

func (m *meter) splitAfter(arguments ...any) (any, error) {
	return m.parts(strings.SplitAfterN, arguments)
}

func (m *meter) parts(split func(text, by string, limit int) []string, arguments []any) (any, error) {
	texts, limit, err := textsOf("split", arguments, 2)
	if err != nil {
		return nil, err
	}
	if err := m.charge(perPart, 1+strings.Count(texts[0], texts[1])); err != nil {
		return nil, fmt.Errorf("split: %w", err)
	}
	return split(texts[0], texts[1], limit), nil
}

// textsOf are the texts that a function takes, and the number after them; -1 if there is none.
func textsOf(function string, arguments []any, count int) (texts []string, limit int, err error) {
	limit = -1
	for i, argument := range arguments {
		text, isText := argument.(string)
		number, isNumber := argument.(int)
		switch {
		case i < count && isText:
			texts = append(texts, text)
		case i == count && isNumber:
			limit = number
		default:
			return nil, 0, fmt.Errorf("%s: argument %d must not be a %T", function, i+1, argument)
		}
	}
	if len(texts) < count {
		return nil, 0, fmt.Errorf("%s: it takes %d texts", function, count)
	}
	return texts, limit, nil
}

func (m *meter) join(arguments ...any) (any, error) {
	glue, isText := "", true
	if len(arguments) > 1 {
		glue, isText = arguments[1].(string)
	}
	if !isText {
		return nil, fmt.Errorf("join: what is between the texts must not be a %T", arguments[1])
	}
	var texts []string
	switch list := arguments[0].(type) {
	case []string:
		texts = list
	case []any:
		for _, element := range list {
			text, isText := element.(string)
			if !isText {
				return nil, fmt.Errorf("join: it takes a list of texts, and one element is a %T", element)
			}
			texts = append(texts, text)
		}
	default:
		return nil, fmt.Errorf("join: it takes a list of texts, not a %T", arguments[0])
	}
	if err := m.charge(len(glue), len(texts)); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return strings.Join(texts, glue), nil
}

func (m *meter) fromJSON(arguments ...any) (any, error) {
	text, isText := arguments[0].(string)
	if !isText {
		return nil, fmt.Errorf("fromJSON: it takes a text, not a %T", arguments[0])
	}
	if err := m.read(text); err != nil {
		return nil, fmt.Errorf("fromJSON: %w", err)
	}
	var value any
	err := json.Unmarshal([]byte(text), &value)
	return value, err
}

// read charges for the values in a text of JSON, each of which has a comma, a bracket or a brace before it.
func (m *meter) read(text string) error {
	return m.charge(perPart, 1+strings.Count(text, ",")+strings.Count(text, "[")+strings.Count(text, "{"))
}

// uniq compares each element to all that were found before.
func (m *meter) uniq(arguments ...any) (any, error) {
	list := reflect.ValueOf(arguments[0])
	if list.Kind() != reflect.Slice && list.Kind() != reflect.Array {
		return nil, fmt.Errorf("uniq: it takes a list, not a %T", arguments[0])
	}
	if err := m.compared(list, list.Len()); err != nil {
		return nil, fmt.Errorf("uniq: %w", err)
	}
	found := []any{}
	for i := range list.Len() {
		element := list.Index(i).Interface()
		if !slices.ContainsFunc(found, func(other any) bool { return runtime.Equal(element, other) }) {
			found = append(found, element)
		}
	}
	return found, nil
}

// compared charges for comparisons of all that is in a list with a number of others.
func (m *meter) compared(list reflect.Value, others int) error {
	before := m.bytes
	if err := m.weighValue(list, 0); err != nil {
		return err
	}
	return m.charge((before-m.bytes)/16, others)
}
