package text

import (
	"reflect"
	"strings"

	"github.com/ohler55/ojg/jp"
)

// guard puts a count before those functions of sprig whose result, or whose time, grows faster than what they are given.
func (m *meter) guard(library map[string]any) {
	for names, check := range map[string]func([]reflect.Value) error{
		"replace": func(a []reflect.Value) error {
			return m.charge(a[1].Len(), strings.Count(a[2].String(), a[0].String()))
		},
		"regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral": func(a []reflect.Value) error {
			// A match may be empty, and what replaces it may have the whole match in it several times.
			return m.charge(a[2].Len(), a[1].Len()+1)
		},
		"join":           func(a []reflect.Value) error { return m.charge(a[0].Len(), length(a[1])) },
		"indent nindent": func(a []reflect.Value) error { return m.charge(int(a[0].Int()), 1+strings.Count(a[1].String(), "\n")) },
		"wrapWith": func(a []reflect.Value) error {
			return m.charge(a[1].Len(), 2+2*a[2].Len()/max(1, int(a[0].Int())))
		},
		"split splitList": func(a []reflect.Value) error {
			return m.charge(perPart, 1+strings.Count(a[1].String(), a[0].String()))
		},
		"regexFindAll mustRegexFindAll regexSplit mustRegexSplit": func(a []reflect.Value) error { return m.charge(perPart, 1+a[1].Len()) },
		"fromJson mustFromJson":                                   func(a []reflect.Value) error { return m.read(a[0].String()) },
		"toPrettyJson mustToPrettyJson":                           func(a []reflect.Value) error { return m.compared(a[0], perPart) },
		"uniq mustUniq":                                           func(a []reflect.Value) error { return m.compared(a[0], length(a[0])) },
		"without mustWithout":                                     func(a []reflect.Value) error { return m.compared(a[0], a[1].Len()) },
	} {
		for _, name := range strings.Fields(names) {
			library[name] = guarded(library[name], check)
		}
	}
}

// guardPatterns puts a count before those functions of sprig that take a regular expression and a text.
func (m *meter) guardPatterns(library map[string]any) {
	for name := range strings.FieldsSeq(`regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind mustRegexFind regexReplaceAll mustRegexReplaceAll
		regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit mustRegexSplit`) {
		library[name] = guarded(library[name], func(a []reflect.Value) error {
			_, err := m.pattern(a[0].String(), a[1].Len())
			return err
		})
	}
}

// guarded is a function that is called only if a check allows it. It panics otherwise, as the library does, since not all give errors.
func guarded(function any, check func([]reflect.Value) error) any {
	called := reflect.ValueOf(function)
	return reflect.MakeFunc(called.Type(), func(arguments []reflect.Value) []reflect.Value {
		if err := check(arguments); err != nil {
			panic(err)
		}
		if called.Type().IsVariadic() {
			return called.CallSlice(arguments)
		}
		return called.Call(arguments)
	}).Interface()
}

// length is how many elements a list has; one for anything else.
func length(value reflect.Value) int {
	for value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if value.Kind() == reflect.Slice || value.Kind() == reflect.Array {
		return value.Len()
	}
	return 1
}

// find charges for what a path may find in a value: each descent after the first one multiplies it by the depth, and each union by its length.
func (m *meter) find(path jp.Expr, value any) error {
	before := m.bytes
	if err := m.weigh(value); err != nil {
		return err
	}
	size, descents := before-m.bytes, 0
	for _, part := range path {
		times := 1
		switch p := part.(type) {
		case jp.Union:
			times = len(p)
		case jp.Descent:
			if descents++; descents > 1 {
				times = depth(value)
			}
		case *jp.Filter:
			// What a filter searches for below an element is found once for each of them.
			if inner := p.String(); strings.Contains(inner, "..") || strings.Contains(inner, "*") || strings.Count(inner, "?") > 1 {
				times = depth(value)
			}
		}
		if err := m.charge(size, times-1); err != nil {
			return err
		}
		size *= max(1, times)
	}
	return nil
}

// depth is how deep a value of JSON is nested.
func depth(value any) int {
	deepest := 0
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			deepest = max(deepest, depth(element))
		}
	case map[string]any:
		for _, element := range v {
			deepest = max(deepest, depth(element))
		}
	}
	return deepest + 1
}
