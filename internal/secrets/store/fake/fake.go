// Package fake is a store whose secrets are written in its configuration, for tests and demonstrations.
//
// It refuses paths and tags, which its secrets do not have. What is pushed is kept for as long as the process, for the store of that name.
package fake

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Entry is a value, or one version of it.
type Entry struct {
	Key, Value, Version string
}

// Pushed has what was pushed to stores, by the name of the store. The zero value is ready for use.
type Pushed struct {
	lock   sync.Mutex
	stores map[string]map[string][]byte
}

// Forget drops what was pushed to a store, as when its declaration is gone.
func (p *Pushed) Forget(name string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.stores, name)
}

// Config are the secrets of a store. Of the same key and version the last entry is the value.
type Config struct {
	// Name is that of the store, unique in the process, under which Pushed has its values.
	Name    string
	Entries []Entry
	// Rejected is what Check fails with, when it is not empty.
	Rejected string
}

// Client is a store of this kind.
type Client struct {
	config Config
	pushed *Pushed
}

var _ store.Client = (*Client)(nil)

// New returns the store.
func New(config Config, pushed *Pushed) *Client { return &Client{config, pushed} }

// Get returns the entry of the key and of the version; without a version the one that has none, or what was pushed.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	if ref.MetadataPolicy == store.MetadataFetch {
		return nil, fmt.Errorf("reading metadata of %q from the fake store: %w", ref.Key, store.ErrUnsupported)
	}
	value, has := c.values(ref.Version)[ref.Key]
	if !has {
		return nil, fmt.Errorf("reading %q version %q of the fake store: %w", ref.Key, ref.Version, store.ErrNotFound)
	}
	if err := store.Fetched(ctx, len(value)); err != nil || ref.Property == "" {
		return value, err
	}
	return store.Property(ctx, fmt.Sprintf("the value of %q in the fake store", ref.Key), value, ref.Property)
}

// Map returns the fields of a value that is a JSON object.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the value of %q in the fake store", ref.Key), value)
}

// Find returns the values whose keys match a name.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if find.Path != "" || len(find.Tags) > 0 {
		return nil, fmt.Errorf("finding by path or tags in the fake store: %w", store.ErrUnsupported)
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	found := c.newest()
	maps.DeleteFunc(found, func(key string, _ []byte) bool { return !pattern.MatchString(key) })
	if len(found) > store.MaxFound {
		return nil, store.TooMany("finding in the fake store")
	}
	for _, value := range found {
		if err := store.Fetched(ctx, len(value)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// values are those of a version; the empty one is that of entries without one, and of what was pushed.
func (c *Client) values(version string) map[string][]byte {
	values := map[string][]byte{}
	for _, entry := range c.config.Entries {
		if entry.Version == version {
			values[entry.Key] = []byte(entry.Value)
		}
	}
	if version == "" {
		c.addPushed(values)
	}
	return values
}

// newest are the values of the highest version of each key.
func (c *Client) newest() map[string][]byte {
	values, versions := map[string][]byte{}, map[string]string{}
	for _, entry := range c.config.Entries {
		if entry.Version >= versions[entry.Key] {
			values[entry.Key], versions[entry.Key] = []byte(entry.Value), entry.Version
		}
	}
	c.addPushed(values)
	return values
}

func (c *Client) addPushed(values map[string][]byte) {
	c.pushed.lock.Lock()
	defer c.pushed.lock.Unlock()
	for key, value := range c.pushed.stores[c.config.Name] {
		values[key] = bytes.Clone(value)
	}
}

// Push keeps a value; with a property it sets the field of an object.
func (c *Client) Push(_ context.Context, ref store.PushRef, value []byte) error {
	c.pushed.lock.Lock()
	defer c.pushed.lock.Unlock()
	if c.pushed.stores == nil {
		c.pushed.stores = map[string]map[string][]byte{}
	}
	values := c.pushed.stores[c.config.Name]
	if values == nil {
		values = map[string][]byte{}
		c.pushed.stores[c.config.Name] = values
	}
	if _, has := values[ref.Key]; !has && len(values) >= store.MaxFound {
		return fmt.Errorf("pushing %q to the fake store: it has %d secrets, which is its bound", ref.Key, store.MaxFound)
	}
	if ref.Property != "" {
		object, err := store.WithProperty(fmt.Sprintf("the value of %q in the fake store", ref.Key), values[ref.Key], ref.Property, value)
		if err != nil {
			return err
		}
		value = object
	}
	values[ref.Key] = bytes.Clone(value)
	return nil
}

// Delete drops what was pushed. Entries of the configuration stay.
func (c *Client) Delete(_ context.Context, ref store.PushRef) error {
	c.pushed.lock.Lock()
	defer c.pushed.lock.Unlock()
	values := c.pushed.stores[c.config.Name]
	value, has := values[ref.Key]
	if !has {
		return nil
	}
	if ref.Property != "" {
		rest, left, err := store.WithoutProperty(fmt.Sprintf("the value of %q in the fake store", ref.Key), value, ref.Property)
		if err != nil {
			return err
		}
		if left > 0 {
			values[ref.Key] = rest
			return nil
		}
	}
	delete(values, ref.Key)
	return nil
}

// Exists reports whether the key has a value, or the property.
func (c *Client) Exists(_ context.Context, ref store.PushRef) (bool, error) {
	value, has := c.values("")[ref.Key]
	if !has || ref.Property == "" {
		return has, nil
	}
	fields, err := store.Fields(fmt.Sprintf("the value of %q in the fake store", ref.Key), value)
	_, has = fields[ref.Property]
	return has && err == nil, nil
}

// Check fails when the configuration says so.
func (c *Client) Check(context.Context) error {
	if c.config.Rejected != "" {
		return fmt.Errorf("the fake store is configured to fail: %s", c.config.Rejected)
	}
	return nil
}

// Close does nothing.
func (c *Client) Close() error { return nil }
