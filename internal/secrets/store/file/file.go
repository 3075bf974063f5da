// Package file reads secrets from a file that SOPS encrypts, as with age, on the machine of the engine: for a laptop and for CI.
//
// The file is YAML or JSON: a name for each secret, with a text or with properties. Names may be nested, and are then
// written with slashes. The room refuses to write, files in clear unless the caller permits them, and to keep anything on disk.
package file

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// depth bounds how deeply names are nested.
const depth = 16

// Config is a file.
type Config struct {
	// Path of the file; its end says whether it is YAML or JSON.
	Path string
	// Section is the name, with slashes, below which the secrets of this store are; without one they are at the top.
	Section string
	// Keys open the file.
	Keys *decrypt.Keys
	// Clear permits a file that is not encrypted.
	Clear bool
}

// ErrNoSection says that a file does not have the section of a store.
var ErrNoSection = errors.New("there is no section")

// Client is a store of this kind. It keeps the content in memory until the file changes.
type Client struct {
	config Config

	lock   sync.Mutex
	digest [sha256.Size]byte
	values map[string]any
}

var (
	_ store.Client  = (*Client)(nil)
	_ store.Watcher = (*Client)(nil)
)

// New returns the store. It reads nothing.
func New(config Config) (*Client, error) {
	if format := decrypt.FormatOf(config.Path); format != decrypt.YAML && format != decrypt.JSON {
		return nil, fmt.Errorf("%s: a file of secrets has to end in .yaml, .yml or .json", config.Path)
	}
	return &Client{config: config}, nil
}

// read returns the bytes of the file as it is now, and their digest.
func (c *Client) read() (raw []byte, digest [sha256.Size]byte, err error) {
	file, err := os.Open(c.config.Path)
	if err != nil {
		return nil, digest, fmt.Errorf("opening the file of secrets: %w", err)
	}
	defer file.Close()
	raw, err = io.ReadAll(io.LimitReader(file, store.MaxBody+1))
	if err != nil {
		return nil, digest, fmt.Errorf("reading the file of secrets: %w", err)
	}
	if len(raw) > store.MaxBody {
		return nil, digest, fmt.Errorf("%s: %w: it exceeds %d bytes", c.config.Path, store.ErrTooLarge, store.MaxBody)
	}
	return raw, sha256.Sum256(raw), nil
}

// content returns the secrets of the store.
func (c *Client) content() (map[string]any, error) {
	raw, digest, err := c.read()
	if err != nil {
		return nil, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.values != nil && c.digest == digest {
		return c.values, nil
	}
	format := decrypt.FormatOf(c.config.Path)
	switch {
	case decrypt.IsEncrypted(raw, format):
		keys := c.config.Keys
		if keys == nil {
			keys = &decrypt.Keys{}
		}
		if raw, err = keys.Data(raw, format, format); err != nil {
			return nil, fmt.Errorf("decrypting %s: %w", c.config.Path, err)
		}
	case !c.config.Clear:
		return nil, fmt.Errorf("%s is not encrypted; encrypt it with \"headgate secret encrypt %s\"", c.config.Path, c.config.Path)
	}
	var all map[string]any
	if yaml.Unmarshal(raw, &all, useNumber) != nil {
		// The error of the decoder may quote a value.
		return nil, fmt.Errorf("%s is not a map of YAML or JSON", c.config.Path)
	}
	if c.config.Section != "" {
		section, has := descend(all, c.config.Section, 0)
		below, is := section.(map[string]any)
		if !has || !is {
			return nil, fmt.Errorf("%s: %w %q with secrets", c.config.Path, ErrNoSection, c.config.Section)
		}
		all = below
	}
	if all == nil {
		all = map[string]any{}
	}
	c.digest, c.values = digest, all
	return all, nil
}

func useNumber(d *json.Decoder) *json.Decoder {
	d.UseNumber()
	return d
}

// descend returns what has a name: as a whole, or part by part.
func descend(values map[string]any, name string, level int) (any, bool) {
	if value, has := values[name]; has || level > depth {
		return value, has
	}
	for at, r := range name {
		if r != '/' {
			continue
		}
		if below, is := values[name[:at]].(map[string]any); is {
			if value, has := descend(below, name[at+1:], level+1); has {
				return value, true
			}
		}
	}
	return nil, false
}

// Get returns a text, or a property; without a property the properties as JSON.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	if ref.Version != "" || ref.MetadataPolicy == store.MetadataFetch {
		return nil, fmt.Errorf("reading a version or metadata of %q from a file: %w", ref.Key, store.ErrUnsupported)
	}
	values, err := c.content()
	if err != nil {
		return nil, err
	}
	value, has := descend(values, strings.Trim(ref.Key, "/"), 0)
	if !has || value == nil {
		return nil, fmt.Errorf("reading %q of %s: %w", ref.Key, c.config.Path, store.ErrNotFound)
	}
	of := fmt.Sprintf("the secret %q of %s", ref.Key, c.config.Path)
	raw, err := text(of, value)
	if err == nil {
		err = store.Fetched(ctx, len(raw))
	}
	if err != nil {
		return nil, err
	}
	return store.Property(ctx, of, raw, ref.Property)
}

// text is a value as that of a secret.
func text(of string, value any) ([]byte, error) {
	if value, is := value.(string); is {
		return []byte(value), nil
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written as JSON", of)
	}
	return raw, nil
}

// Map returns the properties of a secret.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the secret %q of %s", ref.Key, c.config.Path), value)
}

// Find returns the secrets at the top, or below a path, by name.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if len(find.Tags) > 0 {
		return nil, fmt.Errorf("finding by tags in a file: %w", store.ErrUnsupported)
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	values, err := c.content()
	if err != nil {
		return nil, err
	}
	if path := strings.Trim(find.Path, "/"); path != "" {
		below, _ := descend(values, path, 0)
		values, _ = below.(map[string]any)
	}
	found := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !pattern.MatchString(name) || values[name] == nil {
			continue
		}
		if found[name], err = text(fmt.Sprintf("the secret %q of %s", name, c.config.Path), values[name]); err == nil {
			err = store.Fetched(ctx, len(found[name]))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(found) > store.MaxFound {
		return nil, store.TooMany("finding in " + c.config.Path)
	}
	return found, nil
}

// Check reads the file.
func (c *Client) Check(context.Context) error {
	_, err := c.content()
	return err
}

// Watch reports that the content of the file is another one, also when the file is replaced or was missing for a while.
func (c *Client) Watch(ctx context.Context, changed func()) error {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching %s: %w", c.config.Path, err)
	}
	defer func() { _ = events.Close() }()
	// Programs that save a file replace it, so that the directory is what stays.
	if err := events.Add(filepath.Dir(c.config.Path)); err != nil {
		return fmt.Errorf("watching the directory of %s: %w", c.config.Path, err)
	}
	_, last, _ := c.read()
	changed()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-events.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watching %s: %w", c.config.Path, err)
			}
		case event := <-events.Events:
			if event.Has(fsnotify.Remove) && event.Name == filepath.Dir(c.config.Path) {
				return fmt.Errorf("watching %s: its directory is gone", c.config.Path)
			}
		}
		if _, now, _ := c.read(); now != last {
			last = now
			changed()
		}
	}
}

// Push is unsupported.
func (c *Client) Push(_ context.Context, ref store.PushRef, _ []byte) error {
	return fmt.Errorf("pushing %q to the file %s: %w", ref.Key, c.config.Path, store.ErrUnsupported)
}

// Delete is unsupported.
func (c *Client) Delete(_ context.Context, ref store.PushRef) error {
	return fmt.Errorf("deleting %q from the file %s: %w", ref.Key, c.config.Path, store.ErrUnsupported)
}

// Exists reports whether there is such a secret, with the property when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	_, err := c.Get(ctx, store.Ref{Key: ref.Key, Property: ref.Property})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoProperty) {
		return false, nil
	}
	return err == nil, err
}

// Close drops the content from memory.
func (c *Client) Close() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.values = nil
	return nil
}
