package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// service is what differs between the two.
type service interface {
	read(ctx context.Context, name, version string) ([]byte, error)
	tags(ctx context.Context, name string) (map[string]string, error)
	find(ctx context.Context, find store.Find, pattern *regexp.Regexp) (map[string][]byte, error)
	// state returns what is there before it is written, with no value when it has none, or nil when there is nothing.
	state(ctx context.Context, name string) (*state, error)
	create(ctx context.Context, name string, value []byte, meta metadata) error
	update(ctx context.Context, name string, value []byte, meta metadata) error
	retag(ctx context.Context, name string, set map[string]string, remove []string) error
	remove(ctx context.Context, name string) error
	check(ctx context.Context) error
}

// state is a secret before it is written.
type state struct {
	value []byte
	tags  map[string]string
}

func (s *state) ours() bool { return s.tags[managedBy] == manager }

// Get returns a secret, or a property of its JSON. Metadata are its tags.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	if ref.Key == "" {
		return nil, errors.New("the key is empty")
	}
	name := c.prefix + ref.Key
	if ref.MetadataPolicy == store.MetadataFetch {
		tags, err := c.service.tags(ctx, name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(tags)
		if err != nil {
			return nil, fmt.Errorf("the tags of %q cannot be written as JSON", ref.Key)
		}
		return store.Property(ctx, fmt.Sprintf("the tags of %q", ref.Key), value, ref.Property)
	}
	value, err := c.service.read(ctx, name, ref.Version)
	if err != nil {
		return nil, err
	}
	return store.Property(ctx, fmt.Sprintf("the secret %q", ref.Key), value, ref.Property)
}

// Map returns the fields of a secret that is a JSON object, or of a property of it.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the secret %q", ref.Key), value)
}

// Find returns secrets by their whole names. A path is the beginning of names in Secrets Manager, and a level of the hierarchy in
// Parameter Store.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	return c.service.find(ctx, find, pattern)
}

// Push sets a secret, or a property of its JSON. Tags are changed when the metadata has some.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	name, of := c.prefix+ref.Key, fmt.Sprintf("pushing the secret %q", ref.Key)
	meta, err := readMetadata(of, ref.Metadata)
	if err != nil {
		return err
	}
	now, err := c.service.state(ctx, name)
	if err != nil {
		return err
	}
	if now != nil && !now.ours() {
		return fmt.Errorf("%s: %w", of, store.ErrNotOurs)
	}
	if ref.Whole && c.encodes && !meta.EncodeAsDecoded {
		if value, err = encoded(of, value); err != nil {
			return err
		}
	}
	if ref.Property != "" {
		var object []byte
		if now != nil {
			object = now.value
		}
		if value, err = store.WithProperty(of, object, ref.Property, value); err != nil {
			return err
		}
	}
	if now == nil {
		return c.service.create(ctx, name, value, meta)
	}
	if now.value == nil || string(now.value) != string(value) {
		if err := c.service.update(ctx, name, value, meta); err != nil {
			return err
		}
	}
	if meta.Tags == nil {
		return nil
	}
	want, remove := changes(now.tags, meta.all())
	return c.service.retag(ctx, name, want, remove)
}

// changes are the tags to set and to remove; those of AWS itself stay.
func changes(now, want map[string]string) (set map[string]string, remove []string) {
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if value, has := want[key]; !has && !strings.HasPrefix(key, "aws:") {
			remove = append(remove, key)
		} else if value == now[key] {
			delete(want, key)
		}
	}
	return want, remove
}

// Delete removes a property, and the secret with the last one. Secrets of other managers are left alone.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	name := c.prefix + ref.Key
	now, err := c.service.state(ctx, name)
	if err != nil || now == nil || !now.ours() {
		return err
	}
	if ref.Property != "" && now.value != nil {
		of := fmt.Sprintf("deleting from the secret %q", ref.Key)
		rest, left, err := store.WithoutProperty(of, now.value, ref.Property)
		if err != nil {
			return err
		}
		if left > 0 {
			meta, err := readMetadata(of, ref.Metadata)
			if err != nil || string(rest) == string(now.value) {
				return err
			}
			return c.service.update(ctx, name, rest, meta)
		}
	}
	if err := c.service.remove(ctx, name); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// Exists reports whether there is a secret with a value, with the property when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	now, err := c.service.state(ctx, c.prefix+ref.Key)
	if err != nil || now == nil || now.value == nil || ref.Property == "" {
		return now != nil && now.value != nil, err
	}
	fields, err := store.Fields(fmt.Sprintf("the secret %q", ref.Key), now.value)
	_, has := fields[ref.Property]
	return has, err
}

// Check finds out whether the service is reachable and accepts the credentials, also when they may not list anything.
func (c *Client) Check(ctx context.Context) error { return c.service.check(ctx) }

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
