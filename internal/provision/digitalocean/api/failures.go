package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/digitalocean/godo"
)

// AmbiguousError is returned for a request that is not to be repeated, and that may have been carried out: the connection
// ended, or a gateway answered. Before it is sent again, what it creates has to be searched for.
type AmbiguousError struct {
	Method, Path string
	// Status is that of the answer, 0 when there was none.
	Status int
	// Cause is why there was no answer.
	Cause error
}

// Error says which request it was, and how it ended.
func (e *AmbiguousError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s %s was answered %d %s, and may have been carried out", e.Method, e.Path, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s %s got no answer, and may have been carried out: %v", e.Method, e.Path, e.Cause)
}

// Unwrap is the cause.
func (e *AmbiguousError) Unwrap() error { return e.Cause }

// ThrottledError is returned for a request that was not sent, or not admitted, since too many were sent before. Nothing was
// carried out.
type ThrottledError struct{ Until time.Time }

// Error says when the next request is possible.
func (e *ThrottledError) Error() string {
	return fmt.Sprintf("the rate limit of the account of DigitalOcean admits no requests until %s", e.Until.UTC().Format(time.RFC3339))
}

// Ambiguous reports whether a request failed that may have been carried out.
func Ambiguous(err error) bool {
	var ambiguous *AmbiguousError
	return errors.As(err, &ambiguous)
}

// Throttled is when a request can be sent again that the rate limit stopped.
func Throttled(err error) (until time.Time, is bool) {
	var throttled *ThrottledError
	if errors.As(err, &throttled) {
		return throttled.Until, true
	}
	return time.Time{}, false
}

// NotFound reports whether an object does not exist, or not yet.
func NotFound(err error) bool { return status(err) == http.StatusNotFound }

// Unauthorized reports whether a token is not valid, or not for what was requested.
func Unauthorized(err error) bool {
	return status(err) == http.StatusUnauthorized || status(err) == http.StatusForbidden
}

// Unprocessable is the message of the API about a request that it refuses and would refuse again.
func Unprocessable(err error) (message string, is bool) {
	var answer *godo.ErrorResponse
	if errors.As(err, &answer) && status(err) == http.StatusUnprocessableEntity {
		return answer.Message, true
	}
	return "", false
}

// status is that of the answer behind an error, 0 when there was none.
func status(err error) int {
	var answer *godo.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}
