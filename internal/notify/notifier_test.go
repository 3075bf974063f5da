package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/notify"
)

// patience is how long a test waits for a condition.
const patience = 30 * time.Second

// office is a Notifier with the Providers that a test has.
type office struct {
	*notify.Notifier
	t    *testing.T
	stop context.CancelFunc

	mu        sync.Mutex
	alerts    []*notify.Alert
	providers map[string]notify.Settings
	held      map[string]error
	failures  []string
	outcomes  map[string]int
}

func to(provider string) *notify.Alert {
	return &notify.Alert{
		Ref: notify.Ref{Namespace: "team", Name: "to-" + provider}, Provider: notify.Ref{Namespace: "team", Name: provider}, Kind: "generic",
		Sources: []notify.Source{{Kind: "Kustomization", Namespace: "team", Name: "*"}},
	}
}

func open(t *testing.T, dir string, limits notify.Limits, alerts ...*notify.Alert) *office {
	t.Helper()
	o := &office{t: t, alerts: alerts, providers: map[string]notify.Settings{}, held: map[string]error{}, outcomes: map[string]int{}}
	var ctx context.Context
	ctx, o.stop = context.WithCancel(t.Context())
	if limits.Retry == 0 {
		limits.Retry, limits.MaxRetry = time.Millisecond, 20*time.Millisecond
	}
	n, err := notify.Start(ctx, notify.Config{
		Dir: dir, Limits: limits, Log: logr.Discard(),
		Alerts: func(string, string) []*notify.Alert {
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.alerts
		},
		Resolve: func(_ context.Context, d notify.Delivery) (notify.Settings, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			s, there := o.providers[d.Provider.Name]
			if !there {
				return s, notify.ErrSuspended
			}
			return s, o.held[d.Provider.Name]
		},
		Failed: func(_ notify.Delivery, err error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if err != nil {
				o.failures = append(o.failures, err.Error())
			}
		},
		Count: func(_, outcome string) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.outcomes[outcome]++
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o.Notifier = n
	t.Cleanup(o.close)
	return o
}

// close ends the Notifier as the end of an engine does.
func (o *office) close() {
	o.stop()
	o.Wait()
}

// provide says where a Provider is.
func (o *office) provide(name string, s *sink) {
	o.mu.Lock()
	o.providers[name] = notify.Settings{Type: "generic", Address: s.URL, Timeout: patience}
	o.mu.Unlock()
	o.Changed(notify.Ref{Namespace: "team", Name: name})
}

func (o *office) outcome(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.outcomes[name]
}

func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("waiting until %s", what)
		case <-tick.C:
		}
	}
}

func (s *sink) messages() []string {
	var list []string
	for _, r := range s.requests() {
		var e notify.Event
		if json.Unmarshal([]byte(r.Body), &e) == nil {
			list = append(list, e.Severity+" "+e.InvolvedObject.Name+" "+e.Message)
		}
	}
	return list
}

// after waits until so many messages came.
func (s *sink) after(t *testing.T, n int) []string {
	t.Helper()
	wait(t, fmt.Sprintf("%d messages came", n), func() bool { return len(s.requests()) >= n })
	return s.messages()
}

func event(name, severity, message string) notify.Fact {
	e := sample(severity)
	e.InvolvedObject.Name, e.Message = name, message
	e.Metadata = map[string]string{"kustomize.toolkit.fluxcd.io/revision": "main@sha1:" + commit}
	return notify.Fact{Event: e, Failing: severity == notify.SeverityError}
}

func ready(name, message string) notify.Fact {
	f := event(name, notify.SeverityInfo, message)
	f.Ready, f.Event.Metadata["kustomize.toolkit.fluxcd.io/commit_status"] = true, "update"
	return f
}

func TestSlowReceiver(t *testing.T) {
	release := make(chan struct{})
	slow := newSink(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	fast := newSink(t, nil)
	o := open(t, t.TempDir(), notify.Limits{}, to("slow"), to("fast"))
	o.provide("slow", slow)
	o.provide("fast", fast)
	const many = 50
	for i := range many {
		o.Publish(event("app", notify.SeverityInfo, fmt.Sprint(i)))
	}
	// The fast one is done while the first message to the slow one is still on its way.
	fast.after(t, many)
	if got := len(slow.requests()); got > 1 {
		t.Errorf("%d messages reached the slow one", got)
	}
	close(release)
	if diff := cmp.Diff(fast.messages(), slow.after(t, many)); diff != "" {
		t.Errorf("the order differs (-fast +slow):\n%s", diff)
	}
}

func TestBrokenReceiver(t *testing.T) {
	cases := map[string]struct {
		reason string
		// breakdown is what becomes of the first requests.
		breakdown func(w http.ResponseWriter, r *http.Request)
		outcome   string
	}{
		"500":   {"an error of the server is tried again", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "delivered"},
		"reset": {"a connection that breaks is tried again", reset, "delivered"},
		"429": {"who is asked to come later does", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
		}, "delivered"},
		"404": {"who is told that it is wrong gives up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "rejected"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var times []time.Time
			s := newSink(t, func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				times = append(times, time.Now())
				broken := len(times) < 3
				mu.Unlock()
				if broken {
					tc.breakdown(w, r)
				}
			})
			o := open(t, t.TempDir(), notify.Limits{}, to("p"))
			o.provide("p", s)
			o.Publish(event("app", notify.SeverityInfo, "hello"))
			wait(t, "it is "+tc.outcome, func() bool { return o.outcome(tc.outcome) == 1 })
			want := 3
			if tc.outcome == "rejected" {
				want = 1
			}
			if got := len(s.requests()); got != want {
				t.Errorf("%s: %d attempts, want %d", tc.reason, got, want)
			}
			mu.Lock()
			defer mu.Unlock()
			if name == "429" && times[1].Sub(times[0]) < time.Second {
				t.Errorf("it came back after %s", times[1].Sub(times[0]))
			}
		})
	}
}

func reset(w http.ResponseWriter, _ *http.Request) {
	if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// TestPoison lets one message be refused for ever; those about other objects go on.
func TestPoison(t *testing.T) {
	var mu sync.Mutex
	s := newSink(t, nil)
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got := s.requests()
		if strings.Contains(got[len(got)-1].Body, "poison") {
			w.WriteHeader(500)
		}
	}
	o := open(t, t.TempDir(), notify.Limits{}, to("p"))
	o.Publish(event("bad", notify.SeverityInfo, "poison"))
	o.Publish(event("bad", notify.SeverityInfo, "after"))
	o.Publish(event("good", notify.SeverityInfo, "one"))
	o.Publish(event("good", notify.SeverityInfo, "two"))
	o.provide("p", s)
	wait(t, "the others are delivered", func() bool { return o.outcome("delivered") == 2 })
	if text := strings.Join(s.messages(), "\n"); strings.Contains(text, "bad after") || !strings.Contains(text, "two") {
		t.Errorf("the messages are\n%s", text)
	}
}

func TestFlood(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir, notify.Limits{Deliveries: 20}, to("p"))
	const many = 300
	o.Publish(event("app", notify.SeverityError, "an error"))
	for i := range many {
		o.Publish(event("app", notify.SeverityInfo, fmt.Sprint(i)))
	}
	wait(t, "the rest is dropped", func() bool { return o.outcome("dropped") == many+1-20 })
	files := func() int {
		found, _ := filepath.Glob(filepath.Join(dir, "0*.json"))
		return len(found)
	}
	wait(t, "what is left is written down", func() bool { return files() == 20 })
	s := newSink(t, nil)
	o.provide("p", s)
	got := s.after(t, 20)
	if got[0] != "error app an error" || got[19] != fmt.Sprintf("info app %d", many-1) {
		t.Errorf("the messages are %v", got)
	}
	wait(t, "the queue is empty", func() bool { return files() == 0 })
}

// TestRestart starts over on a directory with a full queue.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir, notify.Limits{}, to("p"), to("q"))
	const many = 100
	var want []string
	for i := range many {
		f := event(fmt.Sprintf("app%d", i%7), notify.SeverityInfo, fmt.Sprint(i))
		before.Publish(f)
		want = append(want, "info "+f.Event.InvolvedObject.Name+" "+f.Event.Message)
	}
	before.Publish(event("broken", notify.SeverityError, "it is broken"))
	want = append(want, "error broken it is broken", "info broken recovered: fine")
	count := func() int {
		files, _ := filepath.Glob(filepath.Join(dir, "0*.json"))
		return len(files)
	}
	wait(t, "all is written down", func() bool { return count() == 2*(many+1) })
	before.close()
	// What a killed process leaves behind is harmless.
	for name, text := range map[string]string{".half-1": "x", "00000000000000000001-000001.json": "{", "x.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	after := open(t, dir, notify.Limits{}, to("p"), to("q"))
	// The error is known, and so is what was just sent.
	if after.Publish(event("broken", notify.SeverityError, "it is broken")) {
		t.Error("what was told before is taken again")
	}
	after.Publish(ready("broken", "fine"))
	for _, name := range []string{"p", "q"} {
		s := newSink(t, nil)
		after.provide(name, s)
		wait(t, "all is delivered", func() bool { return len(s.requests()) >= len(want) })
		if diff := cmp.Diff(want, s.messages()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	wait(t, "the queue is empty", func() bool { return count() == 0 })
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "told.json" {
		t.Errorf("there is left: %v, %v", left, err)
	}
}

// TestNoSecretOnDisk reads every file of a queue whose Provider has secrets.
func TestNoSecretOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := newSink(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	o := open(t, dir, notify.Limits{}, to("p"))
	o.mu.Lock()
	o.providers["p"] = notify.Settings{Type: "slack", Address: s.URL + "/services/s3cret-path", Token: "s3cret-token", Headers: map[string]string{"X": "s3cret-header"}}
	o.mu.Unlock()
	o.Publish(event("app", notify.SeverityError, "it is broken"))
	wait(t, "it is tried again", func() bool { return o.outcome("retried") > 2 })
	o.close()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(data); strings.Contains(text, "s3cret") || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s has a secret: %s", name, text)
		}
	}
}
