// Package vault reads and writes secrets of the KV engines of Vault and OpenBao, versions 1 and 2.
//
// It logs in with a token, an AppRole or an account of Kubernetes, and revokes the tokens that it got by logging in. Secrets that
// another program manages are not written. The room refuses versions of KV 1, searches in KV 1, which has no metadata, and keys that leave their mount.
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
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

// Config is a KV engine of a server, and how to log in.
type Config struct {
	// Server is the URL of the server.
	Server string
	// Path is the mount of the engine. Without one the first part of each key is the mount.
	Path string
	// Version of the engine is v1 or v2, the default.
	Version string
	// Namespace is that of Vault Enterprise and OpenBao.
	Namespace string
	// Headers are sent with every request.
	Headers map[string]string
	// ForwardInconsistent has the active node answer when a standby does not have the newest state.
	ForwardInconsistent bool
	TLS                 rest.TLS
	Auth                Auth
}

// Auth has one way to log in.
type Auth struct {
	// Namespace is where to log in, when it is not the one of the secrets.
	Namespace  string
	Token      *store.SecretRef
	AppRole    *AppRole
	Kubernetes *Kubernetes
}

// AppRole is a login with two identifiers, of which the first is given as it is or by reference.
type AppRole struct {
	// Path is the mount of the method; the default is approle.
	Path    string
	RoleID  string
	RoleRef *store.SecretRef
	Secret  store.SecretRef
}

// Kubernetes is a login with a token of a ServiceAccount.
type Kubernetes struct {
	// Path is the mount of the method; the default is kubernetes.
	Path string
	Role string
	// JWT returns the token of the account.
	JWT func(context.Context) (string, error)
}

// Client is a store of this kind.
type Client struct {
	// rest outlives requests: Close revokes the token by it.
	rest   context.Context
	config Config
	lookup store.Lookup
	base   string
	http   *http.Client

	lock sync.Mutex
	// token is used until expires, when that is not zero; ours says that it comes from a login.
	token   string
	expires time.Time
	ours    bool
}

var _ store.Client = (*Client)(nil)

// New checks the configuration. It sends nothing; the login is made by the first request.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	server, err := url.Parse(config.Server)
	if err != nil || (server.Scheme != "http" && server.Scheme != "https") || server.Host == "" {
		return nil, errors.New("server is not a URL of http or https")
	}
	switch config.Version {
	case "":
		config.Version = "v2"
	case "v1", "v2":
	default:
		return nil, fmt.Errorf("version %q is not one of v1, v2", config.Version)
	}
	ways := 0
	for _, has := range []bool{config.Auth.Token != nil, config.Auth.AppRole != nil, config.Auth.Kubernetes != nil} {
		if has {
			ways++
		}
	}
	if ways != 1 {
		return nil, fmt.Errorf("auth has %d of tokenSecretRef, appRole and kubernetes, want one", ways)
	}
	trusting, err := rest.Trusting(client, config.TLS)
	if err != nil {
		return nil, err
	}
	config.Path = strings.Trim(config.Path, "/")
	return &Client{rest: context.WithoutCancel(ctx), config: config, lookup: lookup, base: strings.TrimRight(server.String(), "/"), http: trusting}, nil
}

// Get returns a property of a secret, or all of it as JSON. A property is a key, dots included, or a path into its JSON.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	if ref.MetadataPolicy == store.MetadataFetch {
		meta, err := c.metadata(ctx, ref.Key)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(meta.Custom)
		if err != nil || ref.Property == "" {
			return text, err
		}
		return store.Property(ctx, fmt.Sprintf("the metadata of %q", ref.Key), text, ref.Property)
	}
	data, err := c.read(ctx, ref.Key, ref.Version)
	if err != nil {
		return nil, err
	}
	return store.Property(ctx, fmt.Sprintf("the secret %q", ref.Key), data, ref.Property)
}

// Map returns the keys of a secret, or of the object that a property of it is.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the secret %q", ref.Key), value)
}

// Check asks the server about the token, after a login.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.send(ctx, "checking the token", http.MethodGet, "auth/token/lookup-self", nil, nil)
	return err
}

// Close revokes a token that comes from a login.
func (c *Client) Close() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	defer c.http.CloseIdleConnections()
	if !c.ours || c.token == "" {
		return nil
	}
	token := c.token
	c.token = ""
	request := c.request("revoking the token", http.MethodPost, "auth/token/revoke-self", nil, cmp.Or(c.config.Auth.Namespace, c.config.Namespace), token)
	_, err := rest.Do(c.rest, c.http, request)
	return err
}

// location splits a key into its mount and the path below it.
func (c *Client) location(key string) (mount, path string, err error) {
	key = strings.Trim(key, "/")
	mount, path = c.config.Path, key
	if mount == "" {
		mount, path, _ = strings.Cut(key, "/")
	} else if below, ok := strings.CutPrefix(key, mount+"/"); ok {
		path = below
	}
	// Keys are also written as the API has them.
	if below, ok := strings.CutPrefix(path, "data/"); ok && c.config.Version == "v2" && (path != key || c.config.Path == "") {
		path = below
	}
	if mount == "" || path == "" {
		return "", "", fmt.Errorf("the key %q has no path below the mount", key)
	}
	for part := range strings.SplitSeq(mount+"/"+path, "/") {
		if part == "" || part == "." || part == ".." {
			return "", "", fmt.Errorf("the key %q has an empty part, or one that leaves its mount", key)
		}
	}
	return mount, path, nil
}

// read returns the data of a secret as a JSON object.
func (c *Client) read(ctx context.Context, key, version string) (json.RawMessage, error) {
	mount, path, err := c.location(key)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("reading the secret %q", key)
	if c.config.Version == "v1" {
		if version != "" {
			return nil, fmt.Errorf("%s: version %q of an engine of version 1: %w", of, version, store.ErrUnsupported)
		}
		var answer struct{ Data json.RawMessage }
		if err := c.json(ctx, of, mount+"/"+path, nil, &answer); err != nil {
			return nil, err
		}
		return object(of, answer.Data)
	}
	query := url.Values{}
	if version != "" {
		query.Set("version", version)
	}
	var answer struct {
		Data struct{ Data json.RawMessage }
	}
	if err := c.json(ctx, of, mount+"/data/"+path, query, &answer); err != nil {
		return nil, err
	}
	return object(of, answer.Data.Data)
}

// object checks that an answer has data. A version that was deleted has none.
func object(of string, data json.RawMessage) (json.RawMessage, error) {
	switch {
	case string(data) == "null":
		return nil, fmt.Errorf("%s: %w: the version was deleted", of, store.ErrNotFound)
	case len(data) == 0 || data[0] != '{':
		return nil, fmt.Errorf("%s: %w: it has no data", of, store.ErrMalformed)
	}
	return data, nil
}

// metadata is what KV 2 records about a secret.
type metadata struct {
	Current int               `json:"current_version"`
	Custom  map[string]string `json:"custom_metadata"`
}

func (c *Client) metadata(ctx context.Context, key string) (metadata, error) {
	if c.config.Version == "v1" {
		return metadata{}, fmt.Errorf("reading metadata of %q from an engine of version 1: %w", key, store.ErrUnsupported)
	}
	mount, path, err := c.location(key)
	if err != nil {
		return metadata{}, err
	}
	var answer struct{ Data *metadata }
	of := fmt.Sprintf("reading the metadata of the secret %q", key)
	if err := c.json(ctx, of, mount+"/metadata/"+path, nil, &answer); err != nil {
		return metadata{}, err
	}
	if answer.Data == nil {
		return metadata{}, fmt.Errorf("%s: %w: it has no data", of, store.ErrMalformed)
	}
	return *answer.Data, nil
}
