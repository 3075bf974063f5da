package loopback_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/headgate-dev/headgate/internal/loopback"
)

// at is a listener with an address and nothing else.
type at string

func (at) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (at) Close() error              { return nil }
func (a at) Addr() net.Addr          { return a }
func (at) Network() string           { return "tcp" }
func (a at) String() string          { return string(a) }

// TestOnly has servers of the loopback interface answer no request that names another machine, and other servers answer all.
func TestOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		listens, host string
		want          int
	}{
		"Address":         {"127.0.0.1:8080", "127.0.0.1:8080", 200},
		"Another port":    {"127.0.0.1:8080", "127.0.0.1:9090", 200},
		"No port":         {"127.0.0.1:8080", "127.0.0.1", 200},
		"Name":            {"127.0.0.1:8080", "localhost:8080", 200},
		"Name in capital": {"127.0.0.1:8080", "LocalHost.", 200},
		"IPv6":            {"[::1]:8080", "[::1]:8080", 200},
		"IPv6, no port":   {"[::1]:8080", "[::1]", 200},
		"Mapped":          {"127.0.0.1:8080", "[::ffff:127.0.0.1]:8080", 200},
		"None":            {"127.0.0.1:8080", "", 200},
		"Site":            {"127.0.0.1:8080", "evil.example:8080", 421},
		"Site on IPv6":    {"[::1]:8080", "evil.example", 421},
		"Begins like it":  {"127.0.0.1:8080", "127.0.0.1.evil.example:8080", 421},
		"Ends like it":    {"127.0.0.1:8080", "evil-localhost:8080", 421},
		"Below localhost": {"127.0.0.1:8080", "localhost.evil.example", 421},
		"Another address": {"127.0.0.1:8080", "192.0.2.1:8080", 421},
		"Any address":     {"127.0.0.1:8080", "0.0.0.0:8080", 421},
		"All interfaces":  {"0.0.0.0:8080", "headgate.flux-system", 200},
		"Another one":     {"192.0.2.1:8080", "git.example.com", 200},
	} {
		t.Run(name, func(t *testing.T) {
			handler := loopback.Only(at(tc.listens), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			answer := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			request.Host = tc.host
			handler.ServeHTTP(answer, request)
			if answer.Code != tc.want {
				t.Errorf("a server at %s answers a request for %q with %d, want %d", tc.listens, tc.host, answer.Code, tc.want)
			}
		})
	}
}
