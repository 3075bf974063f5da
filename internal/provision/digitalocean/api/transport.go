package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// The retries of requests that can be repeated.
const (
	attempts   = 4
	firstRetry = time.Second
	lastRetry  = 8 * time.Second
	// maxAnswer is the largest answer that is read: a page of 200 Droplets is a tenth of it.
	maxAnswer = 8 << 20
)

// transport sends the requests of one kind to an account.
type transport struct {
	account *Account
	kind    string
	backoff rounds.Backoff
}

// RoundTrip sends a request when the budget permits it. One that can be repeated is, when there was no answer, or one of a
// gateway.
func (t *transport) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := content(q)
	if err != nil {
		return nil, err
	}
	for failures := 1; ; failures++ {
		answer, err := t.attempt(q, body)
		if !repeatable(q.Method) || failures == attempts || !transient(q.Context(), answer, err) {
			return answer, err
		}
		// After a refusal for the rate the budget waits.
		if answer != nil && answer.StatusCode == http.StatusTooManyRequests {
			continue
		}
		if err := sleep(q.Context(), rounds.About(t.backoff.After(failures))); err != nil {
			return answer, fmt.Errorf("%s %s: %w", q.Method, q.URL.Path, err)
		}
	}
}

// attempt sends a request once.
func (t *transport) attempt(q *http.Request, body []byte) (*http.Response, error) {
	if err := t.account.budget.spend(q.Context(), t.kind); err != nil {
		return nil, err
	}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	sent := q.Clone(httptrace.WithClientTrace(q.Context(), trace))
	sent.Header.Set("Authorization", "Bearer "+*t.account.credentials.token.text)
	if body != nil {
		sent.Body = io.NopCloser(bytes.NewReader(body))
		// A connection that ended is not tried again behind our back.
		sent.GetBody = nil
	}
	answer, err := t.account.options.Transport.RoundTrip(sent)
	if err == nil {
		err = buffer(answer)
	}
	if err != nil {
		t.account.budget.answered(nil)
		if repeatable(q.Method) || !connected.Load() {
			return nil, err
		}
		return nil, &AmbiguousError{Method: q.Method, Path: q.URL.Path, Cause: err}
	}
	t.account.budget.answered(answer)
	return t.judge(q, answer)
}

// judge turns answers into errors from which it does not follow whether a request was carried out.
func (t *transport) judge(q *http.Request, answer *http.Response) (*http.Response, error) {
	if repeatable(q.Method) {
		return answer, nil
	}
	switch code := answer.StatusCode; {
	case code == http.StatusTooManyRequests:
		return nil, &ThrottledError{Until: t.account.budget.paused()}
	case code >= http.StatusInternalServerError && code != http.StatusNotImplemented, code == http.StatusRequestTimeout:
		return nil, &AmbiguousError{Method: q.Method, Path: q.URL.Path, Status: code}
	}
	return answer, nil
}

// content reads the body of a request, which is sent again with it.
func content(q *http.Request) ([]byte, error) {
	if q.Body == nil || q.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(q.Body)
	if err := errors.Join(err, q.Body.Close()); err != nil {
		return nil, fmt.Errorf("%s %s: reading the request: %w", q.Method, q.URL.Path, err)
	}
	return body, nil
}

// buffer reads an answer whole: one that is cut off is no answer.
func buffer(answer *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch {
	case len(body) > maxAnswer:
		return fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case len(body) > 0 && answer.StatusCode < http.StatusMultipleChoices && !json.Valid(body):
		return errors.New("the answer is not valid JSON")
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// repeatable reports whether a request may be sent twice.
func repeatable(method string) bool { return method != http.MethodPost && method != http.MethodPatch }

// transient reports whether a request can be expected to succeed if it is sent again.
func transient(ctx context.Context, answer *http.Response, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		_, throttled := Throttled(err)
		return !throttled
	}
	code := answer.StatusCode
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError && code != http.StatusNotImplemented
}
