package gcp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"google.golang.org/api/secretmanager/v1"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// state is a secret before it is written: its latest value, whether there is one, and the secret itself; nil if there is none.
func (c *Client) state(ctx context.Context, key string) (value []byte, has bool, now *secretmanager.Secret, err error) {
	now, err = c.describe(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil, nil
	}
	if err != nil {
		return nil, false, nil, err
	}
	value, err = c.read(ctx, key, "")
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, now, nil
	}
	return value, err == nil, now, err
}

func ours(s *secretmanager.Secret) bool { return s.Labels[managedBy] == manager }

// Push adds a version to a secret, which it creates if there is none, with the value or with a property of its JSON.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	path, err := c.path(ref.Key)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("pushing the secret %q of %s", ref.Key, c.parent)
	if len(ref.Metadata) > 0 {
		return fmt.Errorf("%s: its metadata: %w", of, store.ErrUnsupported)
	}
	before, has, now, err := c.state(ctx, ref.Key)
	if err != nil {
		return err
	}
	if now != nil && !ours(now) {
		return fmt.Errorf("%s: %w", of, store.ErrNotOurs)
	}
	if ref.Property != "" {
		if value, err = store.WithProperty(of, before, ref.Property, value); err != nil {
			return err
		}
	}
	if has && string(before) == string(value) {
		return nil
	}
	if now == nil {
		made := &secretmanager.Secret{Labels: map[string]string{managedBy: manager}}
		if !c.regional {
			made.Replication = &secretmanager.Replication{Automatic: &secretmanager.Automatic{}}
		}
		if _, err := c.api.Create(c.parent, made).SecretId(ref.Key).Context(ctx).Do(); err != nil {
			return failure(of, err)
		}
	}
	return c.add(ctx, of, path, value)
}

func (c *Client) add(ctx context.Context, of, path string, value []byte) error {
	request := &secretmanager.AddSecretVersionRequest{Payload: &secretmanager.SecretPayload{Data: base64.StdEncoding.EncodeToString(value)}}
	_, err := c.api.AddVersion(path, request).Context(ctx).Do()
	return failure(of, err)
}

// Delete removes a property, and the secret with the last one. Secrets of other managers are left alone.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	before, has, now, err := c.state(ctx, ref.Key)
	if err != nil || now == nil || !ours(now) {
		return err
	}
	path, err := c.path(ref.Key)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("deleting the secret %q of %s", ref.Key, c.parent)
	if has && ref.Property != "" {
		rest, left, err := store.WithoutProperty(of, before, ref.Property)
		if err != nil {
			return err
		}
		if left > 0 {
			return c.add(ctx, of, path, rest)
		}
	}
	_, err = c.api.Delete(path).Context(ctx).Do()
	if err = failure(of, err); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Exists reports whether there is a secret, with the property when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	now, has, _, err := c.state(ctx, ref.Key)
	if err != nil || !has || ref.Property == "" {
		return has, err
	}
	fields, err := store.Fields(fmt.Sprintf("the secret %q", ref.Key), now)
	_, has = fields[ref.Property]
	return has, err
}
