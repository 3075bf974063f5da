package kubernetes_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/secrets/store/kubernetes"
)

// hostile answers the requests of a store, and counts them. It is a server without a network, since time in a bubble does not wait for one.
type hostile struct {
	// events is what a watch brings before it ends.
	events         func(n int) string
	lists, watches int
}

// RoundTrip answers a request.
func (h *hostile) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`
	if r.URL.Query().Get("watch") == "" {
		h.lists++
	} else {
		h.watches++
		body = h.events(h.watches)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestHostileWatch has servers that end each watch at once, and one that floods it with changes: in an hour, few requests are sent, and few changes
// reported.
func TestHostileWatch(t *testing.T) {
	event := func(version string) string {
		return `{"type":"MODIFIED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x","resourceVersion":"` + version + `"}}}` + "\n"
	}
	for name, c := range map[string]struct {
		reason string
		events func(n int) string
	}{
		"Empty":  {"nothing is brought", func(int) string { return "" }},
		"Moving": {"each brings another version", func(n int) string { return event(strings.Repeat("1", n%20+1)) }},
		"Flood":  {"each brings many", func(int) string { return strings.Repeat(event("2")+event("3"), 1000) }},
		"Expired": {"each says that the version is too old", func(int) string {
			return `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}` + "\n"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, changes := &hostile{events: c.events}, 0
				client, err := kubernetes.New(&rest.Config{Host: "http://store.invalid", Transport: server}, "remote")
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if err := client.Watch(ctx, func() { changes++ }); err != nil {
					t.Error(err)
				}
				const most = 25
				if server.watches < 2 || server.watches > most || server.lists > most || changes > 2*most {
					t.Errorf("%s: %d lists, %d watches, %d changes in an hour, want %d at most", c.reason, server.lists, server.watches, changes, most)
				}
			})
		})
	}
}
