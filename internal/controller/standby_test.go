package controller

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answer is what a request for /some/path got.
type answer struct {
	Status                      int
	Body, RetryAfter, Forwarded string
}

// TestStandby asks replicas over HTTP for what one of them serves.
func TestStandby(t *testing.T) {
	type replica struct{ serves, knows bool }
	nobody := answer{Status: http.StatusServiceUnavailable, Body: "no replica serves\n", RetryAfter: retryAfter}
	cases := map[string]struct {
		reason string
		// asked is the replica that gets the request; other is the one that it may know.
		asked, other replica
		down         bool
		header       string
		want         answer
	}{
		"Serves": {
			reason: "a replica that serves answers itself, whoever else it knows",
			asked:  replica{serves: true, knows: true}, other: replica{serves: true},
			want: answer{Status: http.StatusOK, Body: "asked: POST /some/path?a=b sent"},
		},
		"PassedOn": {
			reason: "one that stands by passes the request on as it came, with who asked",
			asked:  replica{knows: true}, other: replica{serves: true},
			want: answer{Status: http.StatusOK, Body: "other: POST /some/path?a=b sent", Forwarded: "127.0.0.1"},
		},
		"Loop": {
			reason: "two replicas that each believe that the other serves do not pass a request to and fro",
			asked:  replica{knows: true}, other: replica{knows: true},
			want: nobody,
		},
		"PassedOnAlready": {
			reason: "what another replica passed on is not passed on again",
			asked:  replica{knows: true}, other: replica{serves: true}, header: "1",
			want: nobody,
		},
		"NoPeer": {
			reason: "nobody is known to serve: whoever asks is told when to ask again",
			want:   nobody,
		},
		"PeerIsGone": {
			reason: "the replica that served is gone, and its lease not over yet",
			asked:  replica{knows: true}, other: replica{serves: true}, down: true,
			want: nobody,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			passed := ""
			serve := func(name string, r replica) func() http.Handler {
				return func() http.Handler {
					if !r.serves {
						return nil
					}
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						body, _ := io.ReadAll(r.Body)
						passed = r.Header.Get("X-Forwarded-For")
						fmt.Fprintf(w, "%s: %s %s %s", name, r.Method, r.URL, body)
					})
				}
			}
			var asked, other *httptest.Server
			peer := func(knows bool) func() string {
				return func() string {
					if knows {
						return "127.0.0.1"
					}
					return ""
				}
			}
			other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				standby{local: serve("other", tc.other), peer: peer(tc.other.knows), port: portOf(asked.Listener.Addr().String())}.ServeHTTP(w, r)
			}))
			defer other.Close()
			asked = httptest.NewServer(standby{
				local: serve("asked", tc.asked), peer: peer(tc.asked.knows), port: portOf(other.Listener.Addr().String()),
			})
			defer asked.Close()
			if tc.down {
				other.Close()
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, asked.URL+"/some/path?a=b", strings.NewReader("sent"))
			if err != nil {
				t.Fatal(err)
			}
			if tc.header != "" {
				r.Header.Set(passedOn, tc.header)
			}
			got, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = got.Body.Close() }()
			body, err := io.ReadAll(got.Body)
			if err != nil {
				t.Fatal(err)
			}
			is := answer{Status: got.StatusCode, Body: string(body), RetryAfter: got.Header.Get("Retry-After"), Forwarded: passed}
			if diff := cmp.Diff(tc.want, is); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPortOf(t *testing.T) {
	cases := map[string]struct{ reason, address, want string }{
		"All":  {reason: "an address of all interfaces has a port", address: ":9790", want: "9790"},
		"One":  {reason: "so has one of one interface", address: net.JoinHostPort("::1", "80"), want: "80"},
		"None": {reason: "without a port nothing can be passed on", address: "localhost"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, portOf(tc.address)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
