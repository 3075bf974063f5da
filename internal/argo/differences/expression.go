package differences

import (
	"context"
	"fmt"
	"strconv"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/jq"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// expression is an expression of jq that names fields.
type expression struct {
	// field is where the user wrote it, and text what.
	field, text string
	query       *jq.Query
	// box is where programs are evaluated.
	box *sandbox.Client
}

// newExpression reads an expression. It sees no variables of the process, no files and no further input.
func newExpression(box *sandbox.Client, field, text string) (expression, error) {
	e := expression{field: field, text: text, box: box}
	var err error
	if e.query, err = jq.New(text); err != nil {
		return e, fmt.Errorf("%s: %q is not a jq expression: %w", field, text, err)
	}
	return e, nil
}

// paths are the fields of an object that the expression names, whether they are there or not. An expression that stumbles
// over an object, such as one that goes through a list that is missing, names none of it. Errors are about time, and
// about what never names a field; what jq says of values stays out of them.
func (e expression) paths(ctx context.Context, object map[string]any) ([]engine.Pointer, error) {
	result, err := e.query.Paths(ctx, e.box, object)
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", e.field, e.text, err)
	}
	switch result.Problem {
	case jq.Slow:
		return nil, fmt.Errorf("%s: %q: JQ patch execution timed out (%v)", e.field, e.text, jq.Time)
	case jq.Computes:
		return nil, fmt.Errorf("%s: %q computes values but selects no fields; use a path such as .spec.replicas", e.field, e.text)
	case jq.Stumbles:
		return nil, nil
	}
	var found []engine.Pointer
	for _, path := range result.Paths {
		if found = append(found, pointers(path, object)...); len(found) > jq.MaxPaths || result.Problem == jq.Many {
			return nil, fmt.Errorf("%s: %q selects more than %d fields of one object", e.field, e.text, jq.MaxPaths)
		}
	}
	return found, nil
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
