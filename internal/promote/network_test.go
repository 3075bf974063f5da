package promote

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/source"
)

// TestNetwork sends requests to where rewrites lead, at addresses that are permitted, and takes a server that names itself for the address that was asked.
func TestNetwork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Www-Authenticate", `Bearer realm="http://`+r.Host+`/token"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	rewrites, err := source.ParseRewrites([]string{"https://registry.example.com/=" + server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	for targets, want := range map[string]string{egress.Loopback: "", egress.External + "," + egress.Private: "not permitted"} {
		n, err := newNetwork(rulesOf(t, targets), rewrites)
		if err != nil {
			t.Fatal(err)
		}
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://registry.example.com/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := n.client.Do(q)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("a request to this machine: the error is %v", err)
			}
			if err := n.allow(t.Context(), "https://registry.example.com/v2/"); err == nil {
				t.Error("this machine is allowed")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Www-Authenticate"); got != `Bearer realm="https://registry.example.com/token"` || response.Request.URL.Host != "registry.example.com" {
			t.Errorf("the server says %s for %s", got, response.Request.URL)
		}
		if err := n.allow(t.Context(), "https://registry.example.com/team/shop.git"); err != nil {
			t.Errorf("an address that is rewritten is refused: %v", err)
		}
	}
	n, err := newNetwork(rulesOf(t, egress.Loopback), rewrites)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.allow(t.Context(), "http://localhost:8080/shop.git"); err != nil {
		t.Errorf("a name of this machine is refused: %v", err)
	}
	for address, clear := range map[string]bool{
		"https://git.example.com/a": false, "http://git.example.com/a": true, "http://127.0.0.1:3000/a": false, "ghcr.io/team/app": false,
		"10.0.0.1:5000/app": true, "oci://ghcr.io/team/chart": false, "registry.example.com/app": false,
	} {
		if got := n.inClear(address); got != clear {
			t.Errorf("a login for %s is sent in clear: %v, want %v", address, got, clear)
		}
	}
}

func rulesOf(t *testing.T, list string) egress.Rules {
	t.Helper()
	rules, err := egress.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
