package registry

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	tokenPath = "/v2/token"
	// service names this registry in tokens, as Gitea's does.
	service = "container_registry"
	// lifetime is that of a token.
	lifetime = 5 * time.Minute
	// maxScopes bounds the scopes of one token.
	maxScopes = 32
)

// tokens signs and verifies tokens. The key is that of this process: clients get another token after a restart.
type tokens struct{ key [32]byte }

// grant is access to an image in a token.
type grant struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Actions []Access `json:"actions"`
}

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims
	Access []grant `json:"access"`
	// Public is that of the account.
	Public bool `json:"public,omitempty"`
}

func (t *tokens) sign(who Account, access []grant, now time.Time) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: service, Audience: jwt.ClaimStrings{service}, Subject: who.Login,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(lifetime)),
		},
		Access: access, Public: who.Public,
	}).SignedString(t.key[:])
}

func (t *tokens) verify(token string) (claims, error) {
	var said claims
	_, err := jwt.ParseWithClaims(token, &said, func(*jwt.Token) (any, error) { return t.key[:], nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(service), jwt.WithAudience(service), jwt.WithExpirationRequired())
	return said, err
}

// issue answers requests for tokens: anyone gets one, with the access that the account has.
func (r *Registry) issue(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet {
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "tokens are requested by GET")
		return
	}
	var who Account
	if user, password, given := req.BasicAuth(); given {
		var ok bool
		if who, ok = r.cfg.Accounts.Authenticate(req.Context(), user, password); !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="`+service+`"`)
			fail(w, http.StatusUnauthorized, "UNAUTHORIZED", "the user name or the password is wrong")
			return
		}
	} else if req.Header.Get("Authorization") != "" {
		fail(w, http.StatusUnauthorized, "UNAUTHORIZED", "tokens are given for basic authentication")
		return
	}
	var scopes []string
	for _, scope := range req.URL.Query()["scope"] {
		scopes = append(scopes, strings.Fields(scope)...)
	}
	if len(scopes) > maxScopes {
		fail(w, http.StatusBadRequest, "UNSUPPORTED", "there are too many scopes")
		return
	}
	access := []grant{}
	for _, scope := range scopes {
		if one, ok := r.granted(req.Context(), who, scope); ok {
			access = append(access, one)
		}
	}
	now := time.Now()
	token, err := r.tokens.sign(who, access, now)
	if err != nil {
		fail(w, http.StatusInternalServerError, "UNKNOWN", "the token could not be signed")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	reply(w, http.StatusOK, map[string]any{
		"token": token, "access_token": token, "expires_in": int(lifetime.Seconds()), "issued_at": now.UTC().Format(time.RFC3339),
	})
}

// granted is what an account gets of a scope TYPE:NAME:ACTION,...
func (r *Registry) granted(ctx context.Context, who Account, scope string) (grant, bool) {
	parts := strings.Split(scope, ":")
	if len(parts) != 3 {
		return grant{}, false
	}
	if parts[0] == "registry" && parts[1] == "catalog" {
		return grant{Type: parts[0], Name: parts[1]}, true
	}
	to, valid := named(target{}, strings.Split(parts[1], "/"))
	if parts[0] != "repository" || !valid {
		return grant{}, false
	}
	owner, known := r.cfg.Accounts.Owner(ctx, to.owner)
	if !known {
		return grant{}, false
	}
	one := grant{Type: parts[0], Name: to.name()}
	for _, action := range []Access{Pull, Push, Delete} {
		asked := slices.Contains(strings.Split(parts[2], ","), string(action)) || parts[2] == "*"
		if asked && who.may(action) && r.permits(ctx, who, owner, action) {
			one.Actions = append(one.Actions, action)
		}
	}
	return one, len(one.Actions) > 0
}

// may reports whether an access is within what an account came with.
func (a Account) may(access Access) bool { return !a.ReadOnly || access == Pull }

// permits reports whether an account has access to the images of an owner, within what it came with.
func (r *Registry) permits(ctx context.Context, who Account, owner string, access Access) bool {
	return r.cfg.Accounts.Permits(ctx, who.Login, owner, access) && (!who.Public || r.cfg.Accounts.Permits(ctx, "", owner, Pull))
}

// admit tells who asks, having made sure that this is permitted. It answers requests that are not.
func (r *Registry) admit(w http.ResponseWriter, req *http.Request, to target) (Account, bool) {
	access := needed(req.Method)
	who, holds, err := r.identify(req)
	if err != nil {
		r.challenge(w, req, to, access, err.Error())
		return Account{}, false
	}
	if to.image == "" {
		return who, true
	}
	owner, known := r.cfg.Accounts.Owner(req.Context(), to.owner)
	if !holds(to.name(), access) {
		r.challenge(w, req, to, access, "the token has no such access")
		return Account{}, false
	}
	if !known || !r.permits(req.Context(), who, owner, access) {
		fail(w, http.StatusForbidden, "DENIED", "the account has no permission to "+string(access)+" images of this owner")
		return Account{}, false
	}
	return who, true
}

// needed is the access that a method needs.
func needed(method string) Access {
	switch method {
	case http.MethodGet, http.MethodHead:
		return Pull
	case http.MethodDelete:
		return Delete
	default:
		return Push
	}
}

// identify returns the account that asks, and whether what it came with holds access to an image.
func (r *Registry) identify(req *http.Request) (Account, func(name string, access Access) bool, error) {
	if user, password, given := req.BasicAuth(); given {
		who, ok := r.cfg.Accounts.Authenticate(req.Context(), user, password)
		if !ok {
			return Account{}, nil, errors.New("the user name or the password is wrong")
		}
		return who, func(_ string, access Access) bool { return who.may(access) }, nil
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Account{}, nil, errors.New("authentication is required")
	}
	said, err := r.tokens.verify(strings.TrimSpace(token))
	if err != nil {
		return Account{}, nil, errors.New("the token is invalid or has expired")
	}
	return Account{Login: said.Subject, Public: said.Public}, func(name string, access Access) bool {
		return slices.ContainsFunc(said.Access, func(one grant) bool { return one.Name == name && slices.Contains(one.Actions, access) })
	}, nil
}

// challenge answers 401 with where a token is to be had, and for what.
func (r *Registry) challenge(w http.ResponseWriter, req *http.Request, to target, access Access, why string) {
	base := r.cfg.URL
	if base == "" {
		at := url.URL{Scheme: "http", Host: req.Host}
		if req.TLS != nil {
			at.Scheme = "https"
		}
		base = at.String()
	}
	if strings.ContainsAny(base, "\"\\") {
		fail(w, http.StatusBadRequest, "UNSUPPORTED", "the header Host is malformed")
		return
	}
	says := `Bearer realm="` + strings.TrimSuffix(base, "/") + tokenPath + `",service="` + service + `"`
	switch {
	case to.image != "" && access == Push:
		says += `,scope="repository:` + to.name() + `:pull,push"`
	case to.image != "":
		says += `,scope="repository:` + to.name() + ":" + string(access) + `"`
	case to.part == partCatalog:
		says += `,scope="registry:catalog:*"`
	}
	w.Header().Set("WWW-Authenticate", says)
	fail(w, http.StatusUnauthorized, "UNAUTHORIZED", why)
}
