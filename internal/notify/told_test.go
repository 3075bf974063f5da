package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/notify"
)

func TestWhatIsTold(t *testing.T) {
	errorsOnly := func(a *notify.Alert) { a.Severity = notify.SeverityError }
	cases := map[string]struct {
		reason string
		alert  func(*notify.Alert)
		facts  []notify.Fact
		want   []string
	}{
		"same": {
			"the same event is told once", nil,
			[]notify.Fact{event("a", "info", "x"), event("a", "info", "x"), event("b", "info", "x")},
			[]string{"info a x", "info b x"},
		},
		"recovered": {
			"who was told of an error is told of its end, once, though it wants errors alone", errorsOnly,
			[]notify.Fact{ready("a", "done 1"), event("a", "error", "x"), event("a", "info", "y"), ready("a", "done 2"), ready("a", "done 3")},
			[]string{"error a x", "info a recovered: done 2"},
		},
		"not told": {
			"who was not told of the error is not told of its end", func(a *notify.Alert) { a.Exclude = []*regexp.Regexp{regexp.MustCompile("^x")} },
			[]notify.Fact{event("a", "error", "xyz"), ready("a", "done"), event("a", "info", "z")},
			[]string{"info a z"},
		},
		"commit status": {
			"what is for forges alone is not told in a chat", nil,
			[]notify.Fact{ready("a", "done"), event("a", "info", "z")},
			[]string{"info a z"},
		},
		"inclusion": {
			"an inclusion leaves the rest out, but not the end of what was told", func(a *notify.Alert) { a.Include = []*regexp.Regexp{regexp.MustCompile("timeout")} },
			[]notify.Fact{event("a", "info", "z"), event("a", "error", "a timeout"), event("a", "error", "other"), ready("a", "done")},
			[]string{"error a a timeout", "info a recovered: done"},
		},
		"source": {
			"an Alert names its objects", func(a *notify.Alert) { a.Sources[0].Name = "b" },
			[]notify.Fact{event("a", "info", "z"), event("b", "info", "z")},
			[]string{"info b z"},
		},
		"labels": {
			"an Alert selects by labels", func(a *notify.Alert) { a.Sources[0].MatchLabels = map[string]string{"app": "b"} },
			[]notify.Fact{labelled("a", nil), labelled("b", map[string]string{"app": "b", "x": "y"}), event("c", "info", "hello")},
			[]string{"info b hello"},
		},
		"metadata": {
			"annotations < Alert < summary < controller", func(a *notify.Alert) {
				a.Metadata, a.Summary = map[string]string{"k": "alert", "summary": "alert", "revision": "alert"}, "summary"
				a.Sources[0].Name = "m"
			},
			[]notify.Fact{annotated()},
			[]string{"info m hello"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSink(t, nil)
			a := to("p")
			if tc.alert != nil {
				tc.alert(a)
			}
			o := open(t, "", notify.Limits{}, a)
			o.provide("p", s)
			for _, f := range tc.facts {
				o.Publish(f)
			}
			last := to("p")
			last.Sources[0].Kind = "End"
			o.mu.Lock()
			o.alerts = []*notify.Alert{a, last}
			o.mu.Unlock()
			end := event("end", "info", "end")
			end.Event.InvolvedObject.Kind = "End"
			o.Publish(end)
			got := s.after(t, len(tc.want)+1)
			if diff := cmp.Diff(append(tc.want, "info end end"), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if name != "metadata" {
				return
			}
			var e notify.Event
			if err := json.Unmarshal([]byte(s.requests()[0].Body), &e); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"k": "alert", "only": "annotation", "summary": "summary", "revision": "main@sha1:" + commit}
			if diff := cmp.Diff(want, e.Metadata); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func labelled(name string, labels map[string]string) notify.Fact {
	f := event(name, notify.SeverityInfo, "hello")
	f.Labels = func(context.Context) (map[string]string, error) { return labels, nil }
	return f
}

func annotated() notify.Fact {
	f := event("m", notify.SeverityInfo, "hello")
	f.Event.Metadata["event.toolkit.fluxcd.io/k"] = "annotation"
	f.Event.Metadata["event.toolkit.fluxcd.io/only"] = "annotation"
	f.Event.Metadata["other/x"] = "y"
	f.Event.Metadata["kustomize.toolkit.fluxcd.io/token"] = "t"
	return f
}

// TestForgeIsTold checks which events become the status of a commit.
func TestForgeIsTold(t *testing.T) {
	s := newSink(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("[]")) })
	a := to("p")
	a.Forge, a.Kind = true, "gitea"
	o := open(t, t.TempDir(), notify.Limits{}, a)
	o.mu.Lock()
	o.providers["p"] = notify.Settings{Type: "gitea", Address: s.URL + "/o/r", Token: "t", Context: "c"}
	o.mu.Unlock()
	chart := event("a", notify.SeverityError, "no commit")
	chart.Event.Metadata = map[string]string{"kustomize.toolkit.fluxcd.io/revision": "1.2.3"}
	drifted := event("a", notify.SeverityError, "a foreign change")
	drifted.Failing = false
	for _, f := range []notify.Fact{
		event("a", "info", "changed"), chart, drifted, event("a", "error", "broken"), event("a", "error", "broken a bit differently"),
		ready("a", "done in 1s"), ready("a", "done in 2s"), event("a", "error", "broken"),
	} {
		f.Event.Reason = map[bool]string{true: "ReconciliationSucceeded", false: "BuildFailed"}[f.Ready]
		o.Publish(f)
	}
	wait(t, "three are delivered", func() bool { return o.outcome("delivered") == 3 })
	var states []string
	for _, r := range s.requests() {
		if r.Method == http.MethodPost {
			var st struct{ State, Description string }
			if err := json.Unmarshal([]byte(r.Body), &st); err != nil {
				t.Fatal(err)
			}
			states = append(states, st.State+": "+st.Description)
		}
	}
	want := []string{"failure: build failed", "success: reconciliation succeeded", "failure: build failed"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("the statuses (-want +got):\n%s", diff)
	}
}

// TestProviderMended holds a delivery back while its Provider cannot be read.
func TestProviderMended(t *testing.T) {
	s := newSink(t, nil)
	o := open(t, "", notify.Limits{Retry: time.Hour, MaxRetry: time.Hour}, to("p"))
	o.held["p"] = errors.New("the Secret is gone")
	o.provide("p", s)
	o.Publish(event("a", "info", "x"))
	wait(t, "it is tried", func() bool { return o.outcome("retried") == 1 })
	o.mu.Lock()
	delete(o.held, "p")
	o.mu.Unlock()
	o.provide("p", s)
	if diff := cmp.Diff([]string{"info a x"}, s.after(t, 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"the Secret is gone"}, o.failures); diff != "" {
		t.Error(diff)
	}
}

func TestHandler(t *testing.T) {
	s := newSink(t, nil)
	o := open(t, "", notify.Limits{}, to("p"))
	o.provide("p", s)
	server := newServer(t, o.Handler(notify.Outside))
	body, err := json.Marshal(event("a", "info", "from elsewhere").Event)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		method, body string
		want         int
	}{
		{"POST", string(body), 202},
		{"POST", string(body), 429},
		{"POST", "{", 400},
		{"POST", `{"severity":"info"}`, 400},
		{"POST", strings.Replace(string(body), `"info"`, `"loud"`, 1), 400},
		{"POST", `{"message":"` + strings.Repeat("x", 300<<10) + `"}`, 400},
		{"GET", "", 405},
	}
	for _, tc := range cases {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, server, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != tc.want {
			t.Errorf("%s %.40s: %d, want %d", tc.method, tc.body, answer.StatusCode, tc.want)
		}
	}
	if diff := cmp.Diff([]string{"info a from elsewhere"}, s.after(t, 1)); diff != "" {
		t.Error(diff)
	}
}
