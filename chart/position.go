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

// Error is "file:line: path: what", without what is unknown.
func (e *Error) Error() string {
	text := e.Err.Error()
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.At.File != "" {
		text = e.At.String() + ": " + text
	}
	return text
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

// Join is one error of type Errors with the mistakes of several, and nil without any. What has no place is a mistake without one.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		all = append(all, mistakes(err)...)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func mistakes(err error) Errors {
	if err == nil {
		return nil
	}
	switch one := err.(type) { //nolint:errorlint // what wraps a mistake says more than the mistake
	case *Error:
		return Errors{one}
	case interface{ Unwrap() []error }:
		var all Errors
		for _, below := range one.Unwrap() {
			all = append(all, mistakes(below)...)
		}
		return all
	}
	return Errors{{Err: err}}
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
