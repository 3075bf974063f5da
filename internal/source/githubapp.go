package source

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// AppConfig says which GitHub App logs in, and for which of its installations.
type AppConfig struct {
	// ID is the number or the client ID of the App.
	ID string
	// InstallationID is a number. Without it the installation is that of InstallationOwner, an
	// organization or a user. One of the two has to be given.
	InstallationID, InstallationOwner string
	// PrivateKey is the RSA key of the App in PEM form.
	PrivateKey string
	// BaseURL is that of the API; empty means GitHub's own. A GitHub Enterprise Server has
	// https://HOST/api/v3.
	BaseURL string
}

// App logs in to Git servers as an installation of a GitHub App. Its tokens are kept until shortly
// before they end. It is safe for concurrent use.
type App struct {
	AppConfig

	mu      sync.Mutex
	token   string
	expires time.Time
}

const (
	githubAPI = "https://api.github.com"
	// appUser is the user's name that goes with the token of an installation.
	appUser = "x-access-token"
	// tokenMargin is how long before its end a token is no longer used. GitHub's last an hour.
	tokenMargin = 5 * time.Minute
	// claimAge and claimLife bound what the App says of itself, by a clock that may be late. GitHub
	// takes ten minutes at most.
	claimAge, claimLife = time.Minute, 8 * time.Minute
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 20
)

// login puts the credentials of the installation into the options. Any failure is an ErrAuth.
func (a *App) login(ctx context.Context, o *GitOptions) error {
	if strings.HasPrefix(o.URL, "ssh:") {
		return fmt.Errorf("%w: a GitHub App authenticates over https, not ssh", ErrURL)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.token == "" || time.Until(a.expires) < tokenMargin {
		if err := a.renew(ctx, o); err != nil {
			return fmt.Errorf("%w: GitHub App %q: %w", ErrAuth, a.ID, err)
		}
	}
	o.Username, o.Password, o.BearerToken = appUser, a.token, ""
	return nil
}

// forget drops a token that a server did not take: it may have been revoked.
func (a *App) forget() {
	a.mu.Lock()
	a.token = ""
	a.mu.Unlock()
}

func (a *App) renew(ctx context.Context, o *GitOptions) error {
	api, err := a.api(o)
	if err != nil {
		return err
	}
	defer api.client.CloseIdleConnections()
	installation := a.InstallationID
	if installation == "" {
		if installation, err = api.installation(ctx, a.InstallationOwner); err != nil {
			return err
		}
	}
	var given struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	if err := api.call(ctx, http.MethodPost, "/app/installations/"+installation+"/access_tokens", &given); err != nil {
		return err
	}
	if given.Token == "" {
		return errors.New("the API returned no token")
	}
	a.token, a.expires = given.Token, given.Expires
	return nil
}

// number is what the ID of an installation has to be.
var number = regexp.MustCompile(`^[0-9]+$`)

// api returns the API, with what the App says of itself.
func (a *App) api(o *GitOptions) (*appAPI, error) {
	switch {
	case a.ID == "":
		return nil, errors.New("its ID is missing")
	case a.InstallationID == "" && a.InstallationOwner == "":
		return nil, errors.New("the installation ID or owner is missing")
	case a.InstallationID != "" && a.InstallationOwner != "":
		return nil, errors.New("both the installation ID and owner are set; remove one")
	case a.InstallationID != "" && !number.MatchString(a.InstallationID):
		return nil, errors.New("the installation ID is not a number")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(a.PrivateKey))
	if err != nil {
		// The library's error may quote the key.
		return nil, errors.New("its private key is invalid: it must be an RSA key in PEM form")
	}
	now := time.Now()
	claim, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer: a.ID, IssuedAt: jwt.NewNumericDate(now.Add(-claimAge)), ExpiresAt: jwt.NewNumericDate(now.Add(claimLife)),
	}).SignedString(key)
	if err != nil {
		return nil, fmt.Errorf("signing its JWT: %w", err)
	}
	base := strings.TrimSuffix(a.BaseURL, "/")
	if base == "" {
		base = githubAPI
	}
	if u, err := url.Parse(base); err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the URL of its API must be https or http, name a host and contain no credentials")
	}
	client, err := apiClient(o)
	return &appAPI{client: client, base: base, claim: claim}, err
}

// apiClient goes to the API as the options say: by the same proxy, with the same certificates.
func apiClient(o *GitOptions) (*http.Client, error) {
	transport := reach(o.Egress)
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil {
			return nil, errors.New("the URL of the proxy cannot be parsed")
		}
		behind(transport, o.Egress, u)
	}
	if len(o.CAFile) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		pool.AppendCertsFromPEM(o.CAFile)
		transport.TLSClientConfig.RootCAs = pool
	}
	if len(o.ClientCert) > 0 || len(o.ClientKey) > 0 {
		pair, err := tls.X509KeyPair(o.ClientCert, o.ClientKey)
		if err != nil {
			return nil, errors.New("the client certificate and its key cannot be read, or do not match")
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}, nil
}

// appAPI is the API of a GitHub server, as an App sees it.
type appAPI struct {
	client      *http.Client
	base, claim string
}

// errNone is what the API does not have.
var errNone = errors.New("not found in the API")

// installation finds the installation of an organization, or else of a user.
func (api *appAPI) installation(ctx context.Context, owner string) (string, error) {
	var found struct {
		ID json.Number `json:"id"`
	}
	err := api.call(ctx, http.MethodGet, "/orgs/"+url.PathEscape(owner)+"/installation", &found)
	if errors.Is(err, errNone) {
		err = api.call(ctx, http.MethodGet, "/users/"+url.PathEscape(owner)+"/installation", &found)
	}
	if errors.Is(err, errNone) {
		return "", fmt.Errorf("it is not installed for %q", owner)
	}
	if err == nil && !number.MatchString(found.ID.String()) {
		err = fmt.Errorf("the API returned no installation ID for %q", owner)
	}
	return found.ID.String(), err
}

// call asks the API, which answers with 2xx and JSON.
func (api *appAPI) call(ctx context.Context, method, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, api.base+path, nil)
	if err != nil {
		return errors.New("the URL of its API cannot be parsed")
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	r.Header.Set("Authorization", "Bearer "+api.claim)
	r.Header.Set("User-Agent", "headgate")
	answer, err := api.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("requesting the API: %w", context.Cause(ctx))
		}
		// The library names the URL, which may be that of the proxy with its credentials.
		return fmt.Errorf("the API at %q cannot be reached: %w", api.base, inner(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("reading the response of the API: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s returns %q", errNone, path, answer.Status)
	case answer.StatusCode/100 != 2:
		return fmt.Errorf("the API returns %q%s", answer.Status, api.why(body))
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(into); err != nil {
		// The library's error may quote the answer, which holds a token.
		return errors.New("the response of the API is invalid")
	}
	return nil
}

// why is the reason that the API gives for a refusal.
func (api *appAPI) why(body []byte) string {
	var refusal struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &refusal) != nil || refusal.Message == "" || strings.Contains(refusal.Message, api.claim) {
		return ""
	}
	return ": " + refusal.Message[:min(len(refusal.Message), 200)]
}

// inner is an error without the URL that it is about.
func inner(err error) error {
	var about *url.Error
	if errors.As(err, &about) {
		return about.Err
	}
	return err
}
