package cloud

import (
	"errors"
	"fmt"
	"net/http"
)

// refusal is an answer of the API that something is wrong with a request.
type refusal struct {
	status     int
	message    string
	retryAfter int
}

func problem(status int, format string, args ...any) *refusal {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

// unprocessable refuses what a request asks for.
func unprocessable(format string, args ...any) *refusal {
	return problem(http.StatusUnprocessableEntity, format, args...)
}

// notFound is the answer about anything that does not exist.
func notFound() *refusal {
	return problem(http.StatusNotFound, "The resource you requested could not be found.")
}

// Error is the message of the API.
func (r *refusal) Error() string { return r.message }

// id is the word of the API for a status.
func (r *refusal) id() string {
	switch r.status {
	case http.StatusBadRequest:
		return "bad_request"
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusConflict:
		return "conflict"
	case http.StatusUnprocessableEntity:
		return "unprocessable_entity"
	case http.StatusTooManyRequests:
		return "too_many_requests"
	}
	return "server_error"
}

// asRefusal is the answer about any error.
func asRefusal(err error) *refusal {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused
	}
	return problem(http.StatusInternalServerError, "%v", err)
}
