package here

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

const (
	secretName = "login"
	secretText = "Bearer hunter2-hunter2"
)

// world has an API server with one Secret, and a server that requests are sent to.
type world struct {
	api, server, other *httptest.Server
	changed            chan struct{}

	mu   sync.Mutex
	seen []string
	// account is that as which the Secret was read.
	account string
}

// LeavesChanged wakes what waits for an end.
func (w *world) LeavesChanged(execute.Workflow) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *world) note(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, line)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{changed: make(chan struct{}, 1)}
	w.api = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.account = r.Header.Get("Impersonate-User")
		w.mu.Unlock()
		rw.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/namespaces/ns/secrets/"+secretName) {
			rw.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(rw, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return
		}
		secret := &corev1.Secret{Data: map[string][]byte{"value": []byte(secretText)}}
		secret.APIVersion, secret.Kind = "v1", "Secret"
		_ = json.NewEncoder(rw).Encode(secret)
	}))
	w.other = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.note("other " + r.Header.Get("X-Login"))
	}))
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.note(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Login"), body)))
		switch r.URL.Path {
		case "/echo":
			_, _ = io.WriteString(rw, "you sent "+r.Header.Get("X-Login"))
		case "/away":
			http.Redirect(rw, r, w.other.URL, http.StatusFound)
		case "/long":
			_, _ = io.WriteString(rw, strings.Repeat("x", maxBody+1))
		case "/busy":
			rw.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = io.WriteString(rw, "fine")
		}
	}))
	for _, s := range []*httptest.Server{w.api, w.server, w.other} {
		t.Cleanup(s.Close)
	}
	return w
}

// executor is one that ends with the test.
func (w *world) executor(t *testing.T) *Executor {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e := New(ctx, Config{Cluster: &rest.Config{Host: w.api.URL}, Listener: w, Egress: egress.Anywhere()})
	t.Cleanup(func() {
		cancel()
		e.Wait()
	})
	return e
}

func workflow() *v1alpha1.Workflow {
	wf := &v1alpha1.Workflow{}
	wf.Name, wf.Namespace, wf.UID = "wf", "ns", "uid"
	return wf
}

// leaf waits until the only execution has ended.
func (w *world) leaf(t *testing.T, e *Executor, wf *v1alpha1.Workflow) plan.Leaf {
	t.Helper()
	for {
		leaves, err := e.Leaves(t.Context(), execute.Of(wf))
		if err != nil {
			t.Fatal(err)
		}
		if leaf := leaves["wf"]; leaf.Phase.Completed() {
			return leaf
		}
		select {
		case <-w.changed:
		case <-t.Context().Done():
			t.Fatal("the execution has not ended")
		}
	}
}

func run(h v1alpha1.HTTPTemplate) plan.Run {
	return plan.Run{
		Kind: plan.HTTP, NodeID: "wf", NodeName: "wf", Result: true, Template: &v1alpha1.Template{HTTP: &h},
		Settings: v1alpha1.PodSettings{ServiceAccountName: "builder"},
	}
}

func TestRequest(t *testing.T) {
	login := v1alpha1.HTTPHeader{Name: "X-Login", ValueFrom: &v1alpha1.HTTPHeaderSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secretName}, Key: "value",
	}}}
	missing := login
	missing.ValueFrom = &v1alpha1.HTTPHeaderSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "value"}}
	cases := map[string]struct {
		reason  string
		path    string
		request v1alpha1.HTTPTemplate
		phase   v1alpha1.NodePhase
		// message is a part of it, result the whole.
		message, result string
		seen            []string
	}{
		"Plain":     {reason: "what is answered is the result", request: v1alpha1.HTTPTemplate{}, phase: v1alpha1.NodeSucceeded, result: "fine", seen: []string{"GET /"}},
		"Echo":      {reason: "a value of a Secret that comes back is masked", path: "/echo", request: v1alpha1.HTTPTemplate{Headers: []v1alpha1.HTTPHeader{login}}, phase: v1alpha1.NodeSucceeded, result: "you sent ***", seen: []string{"GET /echo " + secretText}},
		"Away":      {reason: "no other server gets it", path: "/away", request: v1alpha1.HTTPTemplate{Headers: []v1alpha1.HTTPHeader{login}}, phase: v1alpha1.NodeFailed, message: "received non-2xx response code: 302", result: "<a href=\"%OTHER%\">Found</a>.\n\n", seen: []string{"GET /away " + secretText}},
		"Follows":   {reason: "without one, a redirection is followed", path: "/away", phase: v1alpha1.NodeSucceeded, seen: []string{"GET /away", "other "}},
		"Missing":   {reason: "a Secret that is not there is named", request: v1alpha1.HTTPTemplate{Headers: []v1alpha1.HTTPHeader{missing}}, phase: v1alpha1.NodeError, message: `http.headers[0] "X-Login": reading Secret ns/none`},
		"Busy":      {reason: "a status that is no success", path: "/busy", phase: v1alpha1.NodeFailed, message: "received non-2xx response code: 503", seen: []string{"GET /busy"}},
		"Condition": {reason: "a condition takes its place", path: "/busy", request: v1alpha1.HTTPTemplate{SuccessCondition: "response.statusCode == 503"}, phase: v1alpha1.NodeSucceeded, seen: []string{"GET /busy"}},
		"Unmet":     {reason: "and is named if it is not met", request: v1alpha1.HTTPTemplate{SuccessCondition: "response.body contains 'x'"}, phase: v1alpha1.NodeFailed, message: "successCondition 'response.body contains 'x'' evaluated false", result: "fine", seen: []string{"GET /"}},
		"Long":      {reason: "a result has a bound", path: "/long", phase: v1alpha1.NodeFailed, message: "the response has more than 262144 bytes", seen: []string{"GET /long"}},
		"Scheme":    {reason: "files are no servers", request: v1alpha1.HTTPTemplate{URL: "file:///etc/passwd"}, phase: v1alpha1.NodeError, message: `http.url "file:///etc/passwd" is not the address of an http or https server`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.executor(t)
			if tc.request.URL == "" {
				tc.request.URL = w.server.URL + tc.path
			}
			wf := workflow()
			if err := e.Start(t.Context(), wf, run(tc.request)); err != nil {
				t.Fatal(err)
			}
			leaf := w.leaf(t, e, wf)
			result := ""
			if leaf.Outputs != nil && leaf.Outputs.Result != nil {
				result = strings.ReplaceAll(*leaf.Outputs.Result, w.other.URL, "%OTHER%")
			}
			if leaf.Phase != tc.phase || !strings.Contains(leaf.Message, tc.message) || tc.message == "" && leaf.Message != "" || result != tc.result {
				t.Errorf("%s: %s %q %q, want %s %q %q", tc.reason, leaf.Phase, leaf.Message, result, tc.phase, tc.message, tc.result)
			}
			got := strings.ReplaceAll(strings.Join(w.seen, "\n"), "GET //", "GET /")
			if want := strings.Join(tc.seen, "\n"); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s: the servers saw %q, want %q", tc.reason, got, want)
			}
			if len(tc.request.Headers) > 0 && w.account != "system:serviceaccount:ns:builder" {
				t.Errorf("%s: the Secret was read as %q", tc.reason, w.account)
			}
		})
	}
}

// A request that may not be repeated is sent once the status says that it is running, and not before: a process that is killed in between has not sent it, and
// one that is killed after that finds in the status that it was.
func TestRequestIsRecordedFirst(t *testing.T) {
	w := newWorld(t)
	e := w.executor(t)
	wf := workflow()
	if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: w.server.URL, Method: http.MethodPost, Body: "once"})); err != nil {
		t.Fatal(err)
	}
	leaves, err := e.Leaves(t.Context(), execute.Of(wf))
	if err != nil || leaves["wf"].Phase != v1alpha1.NodeRunning {
		t.Fatalf("it is %q, want Running, so that the status says so: %v", leaves["wf"].Phase, err)
	}
	wf.Status.Nodes = v1alpha1.Nodes{"wf": {ID: "wf", Phase: v1alpha1.NodePending}}
	e.Recorded(wf)
	w.mu.Lock()
	if len(w.seen) > 0 {
		t.Errorf("it was sent before it was recorded: %q", w.seen)
	}
	w.mu.Unlock()
	wf.Status.Nodes["wf"] = v1alpha1.NodeStatus{ID: "wf", Phase: v1alpha1.NodeRunning}
	e.Recorded(wf)
	// It is known already.
	if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: w.server.URL, Method: http.MethodPost, Body: "twice"})); err != nil {
		t.Fatal(err)
	}
	if leaf := w.leaf(t, e, wf); leaf.Phase != v1alpha1.NodeSucceeded {
		t.Errorf("%s %s", leaf.Phase, leaf.Message)
	}
	if got := strings.Join(w.seen, ";"); got != "POST /  once" {
		t.Errorf("the server saw %q", got)
	}
	// What has ended, and is recorded so, is forgotten.
	wf.Status.Nodes["wf"] = v1alpha1.NodeStatus{ID: "wf", Phase: v1alpha1.NodeSucceeded}
	e.Recorded(wf)
	if leaves, err := e.Leaves(t.Context(), execute.Of(wf)); err != nil || len(leaves) > 0 {
		t.Errorf("there are %v, %v", leaves, err)
	}
}

// An execution that is stopped ends with the reason.
func TestStop(t *testing.T) {
	w := newWorld(t)
	e := w.executor(t)
	wf := workflow()
	if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: w.server.URL, Method: http.MethodPost})); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(t.Context(), execute.Of(wf), "wf", "Stopped with strategy 'Stop'"); err != nil {
		t.Fatal(err)
	}
	if leaf := w.leaf(t, e, wf); leaf.Phase != v1alpha1.NodeFailed || leaf.Message != "Stopped with strategy 'Stop'" {
		t.Errorf("%s %s", leaf.Phase, leaf.Message)
	}
	if len(w.seen) > 0 {
		t.Errorf("the server saw %q", w.seen)
	}
}

// TestAccountIsAName is about a template that names what would be an account of another namespace: nothing is read as that.
func TestAccountIsAName(t *testing.T) {
	w := newWorld(t)
	e := w.executor(t)
	wf := workflow()
	r := run(v1alpha1.HTTPTemplate{URL: w.server.URL, Headers: []v1alpha1.HTTPHeader{{Name: "X-Login", ValueFrom: &v1alpha1.HTTPHeaderSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secretName}, Key: "value"},
	}}}})
	r.Template.ServiceAccountName = "kube-system:builder"
	if err := e.Start(t.Context(), wf, r); err != nil {
		t.Fatal(err)
	}
	leaf := w.leaf(t, e, wf)
	if leaf.Phase != v1alpha1.NodeError || !strings.Contains(leaf.Message, `serviceAccountName "kube-system:builder" in namespace "ns" is not the name of a ServiceAccount`) {
		t.Errorf("it ended as %s %q", leaf.Phase, leaf.Message)
	}
	if w.account != "" || len(w.seen) > 0 {
		t.Errorf("a Secret was read as %q, the server saw %q", w.account, w.seen)
	}
}
