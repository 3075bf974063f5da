package rest

import (
	"fmt"
	"io"
	"net/http"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Bodies bounds the answers of a transport whose library reads them as a whole. Watches, which never end, are not bounded.
func Bodies(next http.RoundTripper) http.RoundTripper { return bodies{next} }

type bodies struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (b bodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") == "" {
		response.Body = &bounded{response.Body, store.MaxBody}
	}
	return response, err
}

type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: it exceeds %d bytes", store.ErrTooLarge, store.MaxBody)
	}
	return n, err
}
