package managed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// WaitingError is returned while something is missing that may come, such as a Secret that is to name an image. It is no failure:
// the resource is not ready, for the reason.
type WaitingError struct {
	Cause
	// Until is when to try again; zero is the poll, or when something changes that the resource follows.
	Until time.Time
}

// Error is the message.
func (e *WaitingError) Error() string { return e.Message }

// ThrottledError is returned for what was not requested, or not admitted, since too much was requested before. Nothing was done.
type ThrottledError struct {
	Until time.Time
	Err   error
}

// Error is that of the cause, without a time that changes with each pass.
func (e *ThrottledError) Error() string {
	return "the rate limit of the provider admits no requests for now"
}

// Unwrap is the cause.
func (e *ThrottledError) Unwrap() error { return e.Err }

// AmbiguousError is returned by Create when it may have created something although it failed. It is searched for before
// anything is created again.
type AmbiguousError struct{ Err error }

// Error is that of the cause.
func (e *AmbiguousError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *AmbiguousError) Unwrap() error { return e.Err }

// InvalidError is returned for what only a change of the resource, or of what it names, can help: a field that is not
// supported, or not valid. It is tried again at the poll, and when something changes.
type InvalidError struct{ Err error }

// Error is that of the cause.
func (e *InvalidError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *InvalidError) Unwrap() error { return e.Err }

// Invalid is an InvalidError with a message.
func Invalid(format string, args ...any) error { return &InvalidError{fmt.Errorf(format, args...)} }

// ambiguous reports whether a creation failed that may have been carried out: a pass that was ended had no answer yet.
func ambiguous(err error) bool {
	var one *AmbiguousError
	return errors.As(err, &one) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
