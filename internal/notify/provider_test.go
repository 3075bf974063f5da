package notify_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/notify"
)

// request is what a sink received.
type request struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// sink is a receiver. It is safe for concurrent use.
type sink struct {
	*httptest.Server
	mu  sync.Mutex
	got []request
	// answer, when set, answers; else everything is fine.
	answer func(w http.ResponseWriter, r *http.Request)
	came   chan struct{}
}

func newSink(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *sink {
	t.Helper()
	s := &sink{answer: answer, came: make(chan struct{}, 10000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.got = append(s.got, request{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header, string(body)})
		s.mu.Unlock()
		if s.answer != nil {
			s.answer(w, r)
		}
		s.came <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func sample(severity string) notify.Event {
	return notify.Event{
		InvolvedObject: notify.Object{
			Kind: "Kustomization", Namespace: "team", Name: "app", UID: "u-1", APIVersion: "kustomize.toolkit.fluxcd.io/v1",
		},
		Severity: severity, Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Message: "it is <broken>", Reason: "HealthCheckFailed",
		Metadata:            map[string]string{"revision": "main@sha1:" + commit, "summary": "prod"},
		ReportingController: "kustomize-controller", ReportingInstance: "here",
	}
}

const slackBody = `{"channel":"ops","username":"kustomize-controller","icon_url":"","icon_emoji":"","attachments":[{"color":"danger",
"author_name":"kustomization/app.team","text":"it is <broken>","mrkdwn_in":["text"],"fields":[
{"title":"summary","value":"prod","short":false},{"title":"revision","value":"main@sha1:` + commit + `","short":false}]}]}`

const wireBody = `{"involvedObject":{"kind":"Kustomization","namespace":"team","name":"app","uid":"u-1","apiVersion":"kustomize.toolkit.fluxcd.io/v1"},
"severity":"error","timestamp":"2026-01-02T03:04:05Z","message":"it is <broken>","reason":"HealthCheckFailed",
"metadata":{"revision":"main@sha1:` + commit + `","summary":"prod"},"reportingController":"kustomize-controller","reportingInstance":"here"}`

// TestProviders sends an event to a sink of each type, and checks what arrives.
func TestProviders(t *testing.T) {
	type want struct {
		method, path, query string
		header              map[string]string
		body                string
	}
	cases := map[string]struct {
		reason   string
		settings notify.Settings
		severity string
		// suffix follows the address of the sink.
		suffix string
		answer string
		want   []want
	}{
		"generic": {
			reason:   "the event is forwarded as it is, with the headers of the Secret",
			settings: notify.Settings{Type: "generic", Headers: map[string]string{"Authorization": "Bearer t0ken"}}, suffix: "/hook",
			want: []want{{"POST", "/hook", "", map[string]string{"Gotk-Component": "kustomize-controller", "Authorization": "Bearer t0ken", "Content-Type": "application/json"}, wireBody}},
		},
		"slack webhook": {
			reason:   "a webhook needs no login",
			settings: notify.Settings{Type: "slack", Channel: "ops"}, suffix: "/services/T/B/x",
			want: []want{{"POST", "/services/T/B/x", "", map[string]string{"Authorization": ""}, slackBody}},
		},
		"slack api": {
			reason:   "the API takes a token, and answers in the body",
			settings: notify.Settings{Type: "slack", Channel: "ops", Token: "xoxb"}, suffix: "/api/chat.postMessage", answer: `{"ok":true}`,
			want: []want{{"POST", "/api/chat.postMessage", "", map[string]string{"Authorization": "Bearer xoxb"}, slackBody}},
		},
		"discord": {
			reason:   "Discord takes the form of Slack at another path",
			settings: notify.Settings{Type: "discord", Channel: "ops"}, suffix: "/api/webhooks/1/x",
			want: []want{{"POST", "/api/webhooks/1/x/slack", "", nil, strings.Replace(slackBody, `"channel":"ops"`, `"channel":""`, 1)}},
		},
		"discord with the path": {
			reason:   "a path that is there is not added again",
			settings: notify.Settings{Type: "discord"}, suffix: "/api/webhooks/1/x/slack",
			want: []want{{"POST", "/api/webhooks/1/x/slack", "", nil, strings.Replace(slackBody, `"channel":"ops"`, `"channel":""`, 1)}},
		},
		"rocket": {
			reason:   "Rocket.Chat has colors of its own",
			settings: notify.Settings{Type: "rocket", Channel: "ops", Username: "flux"}, suffix: "/hooks/x",
			want: []want{{"POST", "/hooks/x", "", nil, strings.NewReplacer(`"danger"`, `"#FF0000"`, `"username":"kustomize-controller"`, `"username":"flux"`).Replace(slackBody)}},
		},
		"msteams": {
			reason:   "a workflow takes an adaptive card",
			settings: notify.Settings{Type: "msteams"}, suffix: "/workflows/x",
			want: []want{{"POST", "/workflows/x", "", nil, `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{
"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","msteams":{"width":"Full"},"body":[{"type":"Container","items":[
{"type":"TextBlock","text":"kustomization/app.team","size":"large","weight":"bolder","wrap":true},
{"type":"TextBlock","text":"it is <broken>","wrap":true,"color":"attention"},
{"type":"FactSet","facts":[{"title":"summary","value":"prod"},{"title":"revision","value":"main@sha1:` + commit + `"}]}]}]}}]}`}},
		},
		"googlechat": {
			reason:   "a card, with the text escaped",
			settings: notify.Settings{Type: "googlechat"}, suffix: "/v1/spaces/x",
			want: []want{{"POST", "/v1/spaces/x", "", nil, `{"cards":[{"header":{"title":"kustomization/app.team","subtitle":"kustomize-controller"},"sections":[
{"header":"","widgets":[{"textParagraph":{"text":"<font color=\"#ff0000\">it is &lt;broken&gt;</font>"}}]},
{"header":"","widgets":[{"keyValue":{"topLabel":"summary","content":"prod","contentMultiline":false}},
{"keyValue":{"topLabel":"revision","content":"main@sha1:` + commit + `","contentMultiline":false}}]}]}]}`}},
		},
		"telegram": {
			reason:   "the token is part of the path, and a channel may have a thread",
			settings: notify.Settings{Type: "telegram", Channel: "-100:7", Token: "123:abc"},
			want: []want{{"POST", "/bot123:abc/sendMessage", "", nil, `{"chat_id":"-100","message_thread_id":"7","parse_mode":"MarkdownV2",
"text":"*🚨 kustomization/app/team*\nit is <broken\\>\n\\- *summary*: prod\n\\- *revision*: main@sha1:` + commit + `\n"}`}},
		},
		"matrix": {
			reason:   "the name of the transaction comes from the event",
			settings: notify.Settings{Type: "matrix", Channel: "!room:example.org", Token: "syt"},
			want: []want{{
				"PUT", "/_matrix/client/r0/rooms/%21room:example.org/send/m.room.message/*", "",
				map[string]string{"Authorization": "Bearer syt"},
				`{"msgtype":"m.text","body":"🚨 kustomization/app.team\nit is <broken>\n- summary: prod\n- revision: main@sha1:` + commit + `\n"}`,
			}},
		},
		"alertmanager": {
			reason:   "metadata are labels, but the summary",
			settings: notify.Settings{Type: "alertmanager", Username: "u", Password: "p"}, suffix: "/api/v2/alerts/",
			want: []want{{"POST", "/api/v2/alerts/", "", map[string]string{"Authorization": "Basic dTpw"}, `[{"status":"firing","startsAt":"2026-01-02T03:04:05Z",
"annotations":{"message":"it is <broken>","summary":"prod"},"labels":{"alertname":"FluxKustomizationHealthCheckFailed","severity":"error","reason":"HealthCheckFailed",
"kind":"Kustomization","name":"app","namespace":"team","reportingcontroller":"kustomize-controller","revision":"main@sha1:` + commit + `"}}]`}},
		},
		"pagerduty error": {
			reason:   "an error opens an incident",
			settings: notify.Settings{Type: "pagerduty", Channel: "key"}, suffix: "/ignored",
			want: []want{{"POST", "/v2/enqueue", "", nil, `{"routing_key":"key","event_action":"trigger","dedup_key":"u-1","payload":{"summary":"health check failed: prod/kustomization/app",
"source":"Flux kustomize-controller","severity":"error","timestamp":"2026-01-02T03:04:05Z","component":"app","group":"Kustomization",
"custom_details":{"message":"it is <broken>","metadata":{"revision":"main@sha1:` + commit + `","summary":"prod"}}}}`}},
		},
		"pagerduty info": {
			reason:   "what is no error closes the incident, and is a change",
			settings: notify.Settings{Type: "pagerduty", Channel: "key"}, severity: "info",
			want: []want{
				{"POST", "/v2/enqueue", "", nil, `{"routing_key":"key","event_action":"resolve","dedup_key":"u-1"}`},
				{"POST", "/v2/change/enqueue", "", nil, `{"routing_key":"key","payload":{"summary":"health check failed: prod/kustomization/app",
"source":"Flux kustomize-controller","timestamp":"2026-01-02T03:04:05Z","custom_details":{"message":"it is <broken>","metadata":{"revision":"main@sha1:` + commit + `","summary":"prod"}}}}`},
			},
		},
		"grafana": {
			reason:   "an annotation, whose tags have no colons of their own",
			settings: notify.Settings{Type: "grafana", Token: "glsa"}, suffix: "/api/annotations",
			want: []want{{"POST", "/api/annotations", "", map[string]string{"Authorization": "Bearer glsa"}, `{"when":1767323045,"text":"kustomization/app.team",
"tags":["flux","kustomize-controller","summary: prod","revision: main@sha1|` + commit + `","kind: Kustomization","name: app","namespace: team"]}`}},
		},
		"github": {
			reason:   "a status that is not there is written",
			settings: notify.Settings{Type: "github", Token: "ghp", Context: "ctx"}, suffix: "/org/repo.git", answer: `[{"context":"other","state":"failure","description":"health check failed"}]`,
			want: []want{
				{"GET", "/api/v3/repos/org/repo/commits/" + commit + "/statuses", "per_page=50", map[string]string{"Authorization": "Bearer ghp"}, ""},
				{"POST", "/api/v3/repos/org/repo/statuses/" + commit, "", map[string]string{"Authorization": "Bearer ghp"}, `{"state":"failure","context":"ctx","description":"health check failed"}`},
			},
		},
		"github told": {
			reason:   "the last word is not said again",
			settings: notify.Settings{Type: "github", Token: "ghp", Context: "ctx"}, suffix: "/org/repo", answer: `[{"context":"ctx","state":"failure","description":"health check failed"}]`,
			want: []want{{"GET", "/api/v3/repos/org/repo/commits/" + commit + "/statuses", "per_page=50", nil, ""}},
		},
		"gitlab": {
			reason:   "projects may be deep, and the states have other names",
			settings: notify.Settings{Type: "gitlab", Token: "glpat", Context: "ctx"}, suffix: "/group/sub/repo", answer: `[{"name":"ctx","status":"success","description":"health check failed"}]`,
			want: []want{
				{"GET", "/api/v4/projects/group%2Fsub%2Frepo/repository/commits/" + commit + "/statuses", "name=ctx", map[string]string{"Private-Token": "glpat"}, ""},
				{"POST", "/api/v4/projects/group%2Fsub%2Frepo/statuses/" + commit, "", map[string]string{"Private-Token": "glpat"}, `{"state":"failed","name":"ctx","description":"health check failed"}`},
			},
		},
		"gitea": {
			reason:   "Gitea and Forgejo have the API of GitHub at another path",
			settings: notify.Settings{Type: "gitea", Token: "gta", Context: "ctx"}, suffix: "/org/repo", severity: "info", answer: `[]`,
			want: []want{
				{"GET", "/api/v1/repos/org/repo/commits/" + commit + "/statuses", "limit=50", map[string]string{"Authorization": "token gta"}, ""},
				{"POST", "/api/v1/repos/org/repo/statuses/" + commit, "", map[string]string{"Authorization": "token gta"}, `{"state":"success","context":"ctx","description":"health check failed"}`},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSink(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.answer) })
			tc.settings.Address, tc.settings.Timeout = s.URL+tc.suffix, time.Minute
			if tc.severity == "" {
				tc.severity = notify.SeverityError
			}
			if err := notify.Send(t.Context(), tc.settings, sample(tc.severity)); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			got := s.requests()
			if len(got) != len(tc.want) {
				t.Fatalf("%s: %d requests came, want %d: %v", tc.reason, len(got), len(tc.want), got)
			}
			for i, w := range tc.want {
				if prefix, any := strings.CutSuffix(w.path, "*"); any && strings.HasPrefix(got[i].Path, prefix) {
					w.path = got[i].Path
				}
				if diff := cmp.Diff([]string{w.method, w.path, w.query}, []string{got[i].Method, got[i].Path, got[i].Query}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				for k, v := range w.header {
					if got[i].Header.Get(k) != v {
						t.Errorf("%s: header %s is %q, want %q", tc.reason, k, got[i].Header.Get(k), v)
					}
				}
				if diff := cmp.Diff(decoded(t, w.body), decoded(t, got[i].Body)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, ",\n", ",")), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestSignature(t *testing.T) {
	s := newSink(t, nil)
	err := notify.Send(t.Context(), notify.Settings{Type: "generic-hmac", Address: s.URL, Token: "key"}, sample("info"))
	if err != nil {
		t.Fatal(err)
	}
	got := s.requests()[0]
	sign := hmac.New(sha256.New, []byte("key"))
	sign.Write([]byte(got.Body))
	if want := "sha256=" + hex.EncodeToString(sign.Sum(nil)); got.Header.Get("X-Signature") != want {
		t.Errorf("the signature is %q, want %q", got.Header.Get("X-Signature"), want)
	}
}

// TestLegacyTeams goes through a proxy, which sees the host that decides on the form.
func TestLegacyTeams(t *testing.T) {
	proxy := newSink(t, nil)
	err := notify.Send(t.Context(), notify.Settings{Type: "msteams", Address: "http://corp.webhook.office.com/x", Proxy: proxy.URL}, sample("error"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"@type":"MessageCard","@context":"http://schema.org/extensions","themeColor":"FF0000","summary":"kustomization/app.team",
"sections":[{"activityTitle":"it is <broken>","activitySubtitle":"kustomization/app.team","facts":[{"name":"summary","value":"prod"},{"name":"revision","value":"main@sha1:` + commit + `"}]}]}`
	if diff := cmp.Diff(decoded(t, want), decoded(t, proxy.requests()[0].Body)); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
}

// TestErrors checks what an error contains, and what it must not.
func TestErrors(t *testing.T) {
	other := newSink(t, nil)
	status := func(code int, text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		}
	}
	cases := map[string]struct {
		reason   string
		settings notify.Settings
		answer   func(http.ResponseWriter, *http.Request)
		suffix   string
		want     string
	}{
		"echo": {
			"a receiver that repeats the secret does not spread it",
			notify.Settings{Type: "generic", Headers: map[string]string{"X-Key": "verysecret"}},
			status(500, "no verysecret\nat /hook/s3cretpath"), "/hook/s3cretpath",
			"the receiver returned 500: no ***** at *****",
		},
		"slack": {
			"the API of Slack answers 200 for everything",
			notify.Settings{Type: "slack", Token: "xoxb-1"},
			status(200, `{"ok":false,"error":"channel_not_found"}`), "/api/chat.postMessage",
			"Slack returned: channel_not_found",
		},
		"redirect": {
			"a redirect to another host is not followed",
			notify.Settings{Type: "generic"},
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			}, "", "the receiver returned 307",
		},
		"redirect to a question": {
			"a redirect that would drop the message is not followed",
			notify.Settings{Type: "generic"},
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
			}, "", "the receiver returned 302",
		},
		"no commit": {
			"a forge needs to know of which commit",
			notify.Settings{Type: "gitea", Token: "t"},
			nil, "/a",
			"spec.address: it names no repository: want OWNER/NAME",
		},
		"token": {
			"what is missing is named", notify.Settings{Type: "github"}, nil, "/a/b", "spec.secretRef: entry token: required for type github",
		},
		"type": {
			"a type that is not served is named, with those that are",
			notify.Settings{Type: "nats"},
			nil, "",
			`spec.type: type "nats" is not supported; use one of ` + strings.Join(notify.Types(), ", "),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSink(t, tc.answer)
			tc.settings.Address = s.URL + tc.suffix
			err := notify.Send(t.Context(), tc.settings, sample("error"))
			if err == nil {
				t.Fatalf("%s: there is no error", tc.reason)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := other.requests(); len(got) > 0 {
		t.Errorf("another host was told: %v", got)
	}
	_, text, _ := strings.Cut(notify.Send(t.Context(), notify.Settings{
		Type: "slack", Address: "http://127.0.0.1:1/services/T0/s3cretpath",
	}, sample("error")).Error(), "sending: ")
	if strings.Contains(text, "s3cret") || text == "" {
		t.Errorf("the error of a client is %q", text)
	}
}

func TestExpression(t *testing.T) {
	x, err := notify.Compile("event.involvedObject.kind + '/' + event.metadata.revision.split('@')[0] + '/' + provider.metadata.name + '/' + alert.spec.cluster")
	if err != nil {
		t.Fatal(err)
	}
	got, err := x.Evaluate(sample("info"), map[string]any{"spec": map[string]any{"cluster": "c"}}, map[string]any{"metadata": map[string]any{"name": "p"}})
	if err != nil || got != "Kustomization/main/p/c" {
		t.Errorf("it yields %q, %v", got, err)
	}
	if _, err := notify.Compile("1 + 1"); err == nil {
		t.Error("an expression that yields a number is taken")
	}
	if got := notify.DefaultContext(sample("info"), "abcd-ef"); got != "kustomization/app/abcd" {
		t.Errorf("the default is %q", got)
	}
}

// TestTimeout gives up on a receiver that does not answer.
func TestTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newSink(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ctx.Done():
		case <-r.Context().Done():
		}
	})
	defer cancel()
	if err := notify.Send(t.Context(), notify.Settings{Type: "generic", Address: s.URL, Timeout: 50 * time.Millisecond}, sample("info")); err == nil {
		t.Error("it waits for ever, or there is no error")
	}
}
