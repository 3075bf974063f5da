package webhook

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Delivery is a request that was verified.
type Delivery struct {
	// Event is what it reports, in the sender's words; empty if the sender has none.
	Event string

	header http.Header
	body   []byte
}

// Header is what the sender said beside the body.
func (d Delivery) Header() http.Header { return d.header }

// Digest tells deliveries apart whose content is not the same.
func (d Delivery) Digest() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", d.Event, d.header.Get("Content-Type"), d.body))
}

// Payload is the JSON object that was sent; it is empty when something else was.
func (d Delivery) Payload() (map[string]any, error) {
	content := d.body
	switch d.mediaType() {
	case "application/json":
	case "application/x-www-form-urlencoded":
		// GitHub sends its object in a form field, if configured so.
		form, err := url.ParseQuery(string(d.body))
		if err != nil || !form.Has("payload") {
			return map[string]any{}, nil
		}
		content = []byte(form.Get("payload"))
	default:
		return map[string]any{}, nil
	}
	return object(content)
}

func (d Delivery) mediaType() string {
	first, _, _ := strings.Cut(d.header.Get("Content-Type"), ",")
	kind, _, err := mime.ParseMediaType(first)
	if err != nil {
		return ""
	}
	return kind
}

// object reads a JSON object. The error does not show it.
func object(content []byte) (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal(content, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("%w: not a JSON object", ErrMalformed)
	}
	return fields, nil
}
