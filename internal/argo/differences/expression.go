package differences

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"github.com/headgate-dev/headgate/internal/engine"
)

const (
	// jqTime bounds one expression over one object.
	jqTime = time.Second
	// maxPaths bounds how many fields one expression names.
	maxPaths = 10_000
)

// expression is an expression of jq that names fields.
type expression struct {
	// field is where the user wrote it, and text what.
	field, text string
	code        *gojq.Code
}

// newExpression reads an expression. It sees no variables of the process, no files and no further input.
func newExpression(field, text string) (expression, error) {
	e := expression{field: field, text: text}
	if _, err := gojq.Parse(text); err != nil {
		return e, fmt.Errorf("%s: %q is not a jq expression: %w", field, text, err)
	}
	// A line break ends a comment at the end of the text.
	query, err := gojq.Parse("path(" + text + "\n)")
	if err != nil {
		return e, fmt.Errorf("%s: %q is not a jq expression that selects fields: %w", field, text, err)
	}
	if e.code, err = gojq.Compile(query); err != nil {
		return e, fmt.Errorf("%s: %q is not a jq expression: %w", field, text, err)
	}
	return e, nil
}

// paths are the fields of an object that the expression names, whether they are there or not. An expression that stumbles
// over an object, such as one that goes through a list that is missing, names none of it. Errors are about time, and
// about what never names a field; what jq says of values stays out of them.
func (e expression) paths(ctx context.Context, object map[string]any) (found []engine.Pointer, err error) {
	defer func() {
		if recover() != nil {
			found, err = nil, fmt.Errorf("%s: %q cannot be evaluated", e.field, e.text)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, jqTime)
	defer cancel()
	iter := e.code.RunWithContext(ctx, plain(object))
	for {
		value, more := iter.Next()
		if !more {
			return found, nil
		}
		switch v := value.(type) {
		case error:
			return nil, e.explain(v)
		case []any:
			found = append(found, pointers(v, object)...)
		}
		if len(found) > maxPaths {
			return nil, fmt.Errorf("%s: %q selects more than %d fields of one object", e.field, e.text, maxPaths)
		}
	}
}

func (e expression) explain(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %q: JQ patch execution timed out (%v)", e.field, e.text, jqTime)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %q: %w", e.field, e.text, err)
	case strings.HasPrefix(err.Error(), "invalid path"):
		return fmt.Errorf("%s: %q computes values but selects no fields; use a path such as .spec.replicas", e.field, e.text)
	}
	return nil
}

// pointers are the fields at a path of jq, several where it has a slice. The path of everything is none.
func pointers(path []any, object any) []engine.Pointer {
	if len(path) == 0 {
		return nil
	}
	type place struct {
		at    engine.Pointer
		value any
	}
	places := []place{{nil, object}}
	for _, part := range path {
		var next []place
		for _, p := range places {
			for _, key := range keysOf(part, p.value) {
				at := append(p.at[:len(p.at):len(p.at)], key)
				value, _ := engine.Pointer{key}.Lookup(p.value)
				next = append(next, place{at, value})
			}
		}
		places = next
	}
	all := make([]engine.Pointer, len(places))
	for i, p := range places {
		all[i] = p.at
	}
	return all
}

// keysOf are the keys that a part of a path of jq means in a value.
func keysOf(part, value any) []string {
	list, _ := value.([]any)
	switch p := part.(type) {
	case string:
		return []string{p}
	case int:
		if p < 0 {
			p += len(list)
		}
		if p < 0 || p >= len(list) {
			return nil
		}
		return []string{strconv.Itoa(p)}
	case map[string]any:
		var keys []string
		for i := bound(p["start"], 0, len(list)); i < bound(p["end"], len(list), len(list)); i++ {
			keys = append(keys, strconv.Itoa(i))
		}
		return keys
	}
	return nil
}

// bound is an end of a slice, which may be left out and may count from behind.
func bound(value any, otherwise, length int) int {
	i, ok := value.(int)
	switch {
	case !ok:
		return otherwise
	case i < 0:
		i += length
	}
	return min(max(i, 0), length)
}

// plain is a value with the numbers of jq, which knows no int64. It shares nothing that jq could change.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, item := range v {
			copied[key] = plain(item)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = plain(item)
		}
		return copied
	case int64:
		return int(v)
	case int32:
		return int(v)
	}
	return value
}
