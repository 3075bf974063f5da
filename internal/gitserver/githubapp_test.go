package gitserver_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

const (
	appID        = "1234"
	installation = 77
	orgName      = "org"
	userName     = "someone"
	// appLogin is the user of a token of an installation.
	appLogin = "x-access-token"
)

// gitHub is the part of GitHub's API that gives tokens to Apps, for a Git server that takes only the
// last of them.
type gitHub struct {
	server *gitserver.Server
	key    *rsa.PrivateKey

	mu sync.Mutex
	// life is that of the tokens.
	life  time.Duration
	asked []string
	token string
}

func (g *gitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.Method+" "+r.URL.Path)
	if err := g.authenticate(r); err != nil {
		g.answer(w, http.StatusUnauthorized, map[string]any{"message": "A JSON web token could not be decoded"})
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/api/v3")
	switch {
	case r.Method == http.MethodGet && (path == "/orgs/"+orgName+"/installation" || path == "/users/"+userName+"/installation"):
		g.answer(w, http.StatusOK, map[string]any{"id": installation, "app_id": 1234})
	case r.Method == http.MethodPost && path == "/app/installations/"+strconv.Itoa(installation)+"/access_tokens":
		g.token = "ghs_" + rand.Text()
		g.server.AddUser(appLogin, g.token, false)
		g.answer(w, http.StatusCreated, map[string]any{
			"token": g.token, "expires_at": time.Now().Add(g.life).UTC().Format(time.RFC3339),
			"permissions": map[string]string{"contents": "read"},
		})
	default:
		g.answer(w, http.StatusNotFound, map[string]any{"message": "Not Found"})
	}
}

// authenticate checks what an App says of itself as GitHub does.
func (g *gitHub) authenticate(r *http.Request) error {
	claim := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	var said jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(claim, &said, func(*jwt.Token) (any, error) { return &g.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(appID), jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	if err == nil && said.ExpiresAt.Sub(said.IssuedAt.Time) > 10*time.Minute {
		err = errors.New("it lasts too long")
	}
	return err
}

func (g *gitHub) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (g *gitHub) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	asked := g.asked
	g.asked = nil
	return asked
}

// set changes how long tokens last, and returns the last one.
func (g *gitHub) set(life time.Duration) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life = life
	return g.token
}

func rsaKey(t *testing.T) (*rsa.PrivateKey, string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// serveApp serves a repository to an App, whose API is that of a server with a certificate of its own.
func serveApp(t *testing.T) (*served, *gitHub, source.AppConfig, source.GitOptions) {
	t.Helper()
	s := serve(t)
	key, pemKey := rsaKey(t)
	g := &gitHub{server: s.server, key: key, life: time.Hour}
	front := httptest.NewUnstartedServer(g)
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	t.Cleanup(front.Close)
	o := source.GitOptions{
		URL: s.server.URL("app"), Ref: source.GitRef{Branch: "main"},
		CAFile: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}),
	}
	return s, g, source.AppConfig{ID: appID, InstallationID: strconv.Itoa(installation), PrivateKey: pemKey, BaseURL: front.URL + "/api/v3/"}, o
}

const (
	asksToken = "POST /api/v3/app/installations/77/access_tokens"
	asksOrg   = "GET /api/v3/orgs/" + orgName + "/installation"
)

func TestFetchByGitHubApp(t *testing.T) {
	s, g, config, o := serveApp(t)
	o.App = &source.App{AppConfig: config}
	fetch := func(reason string, asked ...string) {
		t.Helper()
		got, err := source.FetchGit(t.Context(), o, "", nil)
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		if want := "main@sha1:" + s.commits["four"]; got.Revision != want {
			t.Errorf("%s: revision %q, want %q", reason, got.Revision, want)
		}
		if diff := cmp.Diff(asked, g.take()); diff != "" {
			t.Errorf("%s: what was asked of the API (-want +got):\n%s", reason, diff)
		}
	}
	fetch("the first fetch gets a token", asksToken)
	fetch("the second one has it")
	s.server.AddUser(appLogin, rand.Text(), false)
	_, err := source.FetchGit(t.Context(), o, "", nil)
	if !errors.Is(err, source.ErrAuth) || strings.Contains(err.Error(), g.set(4*time.Minute)) {
		t.Errorf("a token that was revoked gives %v", err)
	}
	fetch("a token that was revoked is replaced", asksToken)
	g.set(time.Hour)
	fetch("so is one that is about to end", asksToken)
	o.App = &source.App{AppConfig: config}
	o.App.InstallationID, o.App.InstallationOwner = "", orgName
	fetch("the owner of an installation names it", asksOrg, asksToken)
	o.App = &source.App{AppConfig: config}
	o.App.InstallationID, o.App.InstallationOwner = "", userName
	fetch("the owner may be a user", "GET /api/v3/orgs/"+userName+"/installation", "GET /api/v3/users/"+userName+"/installation", asksToken)
}

func TestGitHubAppByProxy(t *testing.T) {
	_, g, config, o := serveApp(t)
	var through []string
	var mu sync.Mutex
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		through = append(through, r.Method+" "+r.Host)
		mu.Unlock()
		(&httputil.ReverseProxy{Director: func(*http.Request) {}}).ServeHTTP(w, r)
	}))
	defer front.Close()
	// The API is asked in the clear here, so that a proxy of a few lines will do.
	api := httptest.NewServer(g)
	defer api.Close()
	config.BaseURL, o.Proxy = api.URL+"/api/v3", front.URL
	o.App = &source.App{AppConfig: config}
	if _, err := source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(api.URL)
	if err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(through) < 2 || through[0] != "POST "+u.Host {
		t.Errorf("through the proxy went %q", through)
	}
}

func TestGitHubAppRefused(t *testing.T) {
	_, _, config, o := serveApp(t)
	_, other := rsaKey(t)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"token": "ghs_quoted`)
	}))
	defer garbage.Close()
	cases := map[string]struct {
		reason string
		change func(c *source.AppConfig, o *source.GitOptions)
		want   string
		err    error
	}{
		"no ID":           {"the ID is missing", func(c *source.AppConfig, _ *source.GitOptions) { c.ID = "" }, "its ID is missing", source.ErrAuth},
		"no installation": {"no installation is named", func(c *source.AppConfig, _ *source.GitOptions) { c.InstallationID = "" }, "the installation ID or owner is missing", source.ErrAuth},
		"two":             {"two installations are", func(c *source.AppConfig, _ *source.GitOptions) { c.InstallationOwner = "org" }, "both the installation ID and owner", source.ErrAuth},
		"no number":       {"an installation that is no number", func(c *source.AppConfig, _ *source.GitOptions) { c.InstallationID = "7/../8" }, "not a number", source.ErrAuth},
		"no key":          {"no key", func(c *source.AppConfig, _ *source.GitOptions) { c.PrivateKey = "SECRET" }, "its private key is invalid", source.ErrAuth},
		"other key":       {"the key of another", func(c *source.AppConfig, _ *source.GitOptions) { c.PrivateKey = other }, `401 Unauthorized": A JSON web token could not be decoded`, source.ErrAuth},
		"other App":       {"another App", func(c *source.AppConfig, _ *source.GitOptions) { c.ID = "99" }, "401 Unauthorized", source.ErrAuth},
		"other":           {"an installation that is not there", func(c *source.AppConfig, _ *source.GitOptions) { c.InstallationID = "78" }, "404 Not Found", source.ErrAuth},
		"other owner":     {"an owner who has not installed it", func(c *source.AppConfig, _ *source.GitOptions) { c.InstallationID, c.InstallationOwner = "", "../x" }, `not installed for "../x"`, source.ErrAuth},
		"no CA":           {"a certificate that nobody knows", func(_ *source.AppConfig, o *source.GitOptions) { o.CAFile = nil }, "certificate", source.ErrAuth},
		"bad URL":         {"an API that is no URL", func(c *source.AppConfig, _ *source.GitOptions) { c.BaseURL = "ftp://x" }, "must be https or http", source.ErrAuth},
		"no API":          {"an API that is not there", func(c *source.AppConfig, _ *source.GitOptions) { c.BaseURL = closed.URL }, "cannot be reached", source.ErrAuth},
		"garbage":         {"an answer that is none", func(c *source.AppConfig, _ *source.GitOptions) { c.BaseURL = garbage.URL }, "response of the API is invalid", source.ErrAuth},
		"no proxy": {"a proxy that is not there", func(_ *source.AppConfig, o *source.GitOptions) {
			o.Proxy = strings.Replace(closed.URL, "http://", "http://u:SECRET@", 1)
		}, "cannot be reached", source.ErrAuth},
		"ssh": {"a URL by ssh", func(_ *source.AppConfig, o *source.GitOptions) { o.URL = "ssh://git@example.com/x" }, "over https", source.ErrURL},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			app := &source.App{AppConfig: config}
			o := o
			o.App = app
			c.change(&app.AppConfig, &o)
			_, err := source.FetchGit(t.Context(), o, "", nil)
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%s: error %v, want %v with %q", c.reason, err, c.err, c.want)
			}
			for _, secret := range []string{"SECRET", "PRIVATE KEY", "ghs_", "eyJ"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s: the error shows a secret: %v", c.reason, err)
				}
			}
		})
	}
}
