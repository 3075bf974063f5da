package storetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// Connect is a Connect server of 1Password.
type Connect struct {
	server
	// Token is what it accepts.
	Token string

	vaults []*items
	ids    int
	hidden int
	late   int
	// created is the vault that got the last item.
	created *items
}

// items are those of a vault.
type items struct {
	ID, Name string
	Items    []map[string]any
	files    map[string]string
}

// NewConnect starts a server with vaults by name.
func NewConnect(t testing.TB, vaults ...string) *Connect {
	c := &Connect{Token: "connect-token"}
	for _, name := range vaults {
		c.vaults = append(c.vaults, &items{ID: c.id(), Name: name, files: map[string]string{}})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/vaults", c.list)
	mux.HandleFunc("GET /v1/vaults/{vault}", c.with(func(w http.ResponseWriter, _ *http.Request, v *items) { reply(w, 200, v.short()) }))
	mux.HandleFunc("GET /v1/vaults/{vault}/items", c.with(c.items))
	mux.HandleFunc("POST /v1/vaults/{vault}/items", c.with(c.create))
	mux.HandleFunc("GET /v1/vaults/{vault}/items/{item}", c.with(func(w http.ResponseWriter, r *http.Request, v *items) { v.item(w, r) }))
	mux.HandleFunc("PUT /v1/vaults/{vault}/items/{item}", c.with(c.replace))
	mux.HandleFunc("DELETE /v1/vaults/{vault}/items/{item}", c.with(c.remove))
	mux.HandleFunc("GET /v1/vaults/{vault}/items/{item}/files/{file}/content", c.with(c.content))
	c.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+c.Token {
			reply(w, 401, map[string]any{"status": 401, "message": "Invalid token signature"})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return c
}

// Add puts an item into a vault, with fields by label, and returns its identifier.
func (c *Connect) Add(vault, title string, fields ...[2]string) string {
	c.lock.Lock()
	defer c.lock.Unlock()
	id := c.id()
	list := []any{}
	for i, f := range fields {
		list = append(list, map[string]any{"id": fmt.Sprint("field", i), "label": f[0], "value": f[1], "type": "CONCEALED", "purpose": "PASSWORD"})
	}
	v := c.named(vault)
	v.Items = append(v.Items, map[string]any{"id": id, "title": title, "category": "LOGIN", "vault": map[string]any{"id": v.ID}, "fields": list, "favorite": true})
	return id
}

// Set changes a property of an item, such as its tags.
func (c *Connect) Set(id, property string, value any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, v := range c.vaults {
		if it := v.find(id); it != nil {
			it[property] = value
		}
	}
}

// AddFile puts a file into an item.
func (c *Connect) AddFile(id, name, content string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, v := range c.vaults {
		if it := v.find(id); it != nil {
			file := c.id()
			v.files[file] = content
			files, _ := it["files"].([]any)
			it["files"] = append(files, map[string]any{"id": file, "name": name})
		}
	}
}

// Items are those of a vault.
func (c *Connect) Items(vault string) []map[string]any {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Clone(c.named(vault).Items)
}

// Late has the server show what was created only after some lists, as the real one does.
func (c *Connect) Late(lists int) { c.late = lists }

func (c *Connect) id() string {
	c.ids++
	return fmt.Sprintf("id%024d", c.ids)
}

func (c *Connect) named(name string) *items {
	for _, v := range c.vaults {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (v *items) short() map[string]any { return map[string]any{"id": v.ID, "name": v.Name} }

func (v *items) find(id string) map[string]any {
	for _, it := range v.Items {
		if it["id"] == id {
			return it
		}
	}
	return nil
}

var filter = regexp.MustCompile(`^(name|title) eq ("(?:[^"\\]|\\.)*")$`)

// wanted reads the filter of a list; it is nothing without one.
func wanted(w http.ResponseWriter, r *http.Request) (name string, all, ok bool) {
	text := r.URL.Query().Get("filter")
	if text == "" {
		return "", true, true
	}
	match := filter.FindStringSubmatch(text)
	if match == nil || json.Unmarshal([]byte(match[2]), &name) != nil {
		reply(w, 400, map[string]any{"status": 400, "message": "Invalid filter"})
		return "", false, false
	}
	return name, false, true
}

func (c *Connect) list(w http.ResponseWriter, r *http.Request) {
	name, all, ok := wanted(w, r)
	if !ok {
		return
	}
	found := []map[string]any{}
	for _, v := range c.vaults {
		if all || v.Name == name {
			found = append(found, v.short())
		}
	}
	reply(w, 200, found)
}

func (c *Connect) with(do func(http.ResponseWriter, *http.Request, *items)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, v := range c.vaults {
			if v.ID == r.PathValue("vault") {
				do(w, r, v)
				return
			}
		}
		reply(w, 404, map[string]any{"status": 404, "message": "Vault not found"})
	}
}

func (c *Connect) items(w http.ResponseWriter, r *http.Request, v *items) {
	title, all, ok := wanted(w, r)
	if !ok {
		return
	}
	visible := v.Items
	if c.hidden > 0 && v == c.created {
		c.hidden--
		visible = visible[:len(visible)-1]
	}
	found := []map[string]any{}
	for _, it := range visible {
		if all || it["title"] == title {
			short := map[string]any{}
			for _, k := range []string{"id", "title", "category", "vault", "tags"} {
				if it[k] != nil {
					short[k] = it[k]
				}
			}
			found = append(found, short)
		}
	}
	reply(w, 200, found)
}

func (v *items) item(w http.ResponseWriter, r *http.Request) {
	if it := v.find(r.PathValue("item")); it != nil {
		reply(w, 200, it)
		return
	}
	reply(w, 404, map[string]any{"status": 404, "message": "Item not found"})
}

func (c *Connect) create(w http.ResponseWriter, r *http.Request, v *items) {
	it := map[string]any{}
	if json.NewDecoder(r.Body).Decode(&it) != nil || it["category"] == nil || it["title"] == nil {
		reply(w, 400, map[string]any{"status": 400, "message": "Invalid item"})
		return
	}
	it["id"] = c.id()
	v.Items = append(v.Items, it)
	c.hidden, c.created = c.late, v
	reply(w, 200, it)
}

func (c *Connect) replace(w http.ResponseWriter, r *http.Request, v *items) {
	it := map[string]any{}
	if json.NewDecoder(r.Body).Decode(&it) != nil || it["id"] != r.PathValue("item") {
		reply(w, 400, map[string]any{"status": 400, "message": "The item's identifier does not match"})
		return
	}
	for i := range v.Items {
		if v.Items[i]["id"] == it["id"] {
			v.Items[i] = it
			reply(w, 200, it)
			return
		}
	}
	reply(w, 404, map[string]any{"status": 404, "message": "Item not found"})
}

func (c *Connect) remove(w http.ResponseWriter, r *http.Request, v *items) {
	before := len(v.Items)
	v.Items = slices.DeleteFunc(v.Items, func(it map[string]any) bool { return it["id"] == r.PathValue("item") })
	if len(v.Items) == before {
		reply(w, 404, map[string]any{"status": 404, "message": "Item not found"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (c *Connect) content(w http.ResponseWriter, r *http.Request, v *items) {
	content, has := v.files[r.PathValue("file")]
	if !has {
		reply(w, 404, map[string]any{"status": 404, "message": "File not found"})
		return
	}
	_, _ = w.Write([]byte(content))
}
