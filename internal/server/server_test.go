package server_test

import (
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/server"
)

// TestNames has servers of the loopback interface answer under its names, and those of all interfaces and of webhooks under any.
func TestNames(t *testing.T) {
	metrics := server.Metrics(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for name, tc := range map[string]struct {
		start      func(string, http.Handler) (*server.Server, error)
		addr, host string
		want       int
	}{
		"Address":            {server.Start, "127.0.0.1:0", "", http.StatusOK},
		"Site":               {server.Start, "127.0.0.1:0", "evil.example", http.StatusMisdirectedRequest},
		"All interfaces":     {server.Start, ":0", "headgate.flux-system", http.StatusOK},
		"Webhooks forwarded": {server.StartHooks, "127.0.0.1:0", "hooks.example.com", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := tc.start(tc.addr, metrics)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Stop(t.Context()) })
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr()+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = tc.host
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != tc.want {
				t.Errorf("%s, want %d", answer.Status, tc.want)
			}
		})
	}
}
