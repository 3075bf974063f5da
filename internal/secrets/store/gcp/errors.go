package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// failure is that of the store which an error of the library stands for, without messages, which may quote what was sent.
func failure(of string, err error) error {
	if err == nil {
		return nil
	}
	var (
		login   *oauth2.RetrieveError
		answer  *googleapi.Error
		sending *url.Error
		syntax  *json.SyntaxError
	)
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return store.TooLarge(of, err)
	case errors.As(err, &login):
		if status := login.Response.StatusCode; status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
			return store.StatusError(of+": logging in", status, login.Response.Header)
		}
		return fmt.Errorf("%s: %w: the login of the service account was refused", of, store.ErrDenied)
	case errors.As(err, &answer):
		if answer.Code < http.StatusBadRequest {
			return fmt.Errorf("%s: %w", of, store.ErrMalformed)
		}
		return store.StatusError(of, answer.Code, answer.Header)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", of, store.ErrMalformed)
	case errors.As(err, &sending), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return store.Unreachable(of, err)
	}
	return fmt.Errorf("%s: %w", of, store.ErrMalformed)
}
