// Package webhook reads secrets from any server that answers with JSON, by a request that a store describes with templates.
//
// Templates and JSON paths run where the caller has them run, since they are programs of tenants. The room refuses to find, to delete and to find out
// what exists, which the description of one request does not say, and answers whose JSON path selects nothing.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

// maxLine bounds a URL and a header that a template gives, in bytes.
const maxLine = 16 << 10

// Template renders a text with values.
type Template func(ctx context.Context, text string, values map[string]any) (string, error)

// Config is a request, whose URL, headers, body and JSON path are templates over remoteRef and the secrets by name.
type Config struct {
	// Method is GET by default.
	Method  string
	URL     string
	Headers map[string]string
	Body    string
	// JSONPath selects the value in the answer; without one it is the whole.
	JSONPath string
	// Timeout bounds a request; the default, which is also the longest, is rest.Timeout.
	Timeout time.Duration
	TLS     rest.TLS
	// Secrets returns what templates see of Secrets: values by key, by the name in the templates.
	Secrets func(context.Context) (map[string]map[string]string, error)
}

// Client is a store of this kind.
type Client struct {
	config  Config
	render  Template
	selects Path
	http    *http.Client
}

var _ store.Client = (*Client)(nil)

// New checks the configuration. It sends nothing.
func New(config Config, render Template, selects Path, client *http.Client) (*Client, error) {
	if config.URL == "" {
		return nil, errors.New("url is empty")
	}
	if len(config.Headers) > 100 {
		return nil, fmt.Errorf("headers has %d entries; at most 100 are permitted", len(config.Headers))
	}
	trusting, err := rest.Trusting(client, config.TLS)
	if err != nil {
		return nil, err
	}
	config.Method = cmp.Or(config.Method, http.MethodGet)
	return &Client{config, render, selects, trusting}, nil
}

// Get returns what the JSON path selects: a string as it is, of a list the first, everything else as JSON.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	_, value, err := c.fetch(ctx, ref, true)
	return value, err
}

// Map returns the fields of the object that the JSON path selects. Some servers answer with JSON in a string.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	of, value, err := c.fetch(ctx, ref, false)
	if err != nil {
		return nil, err
	}
	return store.Fields(of, value)
}

// fetch sends the request and returns what the JSON path selects, or the answer itself.
func (c *Client) fetch(ctx context.Context, ref store.Ref, first bool) (of string, value []byte, err error) {
	of = fmt.Sprintf("the answer of the webhook to %q", ref.Key)
	if ref.MetadataPolicy == store.MetadataFetch {
		return of, nil, fmt.Errorf("reading metadata of %q from a webhook: %w", ref.Key, store.ErrUnsupported)
	}
	remote := map[string]any{"key": ref.Key, "property": ref.Property, "version": ref.Version}
	values, answer, err := c.send(ctx, fmt.Sprintf("requesting %q from the webhook", ref.Key), remote)
	if err != nil || c.config.JSONPath == "" {
		return of, answer.Body, err
	}
	path, err := c.render(ctx, c.config.JSONPath, values)
	if err != nil {
		return of, nil, fmt.Errorf("rendering result.jsonPath: %w", err)
	}
	if len(path) > maxLine {
		return of, nil, fmt.Errorf("the template of result.jsonPath gives more than %d bytes", maxLine)
	}
	found, err := c.selects(ctx, Query{Answer: answer.Body, Path: path, First: first})
	if err != nil {
		return of, nil, fmt.Errorf("%s: evaluating result.jsonPath: %w", of, err)
	}
	return of, found.Value, found.failure(of)
}

// send renders the request and sends it.
func (c *Client) send(ctx context.Context, of string, remote map[string]any) (values map[string]any, answer rest.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, min(cmp.Or(c.config.Timeout, rest.Timeout), rest.Timeout))
	defer cancel()
	values, escaped := map[string]any{"remoteRef": remote}, map[string]any{}
	for name, value := range remote {
		if text, ok := value.(string); ok {
			escaped[name] = url.QueryEscape(text)
		}
	}
	if c.config.Secrets != nil {
		secrets, err := c.config.Secrets(ctx)
		if err != nil {
			return nil, answer, fmt.Errorf("%s: reading the secrets of its templates: %w", of, err)
		}
		for name, keys := range secrets {
			values[name] = keys
		}
	}
	inURL := maps.Clone(values)
	inURL["remoteRef"] = escaped
	address, err := c.line(ctx, "url", c.config.URL, inURL)
	if err != nil {
		return nil, answer, fmt.Errorf("%s: %w", of, err)
	}
	if at, err := url.Parse(address); err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" {
		return nil, answer, fmt.Errorf("%s: the template of the URL does not give a URL of http or https", of)
	}
	header := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(c.config.Headers)) {
		value, err := c.line(ctx, "header "+name, c.config.Headers[name], values)
		if err != nil {
			return nil, answer, fmt.Errorf("%s: %w", of, err)
		}
		header.Set(name, value)
	}
	body, err := c.render(ctx, c.config.Body, values)
	if err != nil {
		return nil, answer, fmt.Errorf("%s: rendering body: %w", of, err)
	}
	if len(body) > store.MaxBody {
		return nil, answer, fmt.Errorf("%s: the template of the body gives more than %d bytes", of, store.MaxBody)
	}
	answer, err = rest.Do(ctx, c.http, rest.Request{Of: of, Method: c.config.Method, URL: address, Header: header, Body: []byte(body)})
	return values, answer, err
}

// line renders what is a single line.
func (c *Client) line(ctx context.Context, what, template string, values map[string]any) (string, error) {
	line, err := c.render(ctx, template, values)
	if err != nil {
		return "", fmt.Errorf("rendering %s: %w", what, err)
	}
	if len(line) > maxLine || strings.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("the template of %s gives more than one line, or more than %d bytes", what, maxLine)
	}
	return line, nil
}

// Push sends the request with the value as the field of remoteRef that has the name of the remote key.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	remote := map[string]any{"remoteKey": ref.Key, "property": ref.Property, ref.Key: string(value)}
	_, _, err := c.send(ctx, fmt.Sprintf("pushing %q to the webhook", ref.Key), remote)
	return err
}

// Find is unsupported.
func (c *Client) Find(context.Context, store.Find) (map[string][]byte, error) {
	return nil, fmt.Errorf("finding secrets by a webhook: %w", store.ErrUnsupported)
}

// Delete is unsupported.
func (c *Client) Delete(_ context.Context, ref store.PushRef) error {
	return fmt.Errorf("deleting %q by a webhook: %w", ref.Key, store.ErrUnsupported)
}

// Exists is unsupported.
func (c *Client) Exists(_ context.Context, ref store.PushRef) (bool, error) {
	return false, fmt.Errorf("finding out by a webhook whether %q exists: %w", ref.Key, store.ErrUnsupported)
}

// Check does nothing: the only request that is known returns a secret.
func (c *Client) Check(context.Context) error { return nil }

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
