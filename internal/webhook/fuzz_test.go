package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // senders use it
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzSenders has requests of anybody delivered by a hook of GitHub only where they are signed, and never a panic, whatever the
// hook, the headers and the body are.
func FuzzSenders(f *testing.F) {
	signed := "sha256=" + sign(sha256.New, token, `{"ref":"refs/heads/main"}`)
	for _, kind := range []string{"github", "gitlab", "bitbucket", "harbor", "dockerhub", "quay", "gcr", "nexus", "acr", "cdevents", "generic", "generic-hmac"} {
		f.Add(kind, "push", signed, `{"ref":"refs/heads/main"}`)
		f.Add(kind, "", "", event)
		f.Add(kind, "ping", "sha256=", `{"message":{"data":"e30="}}`)
	}
	f.Fuzz(func(t *testing.T, kind, name, signature, body string) {
		delivered := false
		hook := Hook{Name: "hook", Type: kind, Token: token, Deliver: func(_ context.Context, got Delivery) error {
			delivered = true
			_, err := got.Payload()
			return err
		}}
		var refused error
		handler := New(Config{Find: func(string) (Hook, bool) { return hook, true }, Refused: func(_ string, why error) { refused = why }})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hook/known", strings.NewReader(body))
		for _, header := range []string{"X-Hub-Signature", "X-Hub-Signature-256", "X-Signature", "X-Gitlab-Token", "Authorization", "X-Nexus-Webhook-Signature"} {
			request.Header[header] = []string{signature}
		}
		for _, header := range []string{"X-Github-Event", "X-Gitlab-Event", "X-Event-Key", "Ce-Type"} {
			request.Header[header] = []string{name}
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if refused != nil && strings.Contains(refused.Error(), token) {
			t.Errorf("the token is shown: %v", refused)
		}
		if delivered && (kind == "github" || kind == "generic-hmac") && !genuine(signature, body) {
			t.Errorf("%s: a request with the signature %q was delivered", kind, signature)
		}
	})
}

// genuine reports whether a signature is one that the token makes.
func genuine(signature, body string) bool {
	_, sum, _ := strings.Cut(signature, "=")
	for _, made := range []func() hash.Hash{sha1.New, sha256.New, sha512.New, sha512.New384, sha256.New224} {
		if hmac.Equal([]byte(strings.ToLower(sum)), []byte(sign(made, token, body))) {
			return true
		}
	}
	return false
}
