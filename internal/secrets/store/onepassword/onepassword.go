// Package onepassword reads and writes items of 1Password through a Connect server.
//
// Vaults are asked in the order of the configuration. An item is known by its title or its identifier of 26 characters, a
// value in it by the label of its field or the name of its file. The room refuses to choose among several items or fields of the
// same name, versions, which Connect does not have, and the cloud service without a Connect server: its API, which service
// accounts use, encrypts by a protocol that is not published, inside a library of 1Password alone.
package onepassword

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Config is a Connect server and the vaults that a store has.
type Config struct {
	// Host is the URL of the server.
	Host string
	// Vaults have their place in the order by name or identifier. Places are unique.
	Vaults map[string]int
	// Token refers to the access token of the server.
	Token store.SecretRef
	// Settle is how long Push waits until the server shows what was written; the default is 5 s.
	Settle time.Duration
}

// interval is the time between two readings of what was written.
const interval = 500 * time.Millisecond

// Client is a store of this kind.
type Client struct {
	config Config
	base   string
	vaults []string
	token  string
	http   *http.Client

	lock sync.Mutex
	ids  map[string]string
}

var _ store.Client = (*Client)(nil)

// New checks the configuration and looks up the token. It sends nothing.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	host, err := url.Parse(config.Host)
	if err != nil || (host.Scheme != "http" && host.Scheme != "https") || host.Host == "" {
		return nil, errors.New("connectHost is not a URL of http or https")
	}
	if len(config.Vaults) == 0 {
		return nil, errors.New("vaults must have at least one vault")
	}
	vaults, places := []string{}, map[int]string{}
	for name, place := range config.Vaults {
		if other, taken := places[place]; taken {
			return nil, fmt.Errorf("the vaults %q and %q have the same place %d in the order", min(name, other), max(name, other), place)
		}
		places[place] = name
		vaults = append(vaults, name)
	}
	slices.SortFunc(vaults, func(a, b string) int { return cmp.Compare(config.Vaults[a], config.Vaults[b]) })
	token, err := store.Credential(lookup(ctx, config.Token))
	if err != nil {
		return nil, fmt.Errorf("reading the token of the Connect server: %w", err)
	}
	if config.Settle == 0 {
		config.Settle = 5 * time.Second
	}
	base := strings.TrimRight(host.String(), "/")
	return &Client{config: config, base: base, vaults: vaults, token: token, http: client, ids: map[string]string{}}, nil
}

// Get returns a field or a file. The default property is the field password; of a document it is the first file.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	it, err := c.refer(ctx, ref)
	if err != nil {
		return nil, err
	}
	isFile, property := kindOf(it, ref.Property)
	if isFile {
		for _, f := range it.Files {
			if property == "" || f.Name == property {
				return c.content(ctx, it, f)
			}
		}
		return nil, fmt.Errorf("the item %q: %w %q among its files", it.Title, store.ErrNoProperty, property)
	}
	f, err := it.field(cmp.Or(property, "password"))
	if err != nil {
		return nil, err
	}
	return []byte(f.Value), nil
}

// Map returns all fields of an item, or all files of a document. A property selects one of them.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	it, err := c.refer(ctx, ref)
	if err != nil {
		return nil, err
	}
	values := map[string][]byte{}
	isFile, property := kindOf(it, ref.Property)
	selected := func(name string) bool { return property == "" || name == property }
	if isFile {
		return values, c.addFiles(ctx, it, selected, values)
	}
	return values, it.addFields(selected, values)
}

// Find returns fields and files of items, by label and name. A path is the title of the item; tags are names of tags. With the
// same name in several items the first one counts.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	values := map[string][]byte{}
	for _, vault := range c.vaults {
		id, err := c.vault(ctx, vault)
		if err != nil {
			return nil, err
		}
		items, err := c.list(ctx, vault, id, "")
		if err != nil {
			return nil, err
		}
		for _, short := range items {
			if !short.selected(find) {
				continue
			}
			it, err := c.item(ctx, vault, id, short.ID)
			if err != nil {
				return nil, err
			}
			if err := c.addFiles(ctx, it, pattern.MatchString, values); err != nil {
				return nil, err
			}
			if err := it.addFields(pattern.MatchString, values); err != nil {
				return nil, err
			}
			if len(values) > store.MaxFound {
				return nil, store.TooMany("finding in 1Password")
			}
		}
	}
	return values, nil
}

// Check reads all vaults.
func (c *Client) Check(ctx context.Context) error {
	for _, vault := range c.vaults {
		if _, err := c.readVault(ctx, vault); err != nil {
			return err
		}
	}
	return nil
}

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// refer finds the item that a Ref names.
func (c *Client) refer(ctx context.Context, ref store.Ref) (*item, error) {
	if ref.Version != "" {
		return nil, fmt.Errorf("reading version %q of %q in 1Password: %w", ref.Version, ref.Key, store.ErrUnsupported)
	}
	if ref.MetadataPolicy == store.MetadataFetch {
		return nil, fmt.Errorf("reading metadata of %q in 1Password: %w", ref.Key, store.ErrUnsupported)
	}
	return c.find(ctx, ref.Key)
}

// find returns the item with a title or an identifier from the first vault that has it.
func (c *Client) find(ctx context.Context, key string) (*item, error) {
	for _, vault := range c.vaults {
		id, err := c.vault(ctx, vault)
		if err != nil {
			return nil, err
		}
		if isID(key) {
			it, err := c.item(ctx, vault, id, key)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			return it, err
		}
		items, err := c.list(ctx, vault, id, key)
		if err != nil {
			return nil, err
		}
		switch len(items) {
		case 0:
			continue
		case 1:
			return c.item(ctx, vault, id, items[0].ID)
		default:
			return nil, fmt.Errorf("the vault %q has %d items with the title %q; name the item by its identifier", vault, len(items), key)
		}
	}
	return nil, fmt.Errorf("reading the item %q of the vaults %s: %w", key, strings.Join(c.vaults, ", "), store.ErrNotFound)
}
