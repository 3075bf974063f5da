package onepassword

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

// item is an item as Connect has it. What is not here is kept in raw, so that an update loses nothing.
type item struct {
	ID       string   `json:"id,omitempty"`
	Title    string   `json:"title"`
	Category string   `json:"category"`
	Vault    ref      `json:"vault"`
	Tags     []string `json:"tags,omitempty"`
	Fields   []field  `json:"fields,omitempty"`
	Files    []file   `json:"files,omitempty"`
	Sections []ref    `json:"sections,omitempty"`

	raw map[string]json.RawMessage
}

type ref struct {
	ID string `json:"id"`
}

type field struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Type  string `json:"type,omitempty"`
}

type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// identifier is the form of identifiers of vaults and items.
var identifier = regexp.MustCompile(`^[a-z0-9]{26}$`)

func isID(name string) bool { return identifier.MatchString(name) }

// kindOf reports whether a property is a file, and its name. Documents have files unless the property says otherwise.
func kindOf(it *item, property string) (isFile bool, name string) {
	if label, ok := strings.CutPrefix(property, "field/"); ok {
		return false, label
	}
	if name, ok := strings.CutPrefix(property, "file/"); ok {
		return true, name
	}
	return it.Category == "DOCUMENT", property
}

// field returns the only field with a label.
func (it *item) field(label string) (field, error) {
	switch at := it.labelled(label); len(at) {
	case 0:
		return field{}, fmt.Errorf("the item %q: %w %q", it.Title, store.ErrNoProperty, label)
	case 1:
		return it.Fields[at[0]], nil
	default:
		return field{}, fmt.Errorf("the item %q has %d fields with the label %q; labels must be unique", it.Title, len(at), label)
	}
}

// labelled are the places of the fields with a label.
func (it *item) labelled(label string) (at []int) {
	for i, f := range it.Fields {
		if f.Label == label {
			at = append(at, i)
		}
	}
	return at
}

// selected reports whether an item has the title and the tags of a search.
func (it *item) selected(find store.Find) bool {
	for tag := range find.Tags {
		if !slices.Contains(it.Tags, tag) {
			return false
		}
	}
	return find.Path == "" || len(find.Tags) > 0 || find.Path == it.Title
}

// addFields adds the fields whose labels are selected and not there yet.
func (it *item) addFields(selected func(string) bool, values map[string][]byte) error {
	for _, f := range it.Fields {
		if !selected(f.Label) {
			continue
		}
		if _, err := it.field(f.Label); err != nil {
			return err
		}
		if _, has := values[f.Label]; !has {
			values[f.Label] = []byte(f.Value)
		}
	}
	return nil
}

// addFiles adds the files whose names are selected and not there yet.
func (c *Client) addFiles(ctx context.Context, it *item, selected func(string) bool, values map[string][]byte) error {
	for _, f := range it.Files {
		if _, has := values[f.Name]; has || !selected(f.Name) {
			continue
		}
		if len(values) >= store.MaxFound {
			return store.TooMany(fmt.Sprintf("reading the files of the item %q", it.Title))
		}
		content, err := c.content(ctx, it, f)
		if err != nil {
			return err
		}
		values[f.Name] = content
	}
	return nil
}

// request is one to the server, authorized.
func (c *Client) request(of, method string, body []byte, query url.Values, parts ...string) rest.Request {
	address := c.base + "/v1"
	for _, part := range parts {
		address += "/" + url.PathEscape(part)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	header := http.Header{"Authorization": {"Bearer " + c.token}, "Accept": {"application/json"}, "User-Agent": {"headgate"}}
	if body != nil {
		header.Set("Content-Type", "application/json")
	}
	return rest.Request{Of: of, Method: method, URL: address, Header: header, Body: body}
}

// vault returns the identifier of a vault, which stays the same.
func (c *Client) vault(ctx context.Context, name string) (string, error) {
	c.lock.Lock()
	id := c.ids[name]
	c.lock.Unlock()
	if id != "" {
		return id, nil
	}
	return c.readVault(ctx, name)
}

func (c *Client) readVault(ctx context.Context, name string) (string, error) {
	of := fmt.Sprintf("reading the vault %q", name)
	var vaults []ref
	if isID(name) {
		var one ref
		if _, err := rest.JSON(ctx, c.http, c.request(of, http.MethodGet, nil, nil, "vaults", name), &one); err != nil {
			return "", unlisted(err)
		}
		vaults = append(vaults, one)
	} else if _, err := rest.JSON(ctx, c.http, c.request(of, http.MethodGet, nil, equals("name", name), "vaults"), &vaults); err != nil {
		return "", unlisted(err)
	}
	if len(vaults) != 1 {
		return "", fmt.Errorf("%s: the token gives access to %d vaults of that name, want one", of, len(vaults))
	}
	if vaults[0].ID == "" {
		return "", fmt.Errorf("%s: %w: it has no identifier", of, store.ErrMalformed)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.ids[name] = vaults[0].ID
	return vaults[0].ID, nil
}

// unlisted keeps a vault that is missing from being taken for a secret that is.
func unlisted(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w, or there is no such vault: %s", store.ErrDenied, err.Error())
	}
	return err
}

// equals is a filter of lists, with the text quoted as SCIM has it.
func equals(attribute, text string) url.Values {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	return url.Values{"filter": {attribute + ` eq "` + quoted + `"`}}
}

// list returns the items of a vault without their fields, with a title when there is one.
func (c *Client) list(ctx context.Context, vault, id, title string) ([]item, error) {
	of, query := fmt.Sprintf("listing the items of the vault %q", vault), url.Values(nil)
	if title != "" {
		of, query = fmt.Sprintf("searching the item %q in the vault %q", title, vault), equals("title", title)
	}
	var items []item
	if _, err := rest.JSON(ctx, c.http, c.request(of, http.MethodGet, nil, query, "vaults", id, "items"), &items); err != nil {
		return nil, unlisted(err)
	}
	if len(items) > store.MaxFound {
		return nil, store.TooMany(of)
	}
	return items, nil
}

// item returns an item with its fields.
func (c *Client) item(ctx context.Context, vault, vaultID, id string) (*item, error) {
	of := fmt.Sprintf("reading the item %q of the vault %q", id, vault)
	answer, err := rest.Do(ctx, c.http, c.request(of, http.MethodGet, nil, nil, "vaults", vaultID, "items", id))
	if err != nil {
		return nil, err
	}
	it := &item{}
	if err := rest.Decode(of, answer.Body, it); err != nil {
		return nil, err
	}
	if it.ID == "" {
		return nil, fmt.Errorf("%s: %w: it has no identifier", of, store.ErrMalformed)
	}
	it.Vault.ID = vaultID
	return it, rest.Decode(of, answer.Body, &it.raw)
}

// content returns a file of an item.
func (c *Client) content(ctx context.Context, it *item, f file) ([]byte, error) {
	of := fmt.Sprintf("reading the file %q of the item %q", f.Name, it.Title)
	answer, err := rest.Do(ctx, c.http, c.request(of, http.MethodGet, nil, nil, "vaults", it.Vault.ID, "items", it.ID, "files", f.ID, "content"))
	return answer.Body, err
}
