package egress

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestPermits(t *testing.T) {
	cases := map[string]struct {
		reason, rules, host, addr string
		want                      bool
	}{
		"None":          {"rules without items permit nothing", "", "example.com", "1.1.1.1", false},
		"External":      {"a public address", "external", "example.com", "1.1.1.1", true},
		"External6":     {"a public address of IPv6", "external", "example.com", "2606:4700::1111", true},
		"NotPrivate":    {"a name of a private address", "external", "example.com", "10.1.2.3", false},
		"Private":       {"a private address", "private", "hook.svc", "192.168.0.9", true},
		"Private6":      {"a private address of IPv6", "private", "hook.svc", "fd12::1", true},
		"Carrier":       {"addresses of carriers are private", "external", "hook", "100.64.3.2", false},
		"NotLoopback":   {"this machine is not a private address", "private", "localhost", "127.0.0.1", false},
		"Loopback":      {"this machine", "loopback", "localhost", "127.8.8.8", true},
		"Loopback6":     {"this machine by IPv6", "loopback", "localhost", "::1", true},
		"Mapped":        {"an address of IPv4 in one of IPv6", "external", "x", "::ffff:127.0.0.1", false},
		"Translated":    {"an address behind a translator", "external", "x", "64:ff9b::a9fe:a9fe", false},
		"SixToFour":     {"a private address behind a relay", "external", "x", "2002:0a00:0001::1", false},
		"Compatible":    {"the oldest form of an address of IPv4", "external", "x", "::10.0.0.1", false},
		"Unspecified":   {"the address that means this host", "*", "x", "0.0.0.0", false},
		"Unspecified6":  {"the same of IPv6", "*", "x", "::", false},
		"ThisNetwork":   {"a network that means this host", "*", "x", "0.1.2.3", false},
		"Multicast":     {"a group", "*", "x", "224.0.0.1", false},
		"Broadcast":     {"all machines of a link", "*", "x", "255.255.255.255", false},
		"Metadata":      {"credentials of a machine", "*", "metadata", "169.254.169.254", false},
		"MetadataName":  {"credentials of a machine, by a permitted name", "*.example.com", "a.example.com", "169.254.169.254", false},
		"MetadataNet":   {"a network does not permit them", "169.254.0.0/16", "x", "169.254.169.254", false},
		"MetadataUla":   {"credentials of a machine at a private address", "private", "x", "fd00:ec2::254", false},
		"MetadataAlone": {"their very address does", "169.254.169.254", "x", "169.254.169.254", true},
		"LinkLocal":     {"a zone changes nothing", "*", "x", "fe80::1%eth0", false},
		"Network":       {"a network", "10.9.0.0/16", "x", "10.9.1.1", true},
		"OtherNetwork":  {"an address outside it", "10.9.0.0/16", "x", "10.8.1.1", false},
		"Name":          {"a name", "hook.example.com", "HOOK.example.com", "10.0.0.1", true},
		"Pattern":       {"a pattern of names", "*.example.com", "a.example.com", "10.0.0.1", true},
		"OtherName":     {"a name that only ends alike", "*.example.com", "example.com.evil.org", "10.0.0.1", false},
		"Several":       {"one of several", " external , Loopback", "x", "127.0.0.1", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rules, err := Parse(c.rules)
			if err != nil {
				t.Fatal(err)
			}
			err = rules.Permits(c.host, "443", netip.MustParseAddr(c.addr))
			if (err == nil) != c.want || err != nil && !errors.Is(err, ErrRefused) {
				t.Errorf("%s: %v, want permitted: %v", c.reason, err, c.want)
			}
		})
	}
}

func TestParseNamesWhatIsWrong(t *testing.T) {
	for _, bad := range []string{"10.0.0.0/99", "[a", "http://example.com", "a b"} {
		if _, err := Parse("external, " + bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("the rule %q gives %v", bad, err)
		}
	}
}

func client(t *testing.T, rules string) *http.Client {
	t.Helper()
	parsed, err := Parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Client(time.Minute)
}

func TestClient(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	answer, err := client(t, "external, private").Get(server.URL)
	if !errors.Is(err, ErrRefused) || reached != 0 {
		t.Fatalf("a server of this machine was reached: %v, %v", answer, err)
	}
	// A name is refused by what it resolves to.
	_, err = client(t, "external").Get(strings.Replace(server.URL, "127.0.0.1", "localhost", 1))
	if !errors.Is(err, ErrRefused) || reached != 0 {
		t.Fatalf("a name of this machine was reached: %v", err)
	}
	answer, err = client(t, "loopback").Get(server.URL)
	if err != nil || answer.StatusCode != http.StatusOK || reached != 1 {
		t.Fatalf("a permitted server was not reached: %v", err)
	}
}

func TestClientRedirects(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.Handle("/out", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	mux.Handle("/in", http.RedirectHandler("/here", http.StatusTemporaryRedirect))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusTemporaryRedirect))
	mux.HandleFunc("/here", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, want := range map[string]int{"/out": http.StatusTemporaryRedirect, "/in": http.StatusNoContent, "/round": http.StatusTemporaryRedirect} {
		answer, err := client(t, "loopback").Post(server.URL+path, "text/plain", strings.NewReader("x"))
		if err != nil || answer.StatusCode != want {
			t.Errorf("%s: %v, %v, want %d", path, answer, err, want)
		}
	}
	if reached != 0 {
		t.Error("a redirect to another server was followed")
	}
}
