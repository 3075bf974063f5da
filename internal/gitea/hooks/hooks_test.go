package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// directory is a Directory of these hooks.
type directory []Hook

func (d directory) Hooks(context.Context, Source) ([]Hook, error) { return d, nil }

// client permits receivers of this machine.
func client(t *testing.T, timeout time.Duration) *http.Client {
	t.Helper()
	rules, err := egress.Parse(egress.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	return rules.Client(timeout)
}

func dispatcher(t *testing.T, hooks ...Hook) *Dispatcher {
	t.Helper()
	return New(t.Context(), Config{Directory: directory(hooks), Client: client(t, time.Minute)})
}

// await waits for a number of records of a hook.
func await(t *testing.T, d *Dispatcher, hook int64, n int) []Delivery {
	t.Helper()
	for {
		if past := d.Deliveries(hook); len(past) >= n {
			return past
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("hook %d has no %d deliveries", hook, n)
		case <-time.After(time.Millisecond):
		}
	}
}

// request is one that a receiver got.
type request struct {
	header http.Header
	body   string
}

func receiver(t *testing.T) (string, <-chan request) {
	t.Helper()
	got := make(chan request, 200)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Header, string(body)}
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

var pushed = Event{
	Type: TypePush, Ref: "refs/heads/main", Source: Source{"dev", "app"},
	Payload: Push{Ref: "refs/heads/main", Before: strings.Repeat("0", 40), Repository: map[string]any{"full_name": "dev/app"}},
}

func TestHeaders(t *testing.T) {
	at, got := receiver(t)
	d := dispatcher(t, Hook{ID: 7, Target: "system", URL: at, Secret: "key", Authorization: "Bearer abc", Active: true})
	if err := d.Notify(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	sent := <-got
	id := sent.header.Get("X-Gitea-Delivery")
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("the delivery is %q", id)
	}
	signing := delivery{hook: Hook{Secret: "key"}, payload: []byte(sent.body)}
	header := http.Header{}
	signing.kind, signing.hook.Target = TypePush, "system"
	signing.mark(header, id)
	want := map[string]string{"Authorization": "Bearer abc", "Content-Type": "application/json", "User-Agent": "Headgate"}
	for name, values := range header {
		want[http.CanonicalHeaderKey(name)] = values[0]
	}
	for name, value := range want {
		if sent.header.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, sent.header.Get(name), value)
		}
	}
	if len(header) != 15 {
		t.Errorf("there are %d headers of events", len(header))
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(sent.body), &fields); err != nil || fields["ref"] != "refs/heads/main" {
		t.Errorf("the payload is %s", sent.body)
	}
	past := await(t, d, 7, 1)
	if past[0].ID != id || past[0].Status != http.StatusOK || past[0].Error != "" || past[0].Event != TypePush {
		t.Errorf("the record is %+v", past[0])
	}
}

// TestSignaturesVerify has the receiver of this engine, and independent digests, verify what is sent.
func TestSignaturesVerify(t *testing.T) {
	events := make(chan string, 1)
	hook := webhook.Hook{Name: "h", Type: "github", Token: "key", Deliver: func(_ context.Context, d webhook.Delivery) error {
		events <- d.Event
		return nil
	}}
	server := httptest.NewServer(webhook.New(webhook.Config{Find: func(string) (webhook.Hook, bool) { return hook, true }}))
	defer server.Close()
	d := dispatcher(t, Hook{ID: 1, URL: server.URL, Secret: "key", Active: true}, Hook{ID: 2, URL: server.URL, Secret: "other", Active: true})
	if err := d.Notify(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	if event := <-events; event != TypePush {
		t.Errorf("the event is %q", event)
	}
	if past := await(t, d, 1, 1); past[0].Status/100 != 2 {
		t.Errorf("the receiver refused it: %+v", past[0])
	}
	if past := await(t, d, 2, 1); past[0].Status != http.StatusBadRequest || past[0].Error == "" {
		t.Errorf("a wrong secret gives %+v", past[0])
	}
	// Digests of "what do ya want for nothing?", by RFC 4231 and RFC 2202.
	vector := delivery{hook: Hook{Secret: "Jefe"}, payload: []byte("what do ya want for nothing?")}
	header := http.Header{}
	vector.mark(header, "x")
	strong := "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	want := map[string]string{
		"X-Gitea-Signature": strong, "X-Gogs-Signature": strong, "X-Hub-Signature-256": "sha256=" + strong,
		"X-Hub-Signature": "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
	}
	for name, value := range want {
		if header[name][0] != value {
			t.Errorf("%s is %q", name, header[name][0])
		}
	}
}

func TestForm(t *testing.T) {
	at, got := receiver(t)
	d := dispatcher(t, Hook{ID: 1, URL: at, ContentType: Form, Secret: "key", Active: true})
	if err := d.Notify(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	sent := <-got
	form, err := url.ParseQuery(sent.body)
	if err != nil || sent.header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		t.Fatalf("no form was sent: %v, %v", sent, err)
	}
	payload := form.Get("payload")
	header := http.Header{}
	delivery{hook: Hook{Secret: "key"}, payload: []byte(payload)}.mark(header, "x")
	if !strings.Contains(payload, `"full_name": "dev/app"`) || sent.header.Get("X-Gitea-Signature") != header["X-Gitea-Signature"][0] {
		t.Errorf("the signature is not that of the payload: %v", sent)
	}
}

func TestWantsAndFilters(t *testing.T) {
	cases := map[string]struct {
		reason      string
		hook        Hook
		kind, ref   string
		wants, pass bool
	}{
		"Default":   {"without events it is pushes", Hook{}, TypePush, "refs/heads/main", true, true},
		"Others":    {"and nothing else", Hook{}, TypeCreate, "refs/heads/main", false, true},
		"Named":     {"an event that it has", Hook{Events: []string{"create", "package"}}, TypePackage, "", true, true},
		"Sync":      {"pull requests are all of their events", Hook{Events: []string{"pull_request"}}, TypePullRequestSync, "", true, true},
		"OnlySync":  {"not the other way round", Hook{Events: []string{"pull_request_sync"}}, TypePullRequest, "", false, true},
		"Branch":    {"the branch of the filter", Hook{BranchFilter: "main"}, TypePush, "refs/heads/main", true, true},
		"Other":     {"another branch", Hook{BranchFilter: "main"}, TypePush, "refs/heads/mainly", true, false},
		"Glob":      {"a pattern", Hook{BranchFilter: "{main,release/*}"}, TypePush, "refs/heads/release/1", true, true},
		"Tag":       {"a tag is no branch", Hook{BranchFilter: "v*"}, TypePush, "refs/tags/v1", true, false},
		"FullName":  {"but has a full name", Hook{BranchFilter: "refs/tags/*"}, TypePush, "refs/tags/v1", true, true},
		"Malformed": {"a filter that is no glob", Hook{BranchFilter: "[a"}, TypePush, "refs/heads/a", true, false},
		"Long":      {"a filter that costs too much", Hook{BranchFilter: strings.Repeat("{a,", 100) + "b" + strings.Repeat("}", 100)}, TypePush, "refs/heads/a", true, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := c.hook.Wants(c.kind); got != c.wants {
				t.Errorf("%s: it wants %s: %v", c.reason, c.kind, got)
			}
			if got := c.hook.Filters(c.ref); got != c.pass {
				t.Errorf("%s: %q passes: %v", c.reason, c.ref, got)
			}
		})
	}
}

func TestOnlyTheConcernedAreNotified(t *testing.T) {
	at, got := receiver(t)
	d := dispatcher(
		t,
		Hook{ID: 1, URL: at, Active: false},
		Hook{ID: 2, URL: at, Active: true, Events: []string{"package"}},
		Hook{ID: 3, URL: at, Active: true, BranchFilter: "dev"},
		Hook{ID: 4, URL: at, Active: true},
	)
	if err := d.Notify(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	await(t, d, 4, 1)
	<-got
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queues) != 1 || len(got) != 0 {
		t.Errorf("%d hooks got the event", len(d.queues))
	}
}

// TestSlowReceiver has a receiver that never answers delay its own hook alone, within bounds of memory.
func TestSlowReceiver(t *testing.T) {
	begun, release := make(chan struct{}, 1), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-release
	}))
	defer slow.Close()
	at, got := receiver(t)
	d := dispatcher(t, Hook{ID: 1, URL: slow.URL, Active: true}, Hook{ID: 2, URL: at, Active: true})
	if err := d.Notify(t.Context(), pushed); err != nil {
		t.Fatal(err)
	}
	<-begun
	for range maxQueued + 5 {
		if err := d.Notify(t.Context(), pushed); err != nil {
			t.Fatal(err)
		}
		<-got
	}
	past := d.Deliveries(1)
	if len(past) != 5 || past[0].Error != errFull.Error() {
		t.Errorf("the queue that is full dropped %+v", past)
	}
	large := pushed
	large.Payload = strings.Repeat("x", maxPayload-10)
	for range 10 {
		if err := d.Deliver(Hook{ID: 1, URL: slow.URL}, large); err != nil {
			t.Fatal(err)
		}
	}
	d.mu.Lock()
	if q := d.queues[1]; q.bytes > maxBytes || len(q.waiting) > maxQueued || len(q.past) > keep {
		t.Errorf("%d deliveries of %d bytes wait, with %d records", len(q.waiting), q.bytes, len(q.past))
	}
	d.mu.Unlock()
	large.Payload = strings.Repeat("x", maxPayload)
	if err := d.Deliver(Hook{ID: 1, URL: slow.URL}, large); err == nil {
		t.Error("a payload that is too long was queued")
	}
	d.Forget(1)
	if d.Deliveries(1) != nil {
		t.Error("a hook that was deleted has records")
	}
	close(release)
}

// TestOrder has the events of a hook arrive one after the other, as they happened.
func TestOrder(t *testing.T) {
	at, got := receiver(t)
	d := dispatcher(t, Hook{ID: 1, URL: at, Active: true})
	for i := range 50 {
		event := pushed
		event.Payload = i
		if err := d.Notify(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		if sent := <-got; sent.body != fmt.Sprint(i) {
			t.Fatalf("delivery %d is %s", i, sent.body)
		}
	}
	if past := await(t, d, 1, keep); len(past) != keep {
		t.Errorf("there are %d records", len(past))
	}
}

// TestFailuresKeepSecrets has receivers fail in every way; the secrets of a hook are in no record and no log.
func TestFailuresKeepSecrets(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	silent := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-silent }))
	defer mute.Close()
	defer close(silent)
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.URL.String()+r.Header.Get("Authorization"), http.StatusTeapot)
	}))
	defer failing.Close()
	const secret = "s3cr3t"
	cases := map[string]struct{ url, kind, want string }{
		"Refused":   {closed.URL + "/" + secret + "?token=" + secret, JSON, "refused"},
		"Forbidden": {"http://user:" + secret + "@169.254.169.254/" + secret, JSON, "not permitted"},
		"Status":    {failing.URL + "/" + secret, JSON, "418"},
		"Silent":    {mute.URL + "/" + secret, JSON, "in time"},
		"Malformed": {"http://" + secret + "\x7f", JSON, "malformed"},
		"Scheme":    {"file:///etc/" + secret, JSON, "unsupported protocol scheme"},
		"Type":      {failing.URL, "xml", `"xml"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			lines := make(chan string, 10)
			log := funcr.New(func(_, args string) { lines <- args }, funcr.Options{Verbosity: 1})
			timeout := time.Minute
			if name == "Silent" {
				timeout = 10 * time.Millisecond
			}
			d := New(t.Context(), Config{Client: client(t, timeout), Log: log, Guard: guard.New(log, nil)})
			if err := d.Deliver(Hook{ID: 1, URL: c.url, ContentType: c.kind, Secret: secret, Authorization: "token " + secret}, pushed); err != nil {
				t.Fatal(err)
			}
			past := await(t, d, 1, 1)[0]
			line := <-lines
			if !strings.Contains(past.Error, c.want) {
				t.Errorf("the record is %q, want %q in it", past.Error, c.want)
			}
			if strings.Contains(past.Error+line, secret) {
				t.Errorf("the secret is shown by %q or %q", past.Error, line)
			}
		})
	}
}

// TestPayloads compares the fields of payloads with those that Gitea documents.
func TestPayloads(t *testing.T) {
	cases := map[string]struct {
		payload any
		want    []string
	}{
		TypePush:        {Push{}, []string{"after", "before", "commits", "compare_url", "head_commit", "pusher", "ref", "repository", "sender", "total_commits"}},
		"commit":        {Commit{}, []string{"added", "author", "committer", "id", "message", "modified", "removed", "timestamp", "url", "verification"}},
		TypeCreate:      {Created{}, []string{"ref", "ref_type", "repository", "sender", "sha"}},
		TypeDelete:      {Deleted{}, []string{"pusher_type", "ref", "ref_type", "repository", "sender"}},
		TypeRepository:  {Repository{}, []string{"action", "organization", "repository", "sender"}},
		TypePullRequest: {PullRequest{}, []string{"action", "commit_id", "number", "pull_request", "repository", "requested_reviewer", "review", "sender"}},
		TypeRelease:     {Release{}, []string{"action", "release", "repository", "sender"}},
		TypePackage:     {Package{}, []string{"action", "organization", "package", "repository", "sender"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(c.payload)
			if err != nil {
				t.Fatal(err)
			}
			fields := map[string]any{}
			if err := json.Unmarshal(text, &fields); err != nil {
				t.Fatal(err)
			}
			want := map[string]any{}
			for _, field := range c.want {
				want[field] = fields[field]
			}
			if diff := cmp.Diff(want, fields); diff != "" {
				t.Errorf("the fields differ (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzFilters(f *testing.F) {
	f.Add("{main,release/*}", "main")
	f.Add("[a-", "a")
	f.Fuzz(func(t *testing.T, filter, branch string) {
		hook := Hook{BranchFilter: filter}
		if err := CheckFilter(filter); err != nil && hook.Filters("refs/heads/"+branch) {
			t.Errorf("the filter %q, of which it is said %v, lets %q pass", filter, err, branch)
		}
	})
}
