package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/util/jsonpath"

	"github.com/headgate-dev/headgate/internal/promote/expressions"
)

// Judge is the phase of a value that was measured, by the conditions of its metric: without one it is successful.
func (m Metric) Judge(value any, now time.Time) (string, error) {
	succeeds, err := holds("successCondition", m.SuccessCondition, value, now)
	if err != nil {
		return Error, err
	}
	fails, err := holds("failureCondition", m.FailureCondition, value, now)
	if err != nil {
		return Error, err
	}
	switch {
	case m.SuccessCondition == "" && m.FailureCondition == "":
		return Successful, nil
	case m.FailureCondition != "" && fails:
		return Failed, nil
	case m.SuccessCondition == "" || succeeds:
		return Successful, nil
	case m.FailureCondition == "":
		return Failed, nil
	}
	return Inconclusive, nil
}

func holds(field, condition string, value any, now time.Time) (bool, error) {
	if condition == "" {
		return false, nil
	}
	result, err := expressions.Bare(condition, map[string]any{
		"result": value, "isNaN": isNaN, "isInf": isInf, "asInt": asInt, "asFloat": asFloat, "isNil": isNil, "default": orElse,
	}, now)
	if err != nil {
		return false, fmt.Errorf("%s: %w", field, err)
	}
	is, isBool := result.(bool)
	if !isBool {
		return false, fmt.Errorf("%s: %q gives a %T, and has to give true or false", field, condition, result)
	}
	return is, nil
}

func only(arguments []any) (any, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("there are %d arguments, want one", len(arguments))
	}
	return arguments[0], nil
}

func asFloat(arguments ...any) (any, error) {
	value, err := only(arguments)
	if err != nil {
		return nil, err
	}
	return strconv.ParseFloat(fmt.Sprint(value), 64)
}

func asInt(arguments ...any) (any, error) {
	value, err := asFloat(arguments...)
	if err != nil {
		return nil, err
	}
	number, _ := value.(float64)
	return int(number), nil
}

func isNaN(arguments ...any) (any, error) {
	value, err := asFloat(arguments...)
	number, _ := value.(float64)
	return err == nil && math.IsNaN(number), nil
}

func isInf(arguments ...any) (any, error) {
	value, err := asFloat(arguments...)
	number, _ := value.(float64)
	return err == nil && math.IsInf(number, 0), nil
}

func isNil(arguments ...any) (any, error) {
	value, err := only(arguments)
	return value == nil, err
}

func orElse(arguments ...any) (any, error) {
	const both = 2
	if len(arguments) != both {
		return nil, fmt.Errorf("default takes a value and another one, not %d arguments", len(arguments))
	}
	if arguments[0] == nil {
		return arguments[1], nil
	}
	return arguments[0], nil
}

// Query is a JSON path over a response. Paths are programs: their wildcards multiply.
type Query struct {
	Path     string
	Response []byte
}

// Value is what a response gives by the path of a metric, which selects evaluates, or as a whole.
func (w Web) Value(response []byte, selects func(Query) ([]byte, error)) (any, error) {
	if w.JSONPath != "" {
		found, err := selects(Query{w.JSONPath, response})
		if err != nil {
			return nil, fmt.Errorf("jsonPath: %w", err)
		}
		response = found
	}
	var decoded any
	if err := json.Unmarshal(response, &decoded); err != nil {
		return string(response), nil
	}
	return decoded, nil
}

// maxPath bounds a JSON path, in bytes.
const maxPath = 4096

// Select evaluates a path in this process, which has to be a child that may end. It gives JSON.
func Select(q Query) ([]byte, error) {
	if len(q.Path) > maxPath {
		return nil, fmt.Errorf("it has %d bytes; at most %d are permitted", len(q.Path), maxPath)
	}
	var decoded any
	if err := json.Unmarshal(q.Response, &decoded); err != nil {
		return nil, errors.New("the response is not JSON, which it needs")
	}
	path := jsonpath.New("jsonPath")
	if err := path.Parse(q.Path); err != nil {
		return nil, err
	}
	found, err := path.FindResults(decoded)
	if err != nil {
		return nil, fmt.Errorf("%q is not in the response", q.Path)
	}
	if len(found) != 1 || len(found[0]) != 1 {
		return nil, fmt.Errorf("%q gives %d values, want one", q.Path, len(found))
	}
	return json.Marshal(found[0][0].Interface())
}

// Fill replaces "{{args.NAME}}" in a text by the values of arguments.
func Fill(text string, values map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}}")
		name, is := strings.CutPrefix(strings.TrimSpace(inner), "args.")
		if !closed || !is {
			return "", fmt.Errorf("%q is not an argument: want {{args.NAME}}", "{{"+inner)
		}
		value, known := values[name]
		if !known {
			return "", fmt.Errorf("there is no argument %q", name)
		}
		out.WriteString(value)
		text = after
	}
}
