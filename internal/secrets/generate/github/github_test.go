package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/secrets/generate/github"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

func newKey(t *testing.T) (*rsa.PrivateKey, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// serve issues tokens to the App 7 for its installation 42, with what was requested of them in the token.
func serve(t *testing.T, key *rsa.PrivateKey) *storetest.Plain {
	return storetest.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		var claims jwt.RegisteredClaims
		_, err := jwt.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
			jwt.WithValidMethods([]string{"RS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithIssuer("7"))
		body, _ := io.ReadAll(r.Body)
		switch {
		case err != nil || claims.ExpiresAt.Sub(claims.IssuedAt.Time) > 10*time.Minute:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"message":"A JSON web token could not be decoded s3cret"}`)
		case r.Method != http.MethodPost || r.URL.Path != "/api/v3/app/installations/42/access_tokens":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusCreated)
			_ = json.NewEncoder(w).Encode(map[string]string{"token": "ghs_" + string(body), "expires_at": "2030-01-01T00:00:00Z"})
		}
	})
}

func TestToken(t *testing.T) {
	key, text := newKey(t)
	_, stranger := newKey(t)
	server := serve(t, key)
	config := func(change ...func(*github.Config)) github.Config {
		c := github.Config{URL: server.URL + "/api/v3/", App: "7", Installation: "42", Key: text}
		for _, one := range change {
			one(&c)
		}
		return c
	}
	for name, tc := range map[string]struct {
		reason string
		config github.Config
		want   string
		is     error
	}{
		"All": {"without more, all that the App may do", config(), "ghs_{}", nil},
		"Selected": {"repositories and permissions", config(func(c *github.Config) {
			c.Repositories, c.Permissions = []string{"shop"}, map[string]string{"contents": "read"}
		}), `ghs_{"repositories":["shop"],"permissions":{"contents":"read"}}`, nil},
		"Stranger": {"a key of another App", config(func(c *github.Config) { c.Key = stranger }), "", store.ErrDenied},
		"App":      {"another App", config(func(c *github.Config) { c.App = "8" }), "", store.ErrDenied},
	} {
		got, err := github.Token(t.Context(), tc.config, server.Client())
		if string(got[github.TokenKey]) != tc.want || !errors.Is(err, tc.is) || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %s: %q, %v; want %q, %v", name, tc.reason, got, err, tc.want, tc.is)
		}
	}
	missing := config(func(c *github.Config) { c.Installation = "43" })
	if _, err := github.Token(t.Context(), missing, server.Client()); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("an installation that is not there is a value that is gone: %v", err)
	}
}

func TestTokenRefuses(t *testing.T) {
	_, text := newKey(t)
	for name, c := range map[string]github.Config{
		"Scheme":       {URL: "file:///etc/passwd", App: "7", Installation: "42", Key: text},
		"User":         {URL: "https://user:s3cret@example.org", App: "7", Installation: "42", Key: text},
		"App":          {App: "", Installation: "42", Key: text},
		"Installation": {App: "7", Installation: "42/../43", Key: text},
		"Key":          {App: "7", Installation: "42", Key: []byte("s3cret")},
		"Many":         {App: "7", Installation: "42", Key: text, Repositories: make([]string, 501)},
	} {
		unreached := storetest.NewPlain(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
		if _, err := github.Token(t.Context(), c, unreached.Client()); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenFaults(t *testing.T) {
	key, text := newKey(t)
	server := serve(t, key)
	c := github.Config{URL: server.URL + "/api/v3", App: "7", Installation: "42", Key: text}
	fails := func(f *storetest.Fault) error {
		t.Helper()
		server.Fail(f)
		_, err := github.Token(t.Context(), c, server.Client())
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Fatalf("%v: %v", f, err)
		}
		return err
	}
	if after, transient := store.RetryAfter(fails(&storetest.Fault{Status: 429, RetryAfter: "17"})); !transient || after != 17*time.Second {
		t.Errorf("429: transient %v after %s", transient, after)
	}
	if _, transient := store.RetryAfter(fails(&storetest.Fault{Status: 503})); !transient {
		t.Error("503 is not transient")
	}
	if err := fails(&storetest.Fault{Status: 200}); !errors.Is(err, store.ErrMalformed) {
		t.Errorf("an answer that means nothing: %v", err)
	}
	empty := storetest.NewPlain(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })
	c.URL = empty.URL
	if _, err := github.Token(t.Context(), c, empty.Client()); !errors.Is(err, store.ErrMalformed) {
		t.Errorf("an answer without a token: %v", err)
	}
}

// TestTokenEgress has a client that may not reach this machine.
func TestTokenEgress(t *testing.T) {
	key, text := newKey(t)
	server := serve(t, key)
	rules, err := egress.Parse(egress.External + "," + egress.Private)
	if err != nil {
		t.Fatal(err)
	}
	c := github.Config{URL: server.URL + "/api/v3", App: "7", Installation: "42", Key: text}
	if _, err := github.Token(t.Context(), c, rules.Client(time.Minute)); err == nil || server.Requests() != 0 {
		t.Errorf("%d requests reached this machine: %v", server.Requests(), err)
	}
}
