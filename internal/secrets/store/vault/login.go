package vault

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

// margin is how long before its end a token is replaced.
const margin = 10 * time.Second

// request is one with a token, which may be empty, in a namespace.
func (c *Client) request(of, method, path string, body []byte, namespace, token string) rest.Request {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	header := http.Header{"X-Vault-Request": {"true"}}
	for name, value := range c.config.Headers {
		header.Set(name, value)
	}
	if namespace != "" {
		header.Set("X-Vault-Namespace", namespace)
	}
	if token != "" {
		header.Set("X-Vault-Token", token)
	}
	if c.config.ForwardInconsistent {
		header.Set("X-Vault-Inconsistent", "forward-active-node")
	}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	return rest.Request{Of: of, Method: method, URL: c.base + "/v1/" + strings.Join(parts, "/"), Header: header, Body: body}
}

// send sends a request with the token, after a login if there is none. A token that is refused is not used again.
func (c *Client) send(ctx context.Context, of, method, path string, query url.Values, body []byte) (rest.Answer, error) {
	token, err := c.authorize(ctx)
	if err != nil {
		return rest.Answer{}, err
	}
	request := c.request(of, method, path, body, c.config.Namespace, token)
	if len(query) > 0 {
		request.URL += "?" + query.Encode()
	}
	answer, err := rest.Do(ctx, c.http, request)
	if errors.Is(err, store.ErrDenied) {
		c.lock.Lock()
		defer c.lock.Unlock()
		if c.token == token {
			c.token = ""
		}
	}
	return answer, err
}

func (c *Client) json(ctx context.Context, of, path string, query url.Values, into any) error {
	answer, err := c.send(ctx, of, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	return rest.Decode(of, answer.Body, into)
}

// authorize returns a token that is valid as far as is known.
func (c *Client) authorize(ctx context.Context) (string, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.token != "" && (c.expires.IsZero() || time.Now().Before(c.expires)) {
		return c.token, nil
	}
	auth := c.config.Auth
	switch {
	case auth.Token != nil:
		token, err := store.Credential(c.lookup(ctx, *auth.Token))
		if err != nil {
			return "", fmt.Errorf("reading the token of Vault: %w", err)
		}
		c.token = token
		return token, nil
	case auth.AppRole != nil:
		return c.appRole(ctx, *auth.AppRole)
	default:
		token, err := auth.Kubernetes.JWT(ctx)
		if err != nil {
			return "", fmt.Errorf("requesting the token of the ServiceAccount: %w", err)
		}
		return c.login(ctx, cmp.Or(auth.Kubernetes.Path, "kubernetes"), map[string]string{"jwt": token, "role": auth.Kubernetes.Role})
	}
}

func (c *Client) appRole(ctx context.Context, role AppRole) (string, error) {
	id := role.RoleID
	if role.RoleRef != nil {
		var err error
		if id, err = store.Credential(c.lookup(ctx, *role.RoleRef)); err != nil {
			return "", fmt.Errorf("reading the identifier of the AppRole: %w", err)
		}
	}
	secret, err := store.Credential(c.lookup(ctx, role.Secret))
	if err != nil {
		return "", fmt.Errorf("reading the secret of the AppRole: %w", err)
	}
	return c.login(ctx, cmp.Or(role.Path, "approle"), map[string]string{"role_id": id, "secret_id": secret})
}

// login gets a token from a method. It is called with the lock.
func (c *Client) login(ctx context.Context, method string, credentials map[string]string) (string, error) {
	method = strings.Trim(method, "/")
	of := fmt.Sprintf("logging in to Vault by auth/%s", method)
	body, err := json.Marshal(credentials)
	if err != nil {
		return "", fmt.Errorf("%s: the credentials cannot be sent", of)
	}
	var answer struct {
		Auth struct {
			Token string `json:"client_token"`
			Lease int64  `json:"lease_duration"`
		}
	}
	request := c.request(of, http.MethodPost, "auth/"+method+"/login", body, cmp.Or(c.config.Auth.Namespace, c.config.Namespace), "")
	got, err := rest.JSON(ctx, c.http, request, &answer)
	switch {
	case err != nil && (got.Status == http.StatusBadRequest || got.Status == http.StatusNotFound):
		// So it answers credentials that it does not accept, and methods that it does not have.
		return "", fmt.Errorf("%w; the login was refused: %s", store.ErrDenied, err.Error())
	case err != nil:
		return "", err
	case answer.Auth.Token == "":
		return "", fmt.Errorf("%s: %w: it has no token", of, store.ErrMalformed)
	}
	c.token, c.ours, c.expires = answer.Auth.Token, true, time.Time{}
	if lease := time.Duration(answer.Auth.Lease) * time.Second; lease > 0 {
		c.expires = time.Now().Add(max(lease-margin, lease/2))
	}
	return c.token, nil
}
