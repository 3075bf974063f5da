// Package jq evaluates expressions of jq that others write, and that name fields of an object.
//
// What names fields and elements only is evaluated here, in the time of one reading of the object. Everything else is a program, whose
// library can be interrupted between two steps alone, while one step may take all memory: it is a job of the sandbox. The package refuses
// variables of the process, files and further input, and knows nothing of what is done with the fields.
package jq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/itchyny/gojq"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

const (
	// Time bounds one expression over one object.
	Time = time.Second
	// MaxPaths bounds the fields that an expression names.
	MaxPaths = 10_000
	// maxText bounds an expression, in bytes.
	maxText = 16 << 10
)

// Query is an expression. It is safe for concurrent use.
type Query struct {
	text  string
	code  *gojq.Code
	small bool
}

// New reads an expression.
func New(text string) (*Query, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("it has %d bytes; at most %d are permitted", len(text), maxText)
	}
	alone, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	// A line break ends a comment at the end of the text.
	query, err := gojq.Parse("path(" + text + "\n)")
	if err != nil {
		return nil, fmt.Errorf("it does not select fields: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, err
	}
	return &Query{text, code, Small(alone)}, nil
}

// Problem is why an expression names no more fields.
type Problem string

// The problems. Without one, all fields were named.
const (
	// Slow and Many are bounds that were exceeded, Computes is an expression that gives values that are not fields, and Stumbles one
	// that is not about such an object.
	Slow     Problem = "slow"
	Many     Problem = "many"
	Computes Problem = "computes"
	Stumbles Problem = "stumbles"
)

// Result are the paths of fields, as jq has them: texts, numbers, and maps with start and end. Those before a problem are among them.
type Result struct {
	Paths   [][]any
	Problem Problem
}

// request is an expression with its object.
type request struct {
	Text   string
	Object any
}

// Paths are the fields that the expression names in an object, whether they are there or not. Errors are those of the sandbox, and the end of ctx.
func (q *Query) Paths(ctx context.Context, box *sandbox.Client, object any) (Result, error) {
	if q.small {
		result := q.evaluate(ctx, object)
		return result, ctx.Err()
	}
	input, err := sandbox.Encode(request{q.text, object})
	if err != nil {
		return Result{}, err
	}
	output, err := box.Do(ctx, pathsJob{}, input, nil)
	if err != nil {
		return Result{}, err
	}
	var result Result
	if err := sandbox.Decode(output, &result); err != nil {
		return Result{}, err
	}
	for _, path := range result.Paths {
		for i, part := range path {
			path[i] = plain(part)
		}
	}
	return result, nil
}

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{pathsJob{}} }

// pathsJob evaluates an expression.
type pathsJob struct{}

// Name tells it apart.
func (pathsJob) Name() string { return "jq-paths" }

// Run gives the paths.
func (pathsJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var r request
	if err := sandbox.Decode(input, &r); err != nil {
		return nil, err
	}
	q, err := New(r.Text)
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(q.evaluate(context.Background(), r.Object)) //nolint:forbidigo // a job ends with its process
}

// evaluate evaluates the expression in this process.
func (q *Query) evaluate(ctx context.Context, object any) (result Result) {
	defer func() {
		if recover() != nil {
			result.Problem = Stumbles
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	iter := q.code.RunWithContext(ctx, plain(object))
	for {
		value, more := iter.Next()
		if !more {
			return result
		}
		switch v := value.(type) {
		case error:
			result.Problem = problem(ctx, v)
			return result
		case []any:
			result.Paths = append(result.Paths, v)
		default:
			result.Problem = Computes
			return result
		}
		if len(result.Paths) > MaxPaths {
			result.Problem = Many
			return result
		}
	}
}

func problem(ctx context.Context, err error) Problem {
	const invalid = "invalid path"
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Slow
	case len(err.Error()) >= len(invalid) && err.Error()[:len(invalid)] == invalid:
		return Computes
	}
	return Stumbles
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
