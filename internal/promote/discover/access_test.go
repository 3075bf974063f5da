package discover

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

const password = "s3cret-password"

func TestRateLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		status int
		header string
		body   string
		least  time.Duration
		most   time.Duration
	}{
		"Seconds":     {"a number of seconds", 429, "17", "", 17 * time.Second, 17 * time.Second},
		"Date":        {"a date", 429, time.Now().Add(10 * time.Minute).UTC().Format(http.TimeFormat), "", 5 * time.Minute, 10 * time.Minute},
		"Past":        {"a date that has passed", 429, time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), "", time.Second, time.Second},
		"None":        {"no time is named", 429, "", "", time.Minute, time.Minute},
		"Nonsense":    {"it is neither", 429, "soon", "", time.Minute, time.Minute},
		"Far":         {"it is bounded", 429, "86400", "", time.Hour, time.Hour},
		"Unavailable": {"503 with a time is one", 503, "5", "", 5 * time.Second, 5 * time.Second},
		"Code":        {"a code of the registry, with another status", 403, "", `{"errors": [{"code": "TOOMANYREQUESTS"}]}`, time.Minute, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, httptest.NewServer)
			s.answers(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/v2/" {
					return
				}
				if tc.header != "" {
					w.Header().Set("Retry-After", tc.header)
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			})
			o := anywhere()
			for of, w := range map[string]*v1alpha1.Warehouse{
				"image": ofImage(v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app"}),
				"chart": ofChart(v1alpha1.ChartSubscription{RepoURL: "http://" + s.host, Name: "app"}),
				"git":   ofGit(v1alpha1.GitSubscription{RepoURL: "http://" + s.host + "/app.git"}),
			} {
				if tc.body != "" && of != "image" {
					continue
				}
				err := failure(t, New(o), w, "spec.subscriptions[0]."+of+".repoURL", s.host)
				var limit interface{ RetryAfter() time.Duration }
				if !errors.As(err, &limit) {
					t.Fatalf("%s: the error does not say when the server accepts requests again: %v", tc.reason, err)
				}
				if got := limit.RetryAfter(); got < tc.least || got > tc.most {
					t.Errorf("%s: %s after %s", tc.reason, of, got)
				}
			}
		})
	}
	s := serve(t, httptest.NewServer)
	s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	err := failure(t, New(anywhere()), ofImage(v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app"}), "503")
	if limit := (*RateLimit)(nil); errors.As(err, &limit) {
		t.Error("a server that is out of service limits no rate")
	}
}

// TestRateLimitEndsTheSearch has a registry refuse in the middle of a search: nothing more is requested.
func TestRateLimitEndsTheSearch(t *testing.T) {
	s := serve(t, httptest.NewServer)
	one := built(t, 1, amd64(), nil)
	var tags []string
	for i := range 200 {
		tags = append(tags, fmt.Sprintf("1.0.%d", i))
	}
	s.push(t, one, tags...)
	all := "[\"" + strings.Join(tags, "\", \"") + "\"]"
	s.answers(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case strings.HasSuffix(q.URL.Path, "/tags/list"):
			_, _ = w.Write([]byte(`{"name": "team/app", "tags": ` + all + `}`))
		case strings.Contains(q.URL.Path, "/manifests/"):
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	refused(t, New(anywhere()), ofImage(v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app", ImageSelectionStrategy: v1alpha1.ImageNewestBuild}), s.host)
	if got := s.methods()["GET manifests"]; got > atOnce {
		t.Errorf("%d requests were sent after the first that was refused", got)
	}
}

// TestTokens logs in as Docker does: by a token that another path gives.
func TestTokens(t *testing.T) {
	s := serve(t, httptest.NewServer)
	s.push(t, built(t, 1, amd64(), nil), "1.0.0")
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		user, given, _ := q.BasicAuth()
		switch {
		case q.URL.Path == "/token" && user == "robot" && given == password && strings.Contains(q.URL.RawQuery, "team"):
			_, _ = w.Write([]byte(`{"token": "t0ken"}`))
		case q.URL.Path == "/token":
			w.WriteHeader(http.StatusUnauthorized)
		case q.Header.Get("Authorization") != "Bearer t0ken":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="registry"`, q.Host))
			w.WriteHeader(http.StatusUnauthorized)
		default:
			s.server.Config.Handler.ServeHTTP(w, q)
		}
	}))
	t.Cleanup(front.Close)
	w := ofImage(v1alpha1.ImageSubscription{RepoURL: front.Listener.Addr().String() + "/team/app"})
	o := anywhere()
	o.Login = login("robot", password)
	if found := find(t, New(o), w, nil); len(found.Images[0].References) != 1 {
		t.Errorf("it found %+v", found.Images)
	}
	o.Login = login("robot", "wrong")
	if err := failure(t, New(o), w, "image.repoURL", "does not permit", "Secret"); strings.Contains(err.Error(), "wrong") {
		t.Errorf("the error has the password: %v", err)
	}
	o.Login = nil
	refused(t, New(o), w, "does not permit")
}

func TestCertificates(t *testing.T) {
	s := serve(t, httptest.NewTLSServer)
	s.push(t, built(t, 1, amd64(), nil), "1.0.0")
	spec := v1alpha1.ImageSubscription{RepoURL: s.host + "/team/app"}
	o := anywhere()
	lax := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // that is what is tested
	t.Cleanup(lax.CloseIdleConnections)
	o.Insecure = lax
	f := New(o)
	refused(t, f, ofImage(spec), "certificate")
	spec.InsecureSkipTLSVerify = true
	if found := find(t, f, ofImage(spec), nil); len(found.Images[0].References) != 1 {
		t.Errorf("it found %+v", found.Images)
	}
	spec.InsecureSkipTLSVerify = false
	refused(t, f, ofImage(spec), "certificate")
	o.Insecure = nil
	spec.InsecureSkipTLSVerify = true
	refused(t, New(o), ofImage(spec), "image.insecureSkipTLSVerify", "remove the field")
}

// TestClearText keeps credentials from being sent to another machine without encryption.
func TestClearText(t *testing.T) {
	s := serve(t, httptest.NewServer)
	seen := false
	s.answers(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "" {
			seen = true
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	o := anywhere()
	o.Login = login("robot", password)
	o.HTTP.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.host)
	}}
	for name, w := range map[string]*v1alpha1.Warehouse{
		"Image": ofImage(v1alpha1.ImageSubscription{RepoURL: "10.1.2.3:5000/team/app"}),
		"Chart": ofChart(v1alpha1.ChartSubscription{RepoURL: "http://charts.example.org", Name: "app"}),
		"Git":   ofGit(v1alpha1.GitSubscription{RepoURL: "http://git.example.org/app"}),
	} {
		t.Run(name, func(t *testing.T) {
			err := failure(t, New(o), w, "repoURL", "no encryption")
			if seen || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), base64.StdEncoding.EncodeToString([]byte(password))) {
				t.Errorf("the credentials were sent or shown: %v", err)
			}
		})
	}
	o.ClearText = true
	refused(t, New(o), ofChart(v1alpha1.ChartSubscription{RepoURL: "http://charts.example.org", Name: "app"}), "label a Secret")
	if !seen {
		t.Error("a person permits it, and they were not sent")
	}
}

func TestAddresses(t *testing.T) {
	asked := map[string]bool{}
	o := anywhere()
	o.Allow = func(_ context.Context, address string) error {
		asked[address] = true
		return errors.New("it is in another network")
	}
	for address, w := range map[string]*v1alpha1.Warehouse{
		"https://index.docker.io/library/nginx": ofImage(v1alpha1.ImageSubscription{RepoURL: "nginx"}),
		"https://ghcr.io/team/chart":            ofChart(v1alpha1.ChartSubscription{RepoURL: "oci://ghcr.io/team/chart"}),
		"https://charts.example.org/a":          ofChart(v1alpha1.ChartSubscription{RepoURL: "https://charts.example.org/a", Name: "a"}),
		"https://git.example.org/a.git":         ofGit(v1alpha1.GitSubscription{RepoURL: "https://git.example.org/a.git"}),
	} {
		refused(t, New(o), w, "repoURL", "another network")
		if !asked[address] {
			t.Errorf("%s was not checked: %v", address, asked)
		}
	}
	refused(t, New(Options{}), ofImage(v1alpha1.ImageSubscription{RepoURL: "nginx"}), "not searched here")
	refused(t, New(anywhere()), warehouse(v1alpha1.RepoSubscription{}), "spec.subscriptions[0].", "exactly one")
}
