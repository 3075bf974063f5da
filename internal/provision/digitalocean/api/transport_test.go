package api_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
)

// direct sends requests to a cloud without a network, so that they take no real time.
type direct struct{ to http.Handler }

// RoundTrip serves a request.
func (d direct) RoundTrip(q *http.Request) (*http.Response, error) {
	served := q.Clone(q.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	served.Host, served.RequestURI = q.URL.Host, q.URL.RequestURI()
	w := httptest.NewRecorder()
	d.to.ServeHTTP(w, served)
	answer := w.Result()
	answer.Request = q
	return answer, nil
}

// clientOf is a client for a kind, of an API at an address.
func clientOf(t *testing.T, o api.Options, url string) func(kind string) *godo.Client {
	t.Helper()
	c, err := api.ParseCredentials([]byte(`{"token":"the-token","api_endpoint":"`+url+`"}`), url)
	if err != nil {
		t.Fatal(err)
	}
	account := api.NewAccounts(o).Of(c)
	return account.Client
}

// started is a cloud on the network with a client of it.
func started(t *testing.T) (*cloud.Server, *godo.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s, err := cloud.Start(ctx, cloud.Options{Token: "the-token"})
	if err != nil {
		t.Fatal(err)
	}
	return s, clientOf(t, api.Options{UserAgent: "headgate"}, s.URL)("Droplet")
}

// simulated is a cloud in the bubble of a test, with clients of it.
func simulated(t *testing.T) (*cloud.Cloud, func(kind string) *godo.Client) {
	t.Helper()
	c, err := cloud.New(t.Context(), cloud.Options{Token: "the-token"})
	if err != nil {
		t.Fatal(err)
	}
	return c, clientOf(t, api.Options{Transport: direct{c}}, "http://cloud.example")
}

func vm() *godo.DropletCreateRequest {
	return &godo.DropletCreateRequest{Name: "vm", Region: "fra1", Size: "s-1vcpu-1gb", Image: godo.DropletCreateImage{Slug: "debian-12-x64"}, Tags: []string{"intent"}}
}

// TestCreateOnce sends one request to create a Droplet, and no other, whatever is answered.
func TestCreateOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		fault     cloud.Fault
		ambiguous bool
		throttled bool
		made      int
	}{
		"Fine":       {"nothing goes wrong", cloud.Fault{Kind: cloud.Late}, false, false, 1},
		"Gateway":    {"created, and a gateway answers", cloud.Fault{Kind: cloud.LoseAnswer}, true, false, 1},
		"Dropped":    {"created, and the connection ends", cloud.Fault{Kind: cloud.Drop}, true, false, 1},
		"Failed":     {"not created, which the answer does not say", cloud.Fault{Kind: cloud.Refuse, Status: 500}, true, false, 0},
		"Unknown":    {"a method that is not implemented", cloud.Fault{Kind: cloud.Refuse, Status: 501}, false, false, 0},
		"TimedOut":   {"a gateway that did not wait", cloud.Fault{Kind: cloud.Refuse, Status: 408}, true, false, 0},
		"TooMany":    {"refused for the rate", cloud.Fault{Kind: cloud.Throttle, For: 30 * time.Second}, false, true, 0},
		"Forbidden":  {"refused", cloud.Fault{Kind: cloud.Refuse, Status: 403}, false, false, 0},
		"Unreadable": {"refused for its content", cloud.Fault{Kind: cloud.Refuse, Status: 422}, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, do := started(t)
			tc.fault.Method, tc.fault.Path = "POST", "/v2/droplets"
			if err := s.Inject(tc.fault); err != nil {
				t.Fatal(err)
			}
			_, _, err := do.Droplets.Create(t.Context(), vm())
			_, throttled := api.Throttled(err)
			if api.Ambiguous(err) != tc.ambiguous || throttled != tc.throttled || err == nil != (tc.fault.Kind == cloud.Late) {
				t.Errorf("%s: the error is %v", tc.reason, err)
			}
			if err != nil && strings.Contains(err.Error(), "the-token") {
				t.Errorf("%s: the error has the token: %v", tc.reason, err)
			}
			if log := s.Audit().Select("POST", ""); len(log) != 1 || len(log.Made()) != tc.made {
				t.Errorf("%s: the audit log has %v", tc.reason, log)
			}
		})
	}
}

func TestAmbiguousErrorSaysWhich(t *testing.T) {
	s, do := started(t)
	if err := s.Inject(cloud.Fault{Kind: cloud.LoseAnswer, Method: "POST"}, cloud.Fault{Kind: cloud.Drop, Method: "POST", Skip: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"POST /v2/droplets was answered 502 Bad Gateway, and may have been carried out", "POST /v2/droplets got no answer, and may have been carried out: EOF"} {
		_, _, err := do.Droplets.Create(t.Context(), vm())
		var ambiguous *api.AmbiguousError
		if !errors.As(err, &ambiguous) || ambiguous.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if got := len(s.Audit().Made()); got != 2 {
		t.Errorf("%d Droplets were made", got)
	}
}

// TestNotSent is about requests that never left: these may be sent again at once.
func TestNotSent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err = clientOf(t, api.Options{}, closed)("Droplet").Droplets.Create(t.Context(), vm())
	if err == nil || api.Ambiguous(err) {
		t.Errorf("nothing listens, and the error is %v", err)
	}
	s, do := started(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := do.Droplets.Create(ended, vm()); !errors.Is(err, context.Canceled) || api.Ambiguous(err) {
		t.Errorf("the context had ended, and the error is %v", err)
	}
	if log := s.Audit(); len(log) > 0 {
		t.Errorf("the audit log has %v", log)
	}
}

// TestCutOff is about answers that are not whole.
func TestCutOff(t *testing.T) {
	for name, body := range map[string]string{"Short": `{"droplet":{"id":`, "Page": "<html>"} {
		t.Run(name, func(t *testing.T) {
			var served atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				served.Add(1)
				w.WriteHeader(http.StatusAccepted)
				_, _ = w.Write([]byte(body))
			}))
			defer s.Close()
			_, _, err := clientOf(t, api.Options{}, s.URL)("Droplet").Droplets.Create(t.Context(), vm())
			if !api.Ambiguous(err) || served.Load() != 1 {
				t.Errorf("after %d requests the error is %v", served.Load(), err)
			}
		})
	}
}

// TestInTime ends the context while the answer is due.
func TestInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		// The end of a connection is noticed once the request has been read.
		_, _ = io.Copy(io.Discard, q.Body)
		cancel()
		<-q.Context().Done()
	}))
	defer s.Close()
	if _, _, err := clientOf(t, api.Options{}, s.URL)("Droplet").Droplets.Create(ctx, vm()); !api.Ambiguous(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestRedirect keeps the token from another server.
func TestRedirect(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, _, err := clientOf(t, api.Options{}, s.URL)("Droplet").Account.Get(t.Context())
	if err == nil || elsewhere.Load() != 0 {
		t.Errorf("%d requests were redirected, the error is %v", elsewhere.Load(), err)
	}
}

func TestReadsAreRepeated(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		fault  cloud.Fault
		sent   int
		took   [2]time.Duration
		fails  bool
	}{
		"Once":      {"one failure", cloud.Fault{Kind: cloud.Refuse, Times: 1}, 2, [2]time.Duration{900 * time.Millisecond, 1100 * time.Millisecond}, false},
		"Thrice":    {"three failures", cloud.Fault{Kind: cloud.Refuse, Times: 3}, 4, [2]time.Duration{6 * time.Second, 8 * time.Second}, false},
		"Always":    {"it stays so", cloud.Fault{Kind: cloud.Refuse, Times: -1}, 4, [2]time.Duration{6 * time.Second, 8 * time.Second}, true},
		"Throttled": {"the API says when", cloud.Fault{Kind: cloud.Throttle, For: 40 * time.Second}, 2, [2]time.Duration{40 * time.Second, 40 * time.Second}, false},
		"Forbidden": {"it would be refused again", cloud.Fault{Kind: cloud.Refuse, Status: 403}, 1, [2]time.Duration{0, 0}, true},
		"Missing":   {"it would be refused again", cloud.Fault{Kind: cloud.Refuse, Status: 501}, 1, [2]time.Duration{0, 0}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, client := simulated(t)
				if err := c.Inject(tc.fault); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, _, err := client("Droplet").Account.Get(t.Context())
				if took := time.Since(began); took < tc.took[0] || took > tc.took[1] || (err != nil) != tc.fails {
					t.Errorf("%s: it took %s, error %v", tc.reason, took, err)
				}
				if got := len(c.Audit()); got != tc.sent {
					t.Errorf("%s: %d requests, want %d", tc.reason, got, tc.sent)
				}
			})
		})
	}
}

// TestChangesAreRepeated sends the whole request again.
func TestChangesAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := simulated(t)
		do := client("SSHKey")
		key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPPGDUUVMfqyB7M2RH8pAqhuXj5ut8LZ8STlZcKXzxT5 ada@example.com"
		k, _, err := do.Keys.Create(t.Context(), &godo.KeyCreateRequest{Name: "ada", PublicKey: key})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Inject(cloud.Fault{Kind: cloud.Refuse, Method: "PUT"}, cloud.Fault{Kind: cloud.LoseAnswer, Method: "DELETE"}); err != nil {
			t.Fatal(err)
		}
		if k, _, err := do.Keys.UpdateByID(t.Context(), k.ID, &godo.KeyUpdateRequest{Name: "lovelace"}); err != nil || k.Name != "lovelace" {
			t.Errorf("renamed to %v, %v", k, err)
		}
		if _, err := do.Keys.DeleteByID(t.Context(), k.ID); !api.NotFound(err) {
			t.Errorf("the second deletion is answered %v, want that there is no such key", err)
		}
	})
}

func TestKindsOfErrors(t *testing.T) {
	s, do := started(t)
	_, _, err := do.Droplets.Get(t.Context(), 7)
	if !api.NotFound(err) || api.Unauthorized(err) {
		t.Errorf("the error is %v", err)
	}
	request := vm()
	request.Size = "huge"
	_, _, err = do.Droplets.Create(t.Context(), request)
	if message, is := api.Unprocessable(err); !is || message != "You specified an invalid size for Droplet creation." {
		t.Errorf("the error is %v", err)
	}
	c, err := api.ParseCredentials([]byte(`{"token":"other","api_endpoint":"`+s.URL+`"}`), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = api.NewAccounts(api.Options{}).Of(c).Client("Droplet").Account.Get(t.Context())
	if !api.Unauthorized(err) || api.NotFound(err) {
		t.Errorf("the error is %v", err)
	}
}
