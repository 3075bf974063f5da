package objects

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// path is a field of an object: names, and numbers of elements.
type path []any

// mostElements bounds the number of an element that is written: the list has to have all before it.
const mostElements = 1024

// parsePath reads a path as Crossplane has it: spec.containers[0].name, metadata.annotations[example.org/key], data['key'].
func parsePath(text string) (path, error) {
	var p path
	rest := text
	for rest != "" {
		switch {
		case rest[0] == '[':
			inner, after, closed := strings.Cut(rest[1:], "]")
			if !closed || inner == "" {
				return nil, fmt.Errorf("field path %q: a bracket has no end, or nothing in it", text)
			}
			p, rest = append(p, bracketed(inner)), after
		case rest[0] == '.' && len(p) > 0 && len(rest) > 1 && rest[1] != '.' && rest[1] != '[':
			name, after := upTo(rest[1:])
			p, rest = append(p, name), after
		case rest[0] != '.' && len(p) == 0:
			name, after := upTo(rest)
			p, rest = append(p, name), after
		default:
			return nil, fmt.Errorf("field path %q: unexpected %q", text, rest[:1])
		}
	}
	if len(p) == 0 {
		return nil, errors.New("an empty field path")
	}
	if slices.Contains(p, any("*")) {
		return nil, fmt.Errorf("field path %q: wildcards are not supported", text)
	}
	return p, nil
}

// upTo cuts a name off.
func upTo(text string) (name, rest string) {
	if at := strings.IndexAny(text, ".["); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}

// bracketed is a number, or a name.
func bracketed(inner string) any {
	if n, err := strconv.Atoi(inner); err == nil && n >= 0 {
		return n
	}
	for _, quote := range []string{"'", `"`} {
		if len(inner) > 1 && strings.HasPrefix(inner, quote) && strings.HasSuffix(inner, quote) {
			return inner[1 : len(inner)-1]
		}
	}
	return inner
}

// get is the value of a field, false when there is none.
func (p path) get(from any) (any, bool) {
	for _, step := range p {
		switch held := from.(type) {
		case map[string]any:
			name := fmt.Sprint(step)
			value, has := held[name]
			if !has {
				return nil, false
			}
			from = value
		case []any:
			n, is := step.(int)
			if !is || n >= len(held) {
				return nil, false
			}
			from = held[n]
		default:
			return nil, false
		}
	}
	return from, true
}

// set has a field have a value, and makes what is on the way to it. It returns what the field is in.
func (p path) set(in, value any) (any, error) {
	if len(p) == 0 {
		return value, nil
	}
	n, numbered := p[0].(int)
	if list, is := in.([]any); is || in == nil && numbered {
		if !numbered || n >= mostElements {
			return nil, fmt.Errorf("%v: not the number of an element", p[0])
		}
		for len(list) <= n {
			list = append(list, nil)
		}
		inner, err := p[1:].set(list[n], value)
		list[n] = inner
		return list, err
	}
	fields, is := in.(map[string]any)
	switch {
	case in == nil:
		fields = map[string]any{}
	case !is:
		return nil, fmt.Errorf("%v: its parent is neither an object nor a list", p[0])
	}
	name := fmt.Sprint(p[0])
	inner, err := p[1:].set(fields[name], value)
	fields[name] = inner
	return fields, err
}

// below reports whether a path is a field, or in it.
func (p path) below(name string) bool { return p[0] == any(name) }
