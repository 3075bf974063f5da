// Package github gets tokens of installations of GitHub Apps.
//
// Each call gets another token, which GitHub ends after an hour. The room refuses to keep tokens, to follow redirects to other servers and
// to show what GitHub answers.
package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	// TokenKey is the key of the token.
	TokenKey = "token"

	api = "https://api.github.com"
	// age and life bound what an App says of itself, by a clock that may be late. GitHub takes ten minutes at most.
	age, life = time.Minute, 5 * time.Minute
	// most bounds the repositories of a token, as GitHub does, and its permissions.
	most = 500
)

// number is the form of identifiers of installations.
var number = regexp.MustCompile(`^[0-9]{1,20}$`)

// Config is an App, and what a token of it is for.
type Config struct {
	// URL of the API; the default is that of github.com.
	URL string
	// App is the number or the client ID of the App, Installation the number of an installation of it.
	App, Installation string
	// Key is an RSA key of the App in PEM.
	Key []byte
	// Repositories are by name, without their owner; none are all of the installation. Permissions are levels by name; none are all of the App.
	Repositories []string
	Permissions  map[string]string
}

// Token gets a token. It fails with the kinds of failures of the package store.
func Token(ctx context.Context, c Config, client *http.Client) (map[string][]byte, error) {
	base := strings.TrimRight(cmp.Or(c.URL, api), "/")
	switch at, err := url.Parse(base); {
	case err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return nil, errors.New("url is not that of an API over http or https")
	case c.App == "":
		return nil, errors.New("appID is empty")
	case !number.MatchString(c.Installation):
		return nil, errors.New("installID is not a number")
	case len(c.Repositories) > most || len(c.Permissions) > most:
		return nil, fmt.Errorf("repositories or permissions has more than %d entries", most)
	}
	signed, err := signature(c)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(struct {
		Repositories []string          `json:"repositories,omitempty"`
		Permissions  map[string]string `json:"permissions,omitempty"`
	}{c.Repositories, c.Permissions})
	if err != nil {
		return nil, fmt.Errorf("repositories and permissions cannot be written as JSON: %w", err)
	}
	of := fmt.Sprintf("getting a token of installation %s of the GitHub App", c.Installation)
	var answer struct {
		Token string `json:"token"`
	}
	_, err = rest.JSON(ctx, client, rest.Request{
		Of: of, Method: http.MethodPost, URL: base + "/app/installations/" + c.Installation + "/access_tokens", Body: body,
		Header: http.Header{"Authorization": {"Bearer " + signed}, "Accept": {"application/vnd.github+json"}, "Content-Type": {"application/json"}},
	}, &answer)
	switch {
	case errors.Is(err, store.ErrNotFound):
		// An ExternalSecret would take it for a value that is gone.
		return nil, fmt.Errorf("%s: the App has no such installation (404 Not Found); check installID", of)
	case err != nil:
		return nil, err
	case answer.Token == "":
		return nil, fmt.Errorf("%s: %w: it has no token", of, store.ErrMalformed)
	}
	return map[string][]byte{TokenKey: []byte(answer.Token)}, nil
}

// signature is how an App says who it is.
func signature(c Config) (string, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM(c.Key)
	if err != nil {
		// The error of the parser may quote the key.
		return "", errors.New("the private key of the App is not an RSA key in PEM")
	}
	now := time.Now()
	claims := jwt.RegisteredClaims{Issuer: c.App, IssuedAt: jwt.NewNumericDate(now.Add(-age)), ExpiresAt: jwt.NewNumericDate(now.Add(life))}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	if err != nil {
		return "", errors.New("the private key of the App cannot sign; use an RSA key that GitHub has made")
	}
	return signed, nil
}
