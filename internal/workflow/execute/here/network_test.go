package here

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func TestPermits(t *testing.T) {
	for address, want := range map[string][2]bool{ // whether it is permitted, and whether it is to what is confined
		"169.254.169.254": {}, "169.254.1.1": {}, "fe80::1": {}, "fe80::1%eth0": {}, "fd00:ec2::254": {}, "100.100.100.200": {}, "168.63.129.16": {}, "224.0.0.1": {}, "ff02::1": {},
		"::ffff:169.254.169.254": {}, "64:ff9b::a9fe:a9fe": {},
		"127.0.0.1": {true}, "127.1.2.3": {true}, "::1": {true}, "0.0.0.0": {true}, "0.1.2.3": {true}, "::": {true}, "::ffff:127.0.0.1": {true}, "64:ff9b::7f00:1": {true},
		"10.0.0.1": {true, true}, "192.168.1.1": {true, true}, "100.64.0.1": {true, true}, "8.8.8.8": {true, true}, "fd00::1": {true, true}, "2001:db8::1": {true, true},
	} {
		to := netip.MustParseAddr(address)
		if err := (Network{}).permits(to); (err == nil) != want[0] {
			t.Errorf("%s: %v", address, err)
		}
		if err := (Network{Confined: true}).permits(to); (err == nil) != want[1] {
			t.Errorf("%s to what is confined: %v", address, err)
		}
	}
}

// TestConfined is about requests to this machine and to the metadata of a cloud: by address and by name. Nothing is sent.
func TestConfined(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		reason, url string
		confined    bool
	}{
		"Address":  {reason: "an address of this machine", url: w.server.URL, confined: true},
		"Name":     {reason: "a name that resolves to one", url: strings.Replace(w.server.URL, "127.0.0.1", "localhost", 1), confined: true},
		"Metadata": {reason: "the metadata of a cloud", url: "http://169.254.169.254/latest/meta-data"},
	} {
		t.Run(name, func(t *testing.T) {
			e := w.executor(t)
			e.Network.Confined = tc.confined
			wf := workflow()
			if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: tc.url})); err != nil {
				t.Fatal(err)
			}
			leaf := w.leaf(t, e, wf)
			if leaf.Phase != v1alpha1.NodeError || leaf.Transient || !strings.Contains(leaf.Message, "which requests of http templates are not sent to") {
				t.Errorf("%s: %s %q", tc.reason, leaf.Phase, leaf.Message)
			}
			if len(w.seen) > 0 {
				t.Errorf("%s: a server saw %q", tc.reason, w.seen)
			}
		})
	}
}

// TestProxy is about a proxy of this machine, by which everything is requested: it is reached, and not asked for the metadata of a cloud.
func TestProxy(t *testing.T) {
	w := newWorld(t)
	proxy, err := url.Parse(w.other.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	Network{Confined: true}.limit(transport)
	for address, want := range map[string]bool{"http://service.example/": true, "http://169.254.169.254/": false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := transport.RoundTrip(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(w.seen) != 1 {
		t.Errorf("the proxy saw %q", w.seen)
	}
}
