package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const token = "the-shared-secret"

func sign(made func() hash.Hash, key, body string) string {
	mac := hmac.New(made, []byte(key))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// desk is one hook behind a real server.
type desk struct {
	server *httptest.Server

	mu        sync.Mutex
	hook      Hook
	delivered []string
	refused   []string
	fails     error
}

func start(t *testing.T, patience time.Duration) *desk {
	t.Helper()
	d := &desk{}
	d.server = httptest.NewServer(New(Config{
		Patience: patience,
		Find: func(path string) (Hook, bool) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.hook, path == "/hook/known"
		},
		Refused: func(_ string, why error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.refused = append(d.refused, why.Error())
		},
	}))
	t.Cleanup(d.server.Close)
	return d
}

func (d *desk) set(h Hook) {
	h.Token = token
	h.Deliver = func(_ context.Context, got Delivery) error {
		_, malformed := got.Payload()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.delivered = append(d.delivered, got.Event)
		return errors.Join(malformed, d.fails)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hook, d.delivered, d.refused, d.fails = h, nil, nil, nil
}

func (d *desk) send(t *testing.T, method, path string, header map[string]string, body string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, d.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(said), answer.Header
}

const event = `{"context":{"version":"0.4.1","id":"1","source":"/ci","type":"dev.cdevents.artifact.published.0.2.0","timestamp":"2026-01-01T00:00:00Z"},"subject":{"id":"pkg"}}`

func TestSenders(t *testing.T) {
	const body = `{"ref":"refs/heads/main"}`
	sum256 := sign(sha256.New, token, body)
	cases := map[string]struct {
		reason string
		hook   Hook
		header map[string]string
		body   string
		want   int
		events []string
	}{
		"generic":               {"the path is the proof", Hook{Type: "generic"}, nil, "", 200, []string{""}},
		"generic with events":   {"it names no event, so none can be missing", Hook{Type: "generic", Events: []string{"push"}}, nil, body, 200, []string{""}},
		"hmac sha1":             {"each of the three is taken", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha1=" + sign(sha1.New, token, body)}, body, 200, []string{""}},
		"hmac sha256":           {"each of the three is taken", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha256=" + sum256}, body, 200, []string{""}},
		"hmac sha512":           {"each of the three is taken", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha512=" + sign(sha512.New, token, body)}, body, 200, []string{""}},
		"hmac of nothing":       {"an empty body can be signed", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha256=" + sign(sha256.New, token, "")}, "", 200, []string{""}},
		"hmac wrong":            {"another token", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha256=" + sign(sha256.New, "other", body)}, body, 400, nil},
		"hmac of another body":  {"what was signed is not what was sent", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha256=" + sum256}, body + " ", 400, nil},
		"hmac missing":          {"nothing is signed", Hook{Type: "generic-hmac"}, nil, body, 400, nil},
		"hmac without a name":   {"the algorithm is named", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": sum256}, body, 400, nil},
		"hmac unknown":          {"md5 is not taken", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "md5=00"}, body, 400, nil},
		"hmac empty":            {"an algorithm alone signs nothing", Hook{Type: "generic-hmac"}, map[string]string{"X-Signature": "sha256="}, body, 400, nil},
		"github":                {"an event that is wanted", Hook{Type: "github", Events: []string{"PUSH"}}, map[string]string{"X-Hub-Signature-256": "sha256=" + sum256, "X-GitHub-Event": "push"}, body, 200, []string{"push"}},
		"github sha1":           {"the older header alone", Hook{Type: "github"}, map[string]string{"X-Hub-Signature": "sha1=" + sign(sha1.New, token, body), "X-GitHub-Event": "push"}, body, 200, []string{"push"}},
		"github wrong":          {"a wrong signature is not mended by a weaker one", Hook{Type: "github"}, map[string]string{"X-Hub-Signature-256": "sha256=" + sign(sha256.New, "other", body), "X-Hub-Signature": "sha1=" + sign(sha1.New, token, body)}, body, 400, nil},
		"github unsigned":       {"a webhook without a secret", Hook{Type: "github"}, map[string]string{"X-GitHub-Event": "push"}, body, 400, nil},
		"github other event":    {"it is well, and nothing is done", Hook{Type: "github", Events: []string{"push"}}, map[string]string{"X-Hub-Signature-256": "sha256=" + sum256, "X-GitHub-Event": "issues"}, body, 200, nil},
		"github ping":           {"a ping that is not asked for is well too", Hook{Type: "github", Events: []string{"push"}}, map[string]string{"X-Hub-Signature-256": "sha256=" + sum256, "X-GitHub-Event": "ping"}, body, 200, nil},
		"github ping asked for": {"a ping is an event like any other", Hook{Type: "github", Events: []string{"ping", "push"}}, map[string]string{"X-Hub-Signature-256": "sha256=" + sum256, "X-GitHub-Event": "ping"}, body, 200, []string{"ping"}},
		"forged ping":           {"it is verified", Hook{Type: "github", Events: []string{"push"}}, map[string]string{"X-Hub-Signature-256": "sha256=00", "X-GitHub-Event": "ping"}, body, 400, nil},
		"github form":           {"the whole body is signed", Hook{Type: "github"}, map[string]string{"X-Hub-Signature-256": "sha256=" + sign(sha256.New, token, "payload=%7B%7D"), "X-GitHub-Event": "push", "Content-Type": "application/x-www-form-urlencoded"}, "payload=%7B%7D", 200, []string{"push"}},
		"gitea":                 {"what Gitea sends", Hook{Type: "github", Events: []string{"push"}}, map[string]string{"X-Gitea-Signature": sum256, "X-Hub-Signature": "sha1=" + sign(sha1.New, token, body), "X-Hub-Signature-256": "sha256=" + sum256, "X-Gitea-Event": "push", "X-GitHub-Event": "push"}, body, 200, []string{"push"}},
		"gitea alone":           {"its own words are enough", Hook{Type: "github", Events: []string{"push"}}, map[string]string{"X-Gitea-Signature": sum256, "X-Gitea-Event": "push"}, body, 200, []string{"push"}},
		"forgejo wrong":         {"its own words are verified", Hook{Type: "github"}, map[string]string{"X-Forgejo-Signature": sign(sha256.New, "other", body)}, body, 400, nil},
		"gitlab":                {"the token itself", Hook{Type: "gitlab", Events: []string{"Push Hook"}}, map[string]string{"X-Gitlab-Token": token, "X-Gitlab-Event": "Push Hook"}, body, 200, []string{"Push Hook"}},
		"gitlab wrong":          {"another token", Hook{Type: "gitlab"}, map[string]string{"X-Gitlab-Token": token + "x"}, body, 400, nil},
		"gitlab missing":        {"no token", Hook{Type: "gitlab"}, nil, body, 400, nil},
		"gitlab other event":    {"filtered", Hook{Type: "gitlab", Events: []string{"Push Hook"}}, map[string]string{"X-Gitlab-Token": token, "X-Gitlab-Event": "Note Hook"}, body, 200, nil},
		"bitbucket":             {"the server of it signs", Hook{Type: "bitbucket", Events: []string{"repo:refs_changed"}}, map[string]string{"X-Hub-Signature": "sha256=" + sum256, "X-Event-Key": "repo:refs_changed"}, body, 200, []string{"repo:refs_changed"}},
		"bitbucket other event": {"filtered", Hook{Type: "bitbucket", Events: []string{"repo:refs_changed"}}, map[string]string{"X-Hub-Signature": "sha256=" + sum256, "X-Event-Key": "pr:opened"}, body, 200, nil},
		"bitbucket wrong":       {"another token", Hook{Type: "bitbucket"}, map[string]string{"X-Hub-Signature": "sha256=" + sign(sha256.New, "other", body)}, body, 400, nil},
		"bitbucket missing":     {"nothing is signed", Hook{Type: "bitbucket"}, map[string]string{"X-Event-Key": "pr:opened"}, body, 400, nil},
		"harbor":                {"the token itself", Hook{Type: "harbor"}, map[string]string{"Authorization": token}, body, 200, []string{""}},
		"harbor wrong":          {"another token", Hook{Type: "harbor"}, map[string]string{"Authorization": "x"}, body, 400, nil},
		"harbor missing":        {"no token", Hook{Type: "harbor"}, nil, body, 400, nil},
		"dockerhub":             {"an object", Hook{Type: "dockerhub"}, nil, `{"push_data":{"tag":"v1"}}`, 200, []string{""}},
		"dockerhub malformed":   {"no object", Hook{Type: "dockerhub"}, nil, `push`, 400, nil},
		"quay":                  {"an object", Hook{Type: "quay"}, nil, `{"docker_url":"quay.io/x"}`, 200, []string{""}},
		"quay malformed":        {"no object", Hook{Type: "quay"}, nil, `[]`, 400, nil},
		"acr":                   {"an object", Hook{Type: "acr"}, nil, `{"action":"push"}`, 200, []string{""}},
		"acr malformed":         {"no object", Hook{Type: "acr"}, nil, `null`, 400, nil},
		"nexus":                 {"a bare signature", Hook{Type: "nexus"}, map[string]string{"X-Nexus-Webhook-Signature": sign(sha1.New, token, body)}, body, 200, []string{""}},
		"nexus wrong":           {"another token", Hook{Type: "nexus"}, map[string]string{"X-Nexus-Webhook-Signature": sign(sha1.New, "other", body)}, body, 400, nil},
		"nexus missing":         {"nothing is signed", Hook{Type: "nexus"}, nil, body, 400, nil},
		"nexus malformed":       {"signed, and no object", Hook{Type: "nexus"}, map[string]string{"X-Nexus-Webhook-Signature": sign(sha1.New, token, "x")}, "x", 400, nil},
		"cdevents":              {"an event", Hook{Type: "cdevents"}, map[string]string{"Ce-Type": "dev.cdevents.artifact.published.0.2.0"}, event, 200, []string{"dev.cdevents.artifact.published.0.2.0"}},
		"cdevents other event":  {"filtered", Hook{Type: "cdevents", Events: []string{"x"}}, map[string]string{"Ce-Type": "y"}, event, 200, nil},
		"cdevents malformed":    {"some object", Hook{Type: "cdevents"}, nil, body, 400, nil},
		"cdevents foreign":      {"an event of something else", Hook{Type: "cdevents"}, nil, strings.Replace(event, "dev.cdevents", "com.example", 1), 400, nil},
		"cdevents of nothing":   {"an event without a subject", Hook{Type: "cdevents"}, nil, strings.Replace(event, `"id":"pkg"`, `"x":1`, 1), 400, nil},
		"unknown type":          {"it is closed until somebody changes it", Hook{Type: "gcr"}, nil, body, 503, nil},
		"closed":                {"nothing is taken", Hook{Type: "generic", Closed: true}, nil, body, 503, nil},
		"too long":              {"it is refused by what it says of itself", Hook{Type: "generic"}, nil, strings.Repeat("x", MaxBody+1), 413, nil},
		"as long as can be":     {"the bound itself is let in", Hook{Type: "generic"}, nil, strings.Repeat("x", MaxBody), 200, []string{""}},
		"unread":                {"the content cannot be what its type says", Hook{Type: "generic"}, map[string]string{"Content-Type": "application/json; charset=utf-8"}, "{", 400, []string{""}},
	}
	d := start(t, 0)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d.set(c.hook)
			status, said, header := d.send(t, http.MethodPost, "/hook/known", c.header, c.body)
			if status != c.want || said != "" {
				t.Errorf("%s: status %d and %q, want %d and nothing; refused %v", c.reason, status, said, c.want, d.refused)
			}
			if (status == http.StatusServiceUnavailable) != (header.Get("Retry-After") != "") {
				t.Errorf("%s: Retry-After is %q", c.reason, header.Get("Retry-After"))
			}
			if diff := cmp.Diff(c.events, d.delivered); diff != "" {
				t.Errorf("%s (-want +delivered):\n%s", c.reason, diff)
			}
			if refused := len(d.refused) > 0; refused != (c.want != 200 && !c.hook.Closed) {
				t.Errorf("%s: refused is %v", c.reason, d.refused)
			}
			if text := strings.Join(d.refused, " "); strings.Contains(text, token) || strings.Contains(text, sum256) {
				t.Errorf("%s: a secret is in %q", c.reason, text)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	d := start(t, 0)
	d.set(Hook{Type: "generic"})
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		if status, said, header := d.send(t, method, "/hook/known", nil, ""); status != 405 || said != "" || header.Get("Allow") != "POST" {
			t.Errorf("%s: status %d, %q", method, status, said)
		}
	}
	for _, path := range []string{"/hook/unknown", "/hook/", "/", "/hook/known/", "/x/../hook/other"} {
		if status, said, _ := d.send(t, http.MethodPost, path, nil, "x"); status != 404 || said != "" {
			t.Errorf("%s: status %d, %q", path, status, said)
		}
	}
	d.fails = errors.New("one of them failed")
	if status, said, _ := d.send(t, http.MethodPost, "/hook/known", nil, "x"); status != 500 || said != "" {
		t.Errorf("a delivery that fails: status %d, %q", status, said)
	}
}

// TestLongWithoutLength sends more than is taken, without saying how much.
func TestLongWithoutLength(t *testing.T) {
	d := start(t, 0)
	d.set(Hook{Type: "generic"})
	body := struct{ io.Reader }{strings.NewReader(strings.Repeat("x", MaxBody+1))}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.server.URL+"/hook/known", body)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 413 || len(d.delivered) != 0 {
		t.Errorf("status %d, delivered %v", answer.StatusCode, d.delivered)
	}
}

// TestSlowBody begins a request and never ends it.
func TestSlowBody(t *testing.T) {
	d := start(t, 20*time.Millisecond)
	d.set(Hook{Type: "generic"})
	conn, err := net.Dial("tcp", d.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "POST /hook/known HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 408 ") {
		t.Errorf("error %v, answer %q", err, said)
	}
}

func TestPayload(t *testing.T) {
	cases := map[string]struct {
		reason, kind, body string
		want               map[string]any
		err                bool
	}{
		"json":    {"an object", "application/json", `{"a":1}`, map[string]any{"a": 1.0}, false},
		"charset": {"with a charset", "application/json; charset=utf-8", `{"a":"b"}`, map[string]any{"a": "b"}, false},
		"form":    {"GitHub's form", "application/x-www-form-urlencoded", "payload=%7B%22a%22%3A1%7D", map[string]any{"a": 1.0}, false},
		"no form": {"a form of somebody else", "application/x-www-form-urlencoded", "a=1", map[string]any{}, false},
		"text":    {"no object is promised", "text/plain", `{"a":1}`, map[string]any{}, false},
		"nothing": {"nothing is promised", "", "", map[string]any{}, false},
		"list":    {"no object", "application/json", "[1]", nil, true},
		"broken":  {"no JSON", "application/json", "{", nil, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Delivery{header: http.Header{"Content-Type": {c.kind}}, body: []byte(c.body)}.Payload()
			if (err != nil) != c.err || errors.Is(err, ErrMalformed) != c.err {
				t.Fatalf("%s: error %v", c.reason, err)
			}
			if !maps.EqualFunc(got, c.want, func(a, b any) bool { return cmp.Equal(a, b) }) {
				t.Errorf("%s: %v, want %v", c.reason, got, c.want)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	want := []string{"acr", "bitbucket", "cdevents", "dockerhub", "generic", "generic-hmac", "github", "gitlab", "harbor", "nexus", "quay"}
	if diff := cmp.Diff(want, Types()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !NamesEvents("github") || NamesEvents("generic") {
		t.Error("GitHub names its events, and nobody else's are known")
	}
}
