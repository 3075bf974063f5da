package egress

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reach is what a request may reach, by kinds of addresses.
type reach struct{ external, private, loopback, metadata bool }

func reachOf(r Rules) reach {
	may := func(text string) bool { return r.Permits("host.example", "80", netip.MustParseAddr(text)) == nil }
	return reach{may("1.1.1.1"), may("10.0.0.1"), may("127.0.0.1"), may("169.254.169.254")}
}

func TestPolicy(t *testing.T) {
	everything, outside := reach{external: true, private: true, loopback: true}, reach{external: true}
	for name, c := range map[string]struct {
		reason             string
		run                Run
		fetches, requested reach
	}{
		"Directory": {"its author is its user", Run{}, everything, everything},
		"URL":       {"others write it, and the network is of its user", Run{Remote: true}, outside, outside},
		"Installation": {
			"sources are where their owners have them, requests leave the pod", Run{Shared: true}, everything, reach{external: true, private: true},
		},
		"URLOnACluster": {"it is sent from the machine of the user all the same", Run{Remote: true, Shared: true}, outside, outside},
		"Allowed": {
			"what a person names is added", Run{Remote: true, Allow: "loopback, 10.0.0.0/8"}, everything, everything,
		},
		"Metadata": {"by its number alone", Run{Shared: true, Allow: "169.254.169.254"}, reach{true, true, true, true}, reach{true, true, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.run.Policy()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([2]reach{c.fetches, c.requested}, [2]reach{reachOf(p.Fetches), reachOf(p.Requests)}, cmp.AllowUnexported(reach{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if _, err := (Run{Allow: "http://x"}).Policy(); err == nil || !strings.Contains(err.Error(), "--allow-egress") {
		t.Errorf("the error of a bad list is %v", err)
	}
}

// TestServed has a server of this process reached by its host and port, and nothing else of the machine.
func TestServed(t *testing.T) {
	var seen []string
	handler := func(name string) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen = append(seen, name) })
	}
	own, other := httptest.NewServer(handler("own")), httptest.NewServer(handler("other"))
	defer own.Close()
	defer other.Close()
	p, err := Run{Remote: true}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	client := p.Requests.Client(dialTimeout)
	for _, server := range []*httptest.Server{own, other} {
		if _, err := client.Get(server.URL); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--allow-egress") {
			t.Fatalf("a server of this machine: %v", err)
		}
	}
	p.Served.Add(own.URL, "no URL")
	if _, err := client.Get(own.URL); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(other.URL); !errors.Is(err, ErrRefused) {
		t.Errorf("another server of this machine: %v", err)
	}
	if diff := cmp.Diff([]string{"own"}, seen); diff != "" {
		t.Error(diff)
	}
	// A server of this process that is reached by another name is not one.
	if _, err := client.Get(strings.Replace(own.URL, "127.0.0.1", "localhost", 1)); !errors.Is(err, ErrRefused) {
		t.Errorf("by another name: %v", err)
	}
}

// TestProxies has a proxy of the environment reached on this machine, but not asked what is refused; one that a tenant names is an address as any.
func TestProxies(t *testing.T) {
	seen := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen++ }))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	rules := Rules{lists: []string{External}}
	trusted := &http.Transport{}
	trusted.Proxy, trusted.DialContext = rules.BehindProxy(http.ProxyURL(at))
	named := &http.Transport{Proxy: http.ProxyURL(at)}
	rules.Restrict(named)
	for name, c := range map[string]struct {
		transport *http.Transport
		url       string
		want      bool
	}{
		"Name":     {trusted, "http://host.invalid/", true},
		"External": {trusted, "http://1.1.1.1/", true},
		"Loopback": {trusted, "http://" + net.JoinHostPort("127.0.0.1", "80") + "/", false},
		"Resolved": {trusted, "http://localhost/", false},
		"Metadata": {trusted, "http://169.254.169.254/", false},
		"Tenant":   {named, "http://host.invalid/", false},
	} {
		before := seen
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.transport.RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != c.want || (seen > before) != c.want || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
