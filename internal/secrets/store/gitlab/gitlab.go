// Package gitlab reads CI/CD variables of a project of GitLab and of groups.
//
// A variable of the project has precedence over those of groups, and of these the later over the earlier ones. The room refuses to write, versions and paths.
package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	everywhere = "*"
	scopeTag   = "environment_scope"
	perPage    = 100
	// maxGroups bounds the groups of a store.
	maxGroups = 50
)

// Config is a project with its groups, in an environment.
type Config struct {
	// URL is that of the server; the default is https://gitlab.com.
	URL string
	// Token refers to an access token with the scope read_api.
	Token store.SecretRef
	// Project is the number or the path of the project.
	Project string
	Groups  []string
	// Inherit adds the groups of the project.
	Inherit bool
	// Environment selects variables by their scope; variables of all environments count as well.
	Environment string
	TLS         rest.TLS
}

// Client is a store of this kind.
type Client struct {
	config Config
	base   string
	token  string
	http   *http.Client
}

var _ store.Client = (*Client)(nil)

// New checks the configuration and looks up the token. It sends nothing.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	server, err := url.Parse(cmp.Or(config.URL, "https://gitlab.com"))
	if err != nil || (server.Scheme != "http" && server.Scheme != "https") || server.Host == "" {
		return nil, errors.New("url is not a URL of http or https")
	}
	switch {
	case config.Project == "" && len(config.Groups) == 0:
		return nil, errors.New("the store has neither projectID nor groupIDs")
	case config.Inherit && (len(config.Groups) > 0 || config.Project == ""):
		return nil, errors.New("inheritFromGroups is for stores with projectID and without groupIDs")
	case len(config.Groups) > maxGroups:
		return nil, fmt.Errorf("groupIDs has %d groups; at most %d are permitted", len(config.Groups), maxGroups)
	}
	token, err := store.Credential(lookup(ctx, config.Token))
	if err != nil {
		return nil, fmt.Errorf("reading the access token of GitLab: %w", err)
	}
	trusting, err := rest.Trusting(client, config.TLS)
	if err != nil {
		return nil, err
	}
	return &Client{config, strings.TrimRight(server.String(), "/") + "/api/v4", token, trusting}, nil
}

// variable is one as GitLab has it.
type variable struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Scope string `json:"environment_scope"`
}

// Get returns a variable, or a property of its JSON. Hyphens in the key stand for underscores.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	if ref.Version != "" || ref.MetadataPolicy == store.MetadataFetch {
		return nil, fmt.Errorf("reading a version or metadata of the variable %q: %w", ref.Key, store.ErrUnsupported)
	}
	value, err := c.get(ctx, strings.ReplaceAll(ref.Key, "-", "_"))
	if err != nil || ref.Property == "" {
		return value, err
	}
	return store.Property(ctx, fmt.Sprintf("the variable %q", ref.Key), value, ref.Property)
}

// Map returns the fields of a variable that is a JSON object.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the variable %q", ref.Key), value)
}

func (c *Client) get(ctx context.Context, key string) ([]byte, error) {
	if c.config.Project != "" {
		value, err := c.scoped(ctx, "projects", c.config.Project, key)
		if !errors.Is(err, store.ErrNotFound) {
			return value, err
		}
	}
	groups, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	for i := len(groups) - 1; i >= 0; i-- {
		value, err := c.scoped(ctx, "groups", groups[i], key)
		if !errors.Is(err, store.ErrNotFound) {
			return value, err
		}
	}
	return nil, fmt.Errorf("reading the variable %q: %w", key, store.ErrNotFound)
}

// scoped returns the variable of the environment, or else the one of all environments.
func (c *Client) scoped(ctx context.Context, kind, of, key string) ([]byte, error) {
	scopes := []string{c.config.Environment}
	if c.config.Environment != "" && c.config.Environment != everywhere {
		scopes = append(scopes, everywhere)
	}
	var found variable
	var err error
	for _, scope := range scopes {
		query := url.Values{}
		if scope != "" {
			query.Set("filter["+scopeTag+"]", scope)
		}
		what := fmt.Sprintf("reading the variable %q of %s/%s", key, kind, of)
		_, err = rest.JSON(ctx, c.http, c.request(what, query, kind, of, "variables", key), &found)
		if !errors.Is(err, store.ErrNotFound) {
			break
		}
	}
	return []byte(found.Value), err
}

// Find returns variables by name. The only tag is environment_scope.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if find.Path != "" {
		return nil, fmt.Errorf("finding variables by path: %w", store.ErrUnsupported)
	}
	scope := c.config.Environment
	for tag, value := range find.Tags {
		switch {
		case tag != scopeTag:
			return nil, fmt.Errorf("finding variables by the tag %q: %w; there is only %s", tag, store.ErrUnsupported, scopeTag)
		case c.config.Environment != "":
			return nil, fmt.Errorf("finding variables by the tag %s in a store with an environment: %w", scopeTag, store.ErrUnsupported)
		}
		scope = value
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	groups, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	add := func(kind, of string) error {
		variables, err := c.list(ctx, kind, of)
		exact := map[string]bool{}
		for _, v := range variables {
			if !pattern.MatchString(v.Key) || exact[v.Key] || (scope != "" && v.Scope != scope && v.Scope != everywhere) {
				continue
			}
			found[v.Key], exact[v.Key] = []byte(v.Value), v.Scope == scope
		}
		return err
	}
	for _, group := range groups {
		if err := add("groups", group); err != nil {
			return nil, err
		}
	}
	if c.config.Project != "" {
		if err := add("projects", c.config.Project); err != nil {
			return nil, err
		}
	}
	if len(found) > store.MaxFound {
		return nil, store.TooMany("finding variables")
	}
	return found, nil
}

// list returns all variables, page by page.
func (c *Client) list(ctx context.Context, kind, of string) ([]variable, error) {
	var all []variable
	what := fmt.Sprintf("listing the variables of %s/%s", kind, of)
	for page := 1; ; page++ {
		var some []variable
		query := url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}
		if _, err := rest.JSON(ctx, c.http, c.request(what, query, kind, of, "variables"), &some); err != nil {
			return nil, unlisted(err)
		}
		all = append(all, some...)
		if len(all) > store.MaxFound {
			return nil, store.TooMany(what)
		}
		if len(some) < perPage {
			return all, nil
		}
	}
}

// groups are those of the configuration, or of the project from the outermost on.
func (c *Client) groups(ctx context.Context) ([]string, error) {
	if !c.config.Inherit {
		return c.config.Groups, nil
	}
	var groups []struct {
		ID   int64  `json:"id"`
		Path string `json:"full_path"`
	}
	what := fmt.Sprintf("listing the groups of projects/%s", c.config.Project)
	if _, err := rest.JSON(ctx, c.http, c.request(what, url.Values{"per_page": {strconv.Itoa(perPage)}}, "projects", c.config.Project, "groups"), &groups); err != nil {
		return nil, unlisted(err)
	}
	if len(groups) > maxGroups {
		return nil, fmt.Errorf("%s: %w: there are more than %d", what, store.ErrTooLarge, maxGroups)
	}
	var ids []string
	for depth := range maxGroups {
		for _, group := range groups {
			if min(strings.Count(group.Path, "/"), maxGroups-1) == depth {
				ids = append(ids, strconv.FormatInt(group.ID, 10))
			}
		}
	}
	return ids, nil
}

// unlisted keeps a project that is missing from being taken for a variable that is.
func unlisted(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w, or there is no such project or group: %s", store.ErrDenied, err.Error())
	}
	return err
}

func (c *Client) request(what string, query url.Values, parts ...string) rest.Request {
	address := c.base
	for _, part := range parts {
		address += "/" + url.PathEscape(part)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return rest.Request{Of: what, Method: http.MethodGet, URL: address, Header: http.Header{"Private-Token": {c.token}, "Accept": {"application/json"}}}
}

// Check lists the variables of the project and of the groups.
func (c *Client) Check(ctx context.Context) error {
	groups, err := c.groups(ctx)
	if err != nil {
		return err
	}
	if c.config.Project != "" {
		if _, err := c.list(ctx, "projects", c.config.Project); err != nil {
			return err
		}
	}
	for _, group := range groups {
		if _, err := c.list(ctx, "groups", group); err != nil {
			return err
		}
	}
	return nil
}

// Push is unsupported.
func (c *Client) Push(_ context.Context, ref store.PushRef, _ []byte) error {
	return fmt.Errorf("pushing the variable %q: %w", ref.Key, store.ErrUnsupported)
}

// Delete is unsupported.
func (c *Client) Delete(_ context.Context, ref store.PushRef) error {
	return fmt.Errorf("deleting the variable %q: %w", ref.Key, store.ErrUnsupported)
}

// Exists is unsupported.
func (c *Client) Exists(_ context.Context, ref store.PushRef) (bool, error) {
	return false, fmt.Errorf("finding out whether the variable %q exists, for a push: %w", ref.Key, store.ErrUnsupported)
}

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
