package onepassword

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

// metadata is what a PushSecret gives for 1Password.
type metadata struct {
	Spec struct {
		Tags  []string `json:"tags"`
		Vault string   `json:"vault"`
	} `json:"spec"`
}

// Push sets a field of an item. The default field is password. An item that does not exist is created in the first vault, or the
// one of the metadata, in the category of servers.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	if ref.Whole {
		return fmt.Errorf("pushing all keys of a Secret to the item %q of 1Password: %w; name a secretKey", ref.Key, store.ErrUnsupported)
	}
	meta := metadata{}
	if len(ref.Metadata) > 0 && json.Unmarshal(ref.Metadata, &meta) != nil {
		return fmt.Errorf("pushing the item %q: its metadata is not a PushSecretMetadata with spec.tags and spec.vault", ref.Key)
	}
	label := cmp.Or(ref.Property, "password")
	it, err := c.find(ctx, ref.Key)
	if errors.Is(err, store.ErrNotFound) {
		err = c.create(ctx, ref.Key, field{Label: label, Value: string(value), Type: "CONCEALED"}, meta)
		if err != nil {
			return err
		}
		return c.settle(ctx, ref.Key, label, value)
	}
	if err != nil {
		return err
	}
	if at := it.labelled(label); len(at) == 1 && it.Fields[at[0]].Value == string(value) && (meta.Spec.Tags == nil || slices.Equal(it.Tags, meta.Spec.Tags)) {
		return nil
	}
	if err := it.set(label, string(value)); err != nil {
		return err
	}
	if meta.Spec.Tags != nil {
		it.raw["tags"] = encode(meta.Spec.Tags)
	}
	if err := c.update(ctx, it); err != nil {
		return err
	}
	return c.settle(ctx, ref.Key, label, value)
}

// Delete removes a field, and the item with the last of its fields.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	it, err := c.find(ctx, ref.Key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	at := it.labelled(cmp.Or(ref.Property, "password"))
	switch len(at) {
	case 0:
		return nil
	case 1:
	default:
		_, err := it.field(cmp.Or(ref.Property, "password"))
		return err
	}
	if len(it.Fields) == 1 && len(it.Files) == 0 && len(it.Sections) == 0 {
		of := fmt.Sprintf("deleting the item %q", ref.Key)
		request := c.request(of, http.MethodDelete, nil, nil, "vaults", it.Vault.ID, "items", it.ID)
		request.Accept = []int{http.StatusNotFound}
		_, err := rest.Do(ctx, c.http, request)
		return err
	}
	fields, err := it.rawFields()
	if err != nil {
		return err
	}
	it.raw["fields"] = encode(slices.Delete(fields, at[0], at[0]+1))
	return c.update(ctx, it)
}

// Exists reports whether an item has the field.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	it, err := c.find(ctx, ref.Key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return len(it.labelled(cmp.Or(ref.Property, "password"))) > 0, nil
}

func (c *Client) create(ctx context.Context, title string, f field, meta metadata) error {
	vault := cmp.Or(meta.Spec.Vault, c.vaults[0])
	if !slices.Contains(c.vaults, vault) {
		return fmt.Errorf("creating the item %q: the vault %q of the metadata is not one of the store's", title, vault)
	}
	id, err := c.vault(ctx, vault)
	if err != nil {
		return err
	}
	it := item{Title: title, Category: "SERVER", Vault: ref{id}, Tags: meta.Spec.Tags, Fields: []field{f}}
	_, err = rest.Do(ctx, c.http, c.request(fmt.Sprintf("creating the item %q in the vault %q", title, vault), http.MethodPost, encode(it), nil, "vaults", id, "items"))
	return unlisted(err)
}

func (c *Client) update(ctx context.Context, it *item) error {
	of := fmt.Sprintf("updating the item %q", it.Title)
	_, err := rest.Do(ctx, c.http, c.request(of, http.MethodPut, encode(it.raw), nil, "vaults", it.Vault.ID, "items", it.ID))
	return err
}

// settle waits until the server shows what it accepted, since another write before that would create a second item.
func (c *Client) settle(ctx context.Context, title, label string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Settle)
	defer cancel()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		it, err := c.find(ctx, title)
		if err == nil {
			if f, err := it.field(label); err == nil && f.Value == string(value) {
				return nil
			}
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("confirming what was written: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return &store.TransientError{Err: fmt.Errorf("the server does not show the item %q as it was written after %s", title, c.config.Settle)}
		}
	}
}

// set changes or adds a field, and keeps everything else of the item.
func (it *item) set(label, value string) error {
	fields, err := it.rawFields()
	if err != nil {
		return err
	}
	switch at := it.labelled(label); len(at) {
	case 0:
		fields = append(fields, encode(field{Label: label, Value: value, Type: "CONCEALED"}))
	case 1:
		var all map[string]json.RawMessage
		if err := rest.Decode(fmt.Sprintf("the item %q", it.Title), fields[at[0]], &all); err != nil {
			return err
		}
		all["value"] = encode(value)
		fields[at[0]] = encode(all)
	default:
		_, err := it.field(label)
		return err
	}
	it.raw["fields"] = encode(fields)
	return nil
}

func (it *item) rawFields() ([]json.RawMessage, error) {
	var fields []json.RawMessage
	if it.raw["fields"] == nil {
		return nil, nil
	}
	return fields, rest.Decode(fmt.Sprintf("the item %q", it.Title), it.raw["fields"], &fields)
}

// encode is for values that always have a form in JSON.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}
