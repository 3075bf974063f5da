package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// loginError is a failure to get credentials, as it is shown.
type loginError struct{ is error }

// Error returns the failure.
func (e *loginError) Error() string { return e.is.Error() }

// Unwrap returns the failure.
func (e *loginError) Unwrap() error { return e.is }

// refused is the failure of a login that an error of the SDK stands for.
func refused(err error) error {
	var login *loginError
	if errors.As(err, &login) {
		return login
	}
	const of = "assuming the role"
	var response *smithyhttp.ResponseError
	is := failure(of, err)
	if _, transient := store.RetryAfter(is); !transient && errors.As(err, &response) && response.HTTPStatusCode() >= 400 && !errors.Is(is, store.ErrDenied) {
		is = fmt.Errorf("%s: %w: the role is not granted", of, store.ErrDenied)
	}
	return &loginError{is}
}

// kind is the form of names of errors.
var kind = regexp.MustCompile(`^[A-Za-z.]{1,64}$`)

// failure is that of the store which an error of the SDK stands for, without messages, which may quote what was sent.
func failure(of string, err error) error {
	if err == nil {
		return nil
	}
	var (
		login    *loginError
		api      smithy.APIError
		response *smithyhttp.ResponseError
		sending  *url.Error
	)
	switch {
	case errors.As(err, &login):
		return fmt.Errorf("%s: %w", of, login)
	case errors.Is(err, store.ErrTooLarge):
		return store.TooLarge(of, err)
	case errors.As(err, &sending), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return store.Unreachable(of, err)
	}
	status, header := 0, http.Header(nil)
	if errors.As(err, &response) && response.Response != nil && response.Response.Response != nil {
		status, header = response.HTTPStatusCode(), response.Response.Header
	}
	if errors.As(err, &api) && kind.MatchString(api.ErrorCode()) {
		if is := known(of, api, header); is != nil {
			return is
		}
		if status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout {
			return fmt.Errorf("%w (%s)", store.StatusError(of, status, header), api.ErrorCode())
		}
	}
	switch {
	case status == 0:
		// Nothing was sent: the SDK refuses an input.
		return fmt.Errorf("%s: the request is not one that AWS takes; check the key, the version and the metadata", of)
	case status < 300:
		return fmt.Errorf("%s: %w", of, store.ErrMalformed)
	default:
		return store.StatusError(of, status, header)
	}
}

// known is a failure whose name says what it is; AWS answers most of them with status 400.
func known(of string, api smithy.APIError, header http.Header) error {
	name := api.ErrorCode()
	switch name {
	case "ResourceNotFoundException", "ParameterNotFound", "ParameterVersionNotFound", "InvalidResourceId":
		return fmt.Errorf("%s: %w (%s)", of, store.ErrNotFound, name)
	case "InvalidRequestException":
		if strings.Contains(api.ErrorMessage(), "marked for deletion") {
			return fmt.Errorf("%s: %w: it is marked for deletion", of, store.ErrNotFound)
		}
	case "AccessDeniedException", "AccessDenied":
		return fmt.Errorf("%s: %w (%s); check the permissions of the credentials", of, store.ErrDenied, name)
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "ExpiredToken", "MissingAuthenticationTokenException",
		"IncompleteSignature", "InvalidClientTokenId", "SignatureDoesNotMatch":
		return fmt.Errorf("%s: %w (%s); check the credentials", of, store.ErrDenied, name)
	case "ThrottlingException", "Throttling", "ThrottledException", "RequestLimitExceeded", "TooManyRequestsException", "TooManyUpdates", "InternalServiceError",
		"InternalServerError", "ServiceUnavailable":
		return &store.TransientError{After: store.After(header, time.Now()), Err: fmt.Errorf("%s: the store is busy (%s)", of, name)}
	}
	return nil
}

// permission reports whether a failure is one of permissions, by credentials that are accepted.
func permission(err error) bool {
	var login *loginError
	var api smithy.APIError
	return !errors.As(err, &login) && errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException"
}
