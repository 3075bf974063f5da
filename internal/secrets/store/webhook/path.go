package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ohler55/ojg/jp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Path evaluates a JSON path over an answer, as Select does, where it takes bounded time and memory.
type Path func(ctx context.Context, q Query) (Selected, error)

// Query is a JSON path over an answer. First has a list stand for its first element.
type Query struct {
	Answer []byte
	Path   string
	First  bool
}

// Selected is the value that a JSON path selects, or why there is none.
type Selected struct {
	Value   []byte
	Problem Problem
}

// Problem is why a JSON path selects no value.
type Problem string

// The problems; the empty one is that there is a value.
const (
	Malformed Problem = "malformed"
	Nothing   Problem = "the JSON path selects nothing"
	EmptyList Problem = "the JSON path selects an empty list"
	Null      Problem = "the value is null"
)

// failure is that of the store.
func (s Selected) failure(of string) error {
	switch s.Problem {
	case "":
		return nil
	case Malformed:
		return fmt.Errorf("%s: %w: it is not the JSON that was expected", of, store.ErrMalformed)
	}
	return fmt.Errorf("%s: %w: %s", of, store.ErrNoProperty, s.Problem)
}

// Select evaluates a JSON path in this process: a string is selected as it is, everything else as JSON. Paths are programs whose wildcards
// multiply, and answers may unpack to many times their size: the process has to be a child that may end.
func Select(q Query) (Selected, error) {
	path, err := jp.ParseString(q.Path)
	if err != nil {
		return Selected{}, errors.New("it is not a valid JSON path")
	}
	var body any
	if json.Unmarshal(q.Answer, &body) != nil {
		return Selected{Problem: Malformed}, nil
	}
	var value any
	found := path.Get(body)
	switch len(found) {
	case 0:
		return Selected{Problem: Nothing}, nil
	case 1:
		value = found[0]
	default:
		value = found
	}
	if list, is := value.([]any); is && q.First {
		if len(list) == 0 {
			return Selected{Problem: EmptyList}, nil
		}
		value = list[0]
	}
	return text(value), nil
}

// text is a value of JSON as the value of a secret.
func text(value any) Selected {
	switch value := value.(type) {
	case string:
		return Selected{Value: []byte(value)}
	case float64:
		return Selected{Value: strconv.AppendFloat(nil, value, 'f', -1, 64)}
	case nil:
		return Selected{Problem: Null}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return Selected{Problem: Malformed}
	}
	return Selected{Value: raw}
}
