package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The kinds of failures that callers tell apart, by errors.Is.
var (
	// ErrNotFound says that the store has no such secret.
	ErrNotFound = errors.New("the secret does not exist")
	// ErrNoProperty says that there is such a secret, without the property.
	ErrNoProperty = errors.New("the secret does not have the property")
	// ErrDenied says that the credentials are not accepted, or not for this.
	ErrDenied = errors.New("the store denies access")
	// ErrUnsupported says that the provider cannot do it, with any store.
	ErrUnsupported = errors.New("the provider does not support it")
	// ErrMalformed says that the answer is not what the API of the store promises.
	ErrMalformed = errors.New("the store's answer is malformed")
	// ErrTooLarge says that an answer exceeds a bound of this package.
	ErrTooLarge = errors.New("the store's answer is too large")
	// ErrNotOurs says that a secret in the store is managed by another program.
	ErrNotOurs = errors.New("the secret is not managed by external-secrets")
)

// maxAfter bounds the time that a store may have us wait.
const maxAfter = time.Hour

// TransientError is a failure that may be over later, without a change by a user.
type TransientError struct {
	// After is the shortest time to wait before the next attempt, as the store says; zero when it does not say.
	After time.Duration
	Err   error
}

// Error returns the failure, and the time to wait.
func (e *TransientError) Error() string {
	if e.After > 0 {
		return fmt.Sprintf("%v; the store permits the next attempt in %s", e.Err, e.After)
	}
	return e.Err.Error()
}

// Unwrap returns the failure.
func (e *TransientError) Unwrap() error { return e.Err }

// RetryAfter reports whether a failure may be over later, and the shortest time to wait that the store names.
func RetryAfter(err error) (time.Duration, bool) {
	var transient *TransientError
	if errors.As(err, &transient) {
		return transient.After, true
	}
	return 0, false
}

// TooLarge is the failure of a library that got more than one answer, or all answers of a pass together, may have.
func TooLarge(of string, err error) error {
	if errors.Is(err, ErrFetched) {
		return fmt.Errorf("%s: %w", of, ErrFetched)
	}
	return fmt.Errorf("%s: %w", of, ErrTooLarge)
}

// StatusError is the failure that an HTTP status stands for; of says what was requested of what. The header may be nil.
func StatusError(of string, status int, header http.Header) error {
	text := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	switch {
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %w (%s)", of, ErrNotFound, text)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%s: %w (%s); check the credentials and their permissions", of, ErrDenied, text)
	case status == http.StatusTooManyRequests:
		return &TransientError{After: After(header, time.Now()), Err: fmt.Errorf("%s: too many requests (%s)", of, text)}
	case status >= 500 || status == http.StatusRequestTimeout:
		return &TransientError{After: After(header, time.Now()), Err: fmt.Errorf("%s: the store answered %s", of, text)}
	default:
		return fmt.Errorf("%s: the store answered %s", of, text)
	}
}

// After reads the time to wait from Retry-After, which has seconds or a date; it is at most an hour.
func After(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	seconds, err := strconv.ParseInt(text, 10, 64)
	after := time.Duration(min(max(seconds, 0), int64(maxAfter/time.Second))) * time.Second
	if err != nil {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0
		}
		after = at.Sub(now)
	}
	return min(max(after, 0), maxAfter)
}

// Unreachable is the failure of a request that got no answer. URLs, which may contain credentials, are not shown.
func Unreachable(of string, err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", of, context.Canceled)
	}
	var address *url.Error
	if errors.As(err, &address) {
		err = address.Err
	}
	var resolving *net.DNSError
	if errors.As(err, &resolving) && resolving.IsNotFound {
		err = fmt.Errorf("there is no host %q", resolving.Name)
	}
	return &TransientError{Err: fmt.Errorf("%s: the store is unreachable: %w", of, err)}
}
