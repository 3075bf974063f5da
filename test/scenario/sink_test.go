package scenario

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sink is a receiver of notifications: it keeps each request as a line of method, path, login and body. It is
// safe for concurrent use.
type sink struct {
	*httptest.Server

	mu    sync.Mutex
	lines []string
	// good are the lines that were answered well.
	good   []string
	status int
}

func startSink() *sink {
	s := &sink{status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
		s.lines = append(s.lines, line)
		if s.status < 300 {
			s.good = append(s.good, line)
		}
		w.WriteHeader(s.status)
		// To a forge that asks, it reports no earlier status.
		_, _ = io.WriteString(w, "[]")
	}))
	return s
}

func (s *sink) received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}

func (s *sink) accepted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.good...)
}

func (s *sink) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// matching counts the requests that match.
func (s *sink) matching(pattern *regexp.Regexp) int {
	n := 0
	for _, line := range s.received() {
		if pattern.MatchString(line) {
			n++
		}
	}
	return n
}

// sink is a receiver of notifications: "sink start" begins one at $SINK, "sink has REGEXP" waits for a request,
// "sink print" prints all of them, a line each, and "sink status CODE" says how to answer from now on.
func (w *world) sink(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) > 0, "sink start | has REGEXP | print | status CODE")
	if args[0] == "start" {
		s := startSink()
		ts.Defer(s.Close)
		ts.Setenv("SINK", s.URL)
		w.sinks.Store(ts.Getenv("NS"), s)
		return
	}
	held, there := w.sinks.Load(ts.Getenv("NS"))
	usage(ts, there, "sink start comes first")
	s := held.(*sink)
	switch {
	case args[0] == "has" && len(args) == 2:
		pattern := regexp.MustCompile(args[1])
		w.until(ts, "a notification that matches "+args[1], func() (bool, string) {
			return s.matching(pattern) > 0, strings.Join(s.received(), "\n")
		})
	case args[0] == "print":
		fmt.Fprintln(ts.Stdout(), strings.Join(s.received(), "\n"))
	default:
		code := 0
		_, err := fmt.Sscan(args[len(args)-1], &code)
		usage(ts, args[0] == "status" && err == nil, "sink start | has REGEXP | print | status CODE")
		s.answer(code)
	}
}

// kevent waits for an event about an object: "kevent KIND/NAME REGEXP" over its type, reason and message.
func (w *world) kevent(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 2, "kevent KIND/NAME REGEXP")
	pattern := regexp.MustCompile(args[1])
	kind, name, _ := strings.Cut(args[0], "/")
	namespace := ts.Getenv("NS")
	if first, second, three := strings.Cut(name, "/"); three {
		namespace, name = first, second
	}
	_, kind, err := w.resource(kind)
	ts.Check(err)
	events := w.client.Resource(schemaGVR{Version: "v1", Resource: "events"}).Namespace(namespace)
	w.until(ts, strings.Join(args, " "), func() (bool, string) {
		list, err := events.List(context.Background(), metav1.ListOptions{
			FieldSelector: "involvedObject.kind=" + kind + ",involvedObject.name=" + name,
		})
		if err != nil {
			return false, err.Error()
		}
		var seen []string
		for i := range list.Items {
			text := eventText(&list.Items[i])
			if pattern.MatchString(text) {
				return true, ""
			}
			seen = append(seen, text)
		}
		return false, strings.Join(seen, "\n")
	})
}

// kpost posts a file as the event of another controller, and checks the response: "kpost CODE FILE".
func (w *world) kpost(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 2, "kpost CODE FILE")
	body := strings.NewReader(os.Expand(ts.ReadFile(args[1]), ts.Getenv))
	answer := httptest.NewRecorder()
	w.kit.Engine.EventHandler().ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", body))
	if got := fmt.Sprint(answer.Code); got != args[0] {
		ts.Fatalf("the answer is %s: %s", got, answer.Body)
	}
}

func eventText(u *unstructured.Unstructured) string {
	return fmt.Sprint(u.Object["type"], " ", u.Object["reason"], ": ", u.Object["message"])
}
