package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFetchArtifact(t *testing.T) {
	content := []byte("an archive")
	sum := sha256.Sum256(content)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	ended, end := context.WithCancel(t.Context())
	end()
	cases := map[string]struct {
		reason, url, digest string
		ctx                 context.Context
		kind                error
		text                string
	}{
		"there":        {"what fits is returned", server.URL + "/there", digest, t.Context(), nil, ""},
		"other digest": {"what does not fit is refused", server.URL + "/there", "sha256:00", t.Context(), ErrDigest, digest},
		"gone":         {"the answer is named", server.URL + "/gone", digest, t.Context(), nil, "returned 404"},
		"no URL":       {"other schemes are refused", "file:///etc/passwd", digest, t.Context(), ErrURL, "http or https"},
		"no server":    {"the host is named", "http://127.0.0.1:1/x", digest, t.Context(), nil, "127.0.0.1:1"},
		"ended":        {"a caller that leaves is told so", server.URL + "/there", digest, ended, nil, "context canceled"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FetchArtifact(c.ctx, Access{}, c.url, c.digest)
			if c.text == "" {
				if err != nil || string(got) != string(content) {
					t.Errorf("%s: %q, error %v", c.reason, got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.text) || c.kind != nil && !errors.Is(err, c.kind) {
				t.Errorf("%s: error %v", c.reason, err)
			}
		})
	}
}
