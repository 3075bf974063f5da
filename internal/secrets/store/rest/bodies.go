package rest

import (
	"fmt"
	"io"
	"net/http"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Bodies bounds the answers of a transport whose library reads them as a whole, each one and those of a pass together. Watches, which never end, are not bounded.
func Bodies(next http.RoundTripper) http.RoundTripper { return bodies{next} }

// Bounded is a client for the library of a cloud: requests take a time, answers have a size, and redirects, which clouds do not send and which would take tokens and
// values to other servers, are not followed.
func Bounded(client *http.Client) *http.Client {
	own := *client
	next := own.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own.Transport, own.Timeout = Bodies(next), Timeout
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

type bodies struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") == "" {
		response.Body = &bounded{ReadCloser: response.Body, left: store.MaxBody, fetched: func(n int) error { return store.Fetched(r.Context(), n) }}
	}
	return response, err
}

type bounded struct {
	io.ReadCloser
	left    int64
	fetched func(n int) error
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: it exceeds %d bytes", store.ErrTooLarge, store.MaxBody)
	}
	if err := b.fetched(n); err != nil {
		return 0, err
	}
	return n, err
}
