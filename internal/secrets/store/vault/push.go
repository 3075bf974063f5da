package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	managedBy = "managed-by"
	manager   = "external-secrets"
	// inside is where secrets of KV 1, which has no metadata, record their manager.
	inside = "custom_metadata"
	// depth bounds how far a search descends.
	depth = 16
)

// Find returns the secrets below a path of KV 2 as JSON, by their paths below the mount. Tags are custom metadata.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if c.config.Version == "v1" || c.config.Path == "" {
		return nil, fmt.Errorf("searching an engine of version 1, or a store without a path: %w", store.ErrUnsupported)
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	start := strings.Trim(find.Path, "/")
	if start != "" {
		if _, start, err = c.location(start); err != nil {
			return nil, err
		}
	}
	names, err := c.list(ctx, start, 0, nil)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, name := range names {
		if !pattern.MatchString(name) {
			continue
		}
		key := c.config.Path + "/" + name
		if len(find.Tags) > 0 {
			meta, err := c.metadata(ctx, key)
			if err != nil {
				return nil, err
			}
			if !find.Tagged(meta.Custom) {
				continue
			}
		}
		value, err := c.read(ctx, key, "")
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[name] = value
	}
	return found, nil
}

// list adds the paths of all secrets below one. A path without secrets has none.
func (c *Client) list(ctx context.Context, below string, level int, names []string) ([]string, error) {
	of := fmt.Sprintf("listing the secrets below %q", below)
	if level > depth {
		return nil, fmt.Errorf("%s: %w: there are more than %d levels", of, store.ErrTooLarge, depth)
	}
	var answer struct{ Data struct{ Keys []string } }
	path := strings.TrimRight(c.config.Path+"/metadata/"+below, "/")
	got, err := c.send(ctx, of, "LIST", path, nil, nil)
	if errors.Is(err, store.ErrNotFound) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	if err := rest.Decode(of, got.Body, &answer); err != nil {
		return nil, err
	}
	for _, key := range answer.Data.Keys {
		full := strings.TrimLeft(strings.Trim(below, "/")+"/"+key, "/")
		if strings.HasSuffix(key, "/") {
			if names, err = c.list(ctx, strings.TrimRight(full, "/"), level+1, names); err != nil {
				return nil, err
			}
			continue
		}
		if names = append(names, full); len(names) > store.MaxFound {
			return nil, store.TooMany(of)
		}
	}
	return names, nil
}

// Push sets a property of a secret; without one the value is a JSON object that becomes the secret.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	of := fmt.Sprintf("pushing the secret %q", ref.Key)
	now, err := c.state(ctx, ref.Key)
	if err != nil {
		return err
	}
	if now.exists && !now.ours {
		return fmt.Errorf("%s: %w", of, store.ErrNotOurs)
	}
	next := map[string]any{}
	if ref.Property == "" {
		if json.Unmarshal(value, &next) != nil || next == nil {
			return fmt.Errorf("%s: without a property the value has to be a JSON object", of)
		}
	} else {
		for name, one := range now.data {
			next[name] = one
		}
		next[ref.Property] = string(value)
	}
	if now.exists && reflect.DeepEqual(next, now.data) {
		return nil
	}
	return c.write(ctx, of, ref.Key, now, next)
}

// Delete removes a property, and the secret with the last of them. Secrets of other managers are left alone.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	of := fmt.Sprintf("deleting the secret %q", ref.Key)
	now, err := c.state(ctx, ref.Key)
	if err != nil || !now.exists || !now.ours {
		return err
	}
	if ref.Property != "" {
		if _, has := now.data[ref.Property]; !has {
			return nil
		}
		delete(now.data, ref.Property)
		if len(now.data) > 0 {
			return c.write(ctx, of, ref.Key, now, now.data)
		}
	}
	mount, path, err := c.location(ref.Key)
	if err != nil {
		return err
	}
	if c.config.Version == "v2" {
		mount += "/metadata"
	}
	_, err = c.send(ctx, of, http.MethodDelete, mount+"/"+path, nil, nil)
	return err
}

// Exists reports whether there is a secret, with the property when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	now, err := c.state(ctx, ref.Key)
	if err != nil || ref.Property == "" {
		return now.exists, err
	}
	_, has := now.data[ref.Property]
	return has, nil
}

// state is a secret as it is before it is written.
type state struct {
	exists, ours bool
	version      int
	data         map[string]any
	custom       map[string]string
}

func (c *Client) state(ctx context.Context, key string) (now state, err error) {
	if c.config.Version == "v2" {
		meta, err := c.metadata(ctx, key)
		if errors.Is(err, store.ErrNotFound) {
			return now, nil
		}
		if err != nil {
			return now, err
		}
		now.version, now.custom, now.ours = meta.Current, meta.Custom, meta.Custom[managedBy] == manager
	}
	raw, err := c.read(ctx, key, "")
	if errors.Is(err, store.ErrNotFound) {
		return now, nil
	}
	if err != nil {
		return now, err
	}
	now.exists = true
	if err := rest.Decode(fmt.Sprintf("reading the secret %q", key), raw, &now.data); err != nil {
		return now, err
	}
	if c.config.Version == "v1" {
		custom, _ := now.data[inside].(map[string]any)
		now.ours = custom[managedBy] == manager
		delete(now.data, inside)
	}
	return now, nil
}

// write replaces a secret, unless another program has written it since its state was read.
func (c *Client) write(ctx context.Context, of, key string, now state, data map[string]any) error {
	mount, path, err := c.location(key)
	if err != nil {
		return err
	}
	if c.config.Version == "v1" {
		data[inside] = map[string]string{managedBy: manager}
		body, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("%s: the value cannot be written as JSON", of)
		}
		_, err = c.send(ctx, of, http.MethodPost, mount+"/"+path, nil, body)
		return err
	}
	if !now.ours {
		custom := map[string]string{managedBy: manager}
		for name, value := range now.custom {
			if name != managedBy {
				custom[name] = value
			}
		}
		body, err := json.Marshal(map[string]any{"custom_metadata": custom})
		if err != nil {
			return fmt.Errorf("%s: the metadata cannot be written as JSON", of)
		}
		if _, err := c.send(ctx, of, http.MethodPost, mount+"/metadata/"+path, nil, body); err != nil {
			return err
		}
	}
	body, err := json.Marshal(map[string]any{"data": data, "options": map[string]int{"cas": now.version}})
	if err != nil {
		return fmt.Errorf("%s: the value cannot be written as JSON", of)
	}
	answer, err := c.send(ctx, of, http.MethodPost, mount+"/data/"+path, nil, body)
	if answer.Status == http.StatusBadRequest && strings.Contains(string(answer.Body), "check-and-set") {
		return &store.TransientError{Err: fmt.Errorf("%s: another program has written it in the meantime", of)}
	}
	return err
}
