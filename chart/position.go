package chart

import (
	"fmt"
	"runtime"
	"strings"
)

// Position is a line of Go source; the zero value is an unknown one.
type Position struct {
	File string
	Line int
}

// String is "file:line".
func (p Position) String() string {
	if p.File == "" {
		return "an unknown line"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Error is a mistake in a description: where in the tree, at which line of Go, and what.
type Error struct {
	Path string
	At   Position
	Err  error
}

// Error is "file:line: path: what".
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %v", e.At, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.At, e.Path, e.Err)
}

// Unwrap is the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// Errors are the mistakes of a description, in the order in which they were found.
type Errors []*Error

// Error is one line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the mistakes.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}

// sdk is the import path of this package; code of it and of the packages below it is never a caller.
const sdk = "github.com/headgate-dev/headgate/chart"

// caller is the nearest line of Go that is not of the SDK.
func caller() Position {
	var counters [32]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	for {
		frame, more := frames.Next()
		rest, ours := strings.CutPrefix(frame.Function, sdk)
		ours = ours && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/")) && !strings.HasSuffix(frame.File, "_test.go")
		if !ours {
			return Position{File: frame.File, Line: frame.Line}
		}
		if !more {
			return Position{}
		}
	}
}
