package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"k8s.io/client-go/util/jsonpath"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

const (
	// jqTime bounds one expression over one object.
	jqTime = time.Second
	// maxValue bounds the value of one output.
	maxValue = 256 << 10
)

// Outputs are the declared parameters of a resource template with their values, from an object as it was read. What may take much is evaluated
// in the sandbox.
func Outputs(ctx context.Context, in *sandbox.Client, declared []v1alpha1.Parameter, object map[string]any) ([]v1alpha1.Parameter, error) {
	var all []v1alpha1.Parameter
	for _, parameter := range declared {
		if parameter.ValueFrom == nil {
			continue
		}
		value, err := output(ctx, in, parameter.ValueFrom, object)
		if err != nil {
			if parameter.ValueFrom.Default == nil {
				return nil, fmt.Errorf("outputs.parameters.%s: %w", parameter.Name, err)
			}
			value = parameter.ValueFrom.Default.String()
		}
		parameter.Value, parameter.ValueFrom = v1alpha1.Any(value), nil
		all = append(all, parameter)
	}
	return all, nil
}

// errNoSource is the error for an output that an object cannot have.
var errNoSource = errors.New("the output of a resource template has a jsonPath or a jqFilter")

func output(ctx context.Context, in *sandbox.Client, from *v1alpha1.ValueFrom, object map[string]any) (string, error) {
	q := query{Path: from.JSONPath, Filter: from.JQFilter}
	if q.Path == "" && q.Filter == "" {
		return "", errNoSource
	}
	plain, err := plainOf(object)
	if err != nil {
		return "", err
	}
	if q.small() {
		return q.evaluate(ctx, plain)
	}
	q.Object = plain
	input, err := sandbox.Encode(q)
	if err != nil {
		return "", err
	}
	value, err := in.Do(ctx, queryJob{}, input, nil)
	var limit *sandbox.Death
	if errors.As(err, &limit) {
		return "", fmt.Errorf("%s: %w", q, err)
	}
	return string(value), err
}

// evaluate is the value that is requested.
func (q query) evaluate(ctx context.Context, object any) (value string, err error) {
	if q.Path != "" {
		value, err = byPath(q.Path, object)
	} else {
		value, err = byFilter(ctx, q.Filter, object)
	}
	if err == nil && len(value) > maxValue {
		return "", fmt.Errorf("the value has more than %d bytes", maxValue)
	}
	return value, err
}

// byPath evaluates a path as kubectl does.
func byPath(path string, object any) (value string, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			value, err = "", fmt.Errorf("jsonPath %q cannot be evaluated", path)
		}
	}()
	parsed := jsonpath.New("output").AllowMissingKeys(true)
	if err := parsed.Parse(path); err != nil {
		return "", fmt.Errorf("jsonPath %q: %w", path, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, object); err != nil {
		return "", fmt.Errorf("jsonPath %q: %w", path, err)
	}
	return out.String(), nil
}

// byFilter evaluates a filter as "jq -r" does. It sees no variables of the process, no files and no further input.
func byFilter(ctx context.Context, filter string, object any) (text string, err error) {
	defer func() {
		if recover() != nil {
			text, err = "", fmt.Errorf("jqFilter %q cannot be evaluated", filter)
		}
	}()
	query, err := gojq.Parse(filter)
	if err != nil {
		return "", fmt.Errorf("jqFilter %q: %w", filter, err)
	}
	ctx, cancel := context.WithTimeout(ctx, jqTime)
	defer cancel()
	var lines []string
	size := 0
	iter := query.RunWithContext(ctx, object)
	for value, more := iter.Next(); more; value, more = iter.Next() {
		if problem, failed := value.(error); failed {
			return "", fmt.Errorf("jqFilter %q: %w", filter, problem)
		}
		line, isText := value.(string)
		if !isText {
			data, err := gojq.Marshal(value)
			if err != nil {
				return "", fmt.Errorf("jqFilter %q: %w", filter, err)
			}
			line = string(data)
		}
		if size += len(line); size > maxValue {
			return "", fmt.Errorf("jqFilter %q: the value has more than %d bytes", filter, maxValue)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

// plainOf is an object in the types that both libraries take.
func plainOf(object any) (any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing the object as JSON: %w", err)
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		return nil, fmt.Errorf("reading the object as JSON: %w", err)
	}
	return plain, nil
}
