package declared

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// server is an API server that takes every write, or answers each with a status; it notes what it was sent.
type server struct {
	*httptest.Server
	code int

	mu   sync.Mutex
	sent []string
	told chan string
}

func newServer(t *testing.T, code int) *server {
	t.Helper()
	s := &server{code: code, told: make(chan string, 10)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/events") {
		s.told <- string(body)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, string(body))
		return
	}
	s.mu.Lock()
	s.sent = append(s.sent, fmt.Sprintf("%s %s as %s: %s", r.Method, r.URL.Path, r.URL.Query().Get("fieldManager"), body))
	s.mu.Unlock()
	if s.code != http.StatusOK {
		reason := map[int]metav1.StatusReason{http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusConflict: metav1.StatusReasonConflict}[s.code]
		w.WriteHeader(s.code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"refused"}`, s.code, reason)
		return
	}
	fmt.Fprint(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"apps","resourceVersion":"8"}}`)
}

func TestWriter(t *testing.T) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "a", ResourceVersion: "7", Finalizers: []string{"x/other", "x/ours"}}}
	type status struct {
		Ready   string            `json:"ready,omitempty"`
		Details map[string]string `json:"details,omitempty"`
	}
	const path = "PATCH /api/v1/namespaces/apps/configmaps/a"
	cases := map[string]struct {
		reason string
		code   int
		do     func(w Writer) (*unstructured.Unstructured, error)
		sent   []string
		// gone is set where nothing comes back, err is how an error begins.
		gone bool
		err  string
	}{
		"a status": {
			reason: "what differs is written to the status",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Status(t.Context(), object, status{Ready: "no", Details: map[string]string{"a": "1", "b": "2"}}, status{Ready: "yes", Details: map[string]string{"a": "1"}})
			},
			sent: []string{path + `/status as us: {"status":{"details":{"b":null},"ready":"yes"}}`},
		},
		"the same status": {
			reason: "a status that says the same is not written",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Status(t.Context(), object, status{Details: map[string]string{"a": "1"}}, &status{Details: map[string]string{"a": "1"}})
			},
			gone: true,
		},
		"a finalizer": {
			reason: "a finalizer is added to the others, on the condition that they did not change",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizer(t.Context(), object, "x/new", true)
			},
			sent: []string{path + ` as us: {"metadata":{"finalizers":["x/other","x/ours","x/new"],"resourceVersion":"7"}}`},
		},
		"a finalizer that is there": {
			reason: "what is there is not added",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizer(t.Context(), object, "x/ours", true)
			},
			gone: true,
		},
		"a finalizer goes": {
			reason: "the others stay",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizer(t.Context(), object, "x/ours", false)
			},
			sent: []string{path + ` as us: {"metadata":{"finalizers":["x/other"],"resourceVersion":"7"}}`},
		},
		"a finalizer that is not there": {
			reason: "what is not there does not go",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizer(t.Context(), object, "x/new", false)
			},
			gone: true,
		},
		"all finalizers": {
			reason: "a list takes the place of the other",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizers(t.Context(), object, []string{})
			},
			sent: []string{path + ` as us: {"metadata":{"finalizers":[],"resourceVersion":"7"}}`},
		},
		"an empty patch": {
			reason: "an empty patch is not sent",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Patch(t.Context(), object, map[string]any{})
			},
			gone: true,
		},
		"an object that is gone": {
			reason: "what is gone needs no status", code: http.StatusNotFound,
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Status(t.Context(), object, nil, status{Ready: "yes"})
			},
			sent: []string{path + `/status as us: {"status":{"ready":"yes"}}`},
			gone: true,
		},
		"a server that refuses": {
			reason: "an error names the object and what was done to it", code: http.StatusConflict,
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Finalizer(t.Context(), object, "x/ours", false)
			},
			sent: []string{path + ` as us: {"metadata":{"finalizers":["x/other"],"resourceVersion":"7"}}`},
			gone: true, err: "setting the finalizers of apps/a: refused",
		},
		"a status that is none": {
			reason: "what cannot be encoded is not written",
			do: func(w Writer) (*unstructured.Unstructured, error) {
				return w.Status(t.Context(), object, nil, "text")
			},
			gone: true, err: "encoding the status of apps/a: ",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code := c.code
			if code == 0 {
				code = http.StatusOK
			}
			s := newServer(t, code)
			client, err := dynamic.NewForConfig(&rest.Config{Host: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			u, err := c.do(Writer{Client: client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")), Manager: "us"})
			switch {
			case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)):
				t.Errorf("%s: error %v, want %q", c.reason, err, c.err)
			case code == http.StatusConflict && !apierrors.IsConflict(err):
				t.Errorf("%s: the cause is lost: %v", c.reason, err)
			case (u == nil) != c.gone || u != nil && u.GetResourceVersion() != "8":
				t.Errorf("%s: returned %v", c.reason, u)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if diff := cmp.Diff(c.sent, s.sent); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// branched is a branch that notes what it is handed.
type branched struct{ events []Event }

func (b *branched) Publish(o metav1.Object, ref *corev1.ObjectReference, e Event) {
	e.Component += " of " + o.GetLabels()["team"] + " about " + ref.Name
	b.events = append(b.events, e)
}

func TestEvents(t *testing.T) {
	s, long := newServer(t, http.StatusOK), strings.Repeat("x", 2000)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	b := &branched{}
	e := NewEvents(client, b)
	defer e.Stop()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "a", Labels: map[string]string{"team": "red"}}}
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "apps", Name: "a"}
	for _, component := range []string{"first", "second"} {
		e.Emit(object, ref, Event{Component: component, Type: corev1.EventTypeWarning, Reason: "Failed" + component, Message: long, Annotations: map[string]string{"revision": "1"}})
		var got corev1.Event
		if err := json.Unmarshal([]byte(<-s.told), &got); err != nil {
			t.Fatal(err)
		}
		if got.Source.Component != component || got.InvolvedObject != *ref || got.Type != corev1.EventTypeWarning ||
			got.Reason != "Failed"+component || got.Annotations["revision"] != "1" || got.Message != long[:1021]+"..." {
			t.Errorf("%s: written was %+v", component, got)
		}
	}
	want := []Event{}
	for _, component := range []string{"first", "second"} {
		want = append(want, Event{
			Component: component + " of red about a", Type: corev1.EventTypeWarning, Reason: "Failed" + component, Message: long,
			Annotations: map[string]string{"revision": "1"},
		})
	}
	if diff := cmp.Diff(want, b.events); diff != "" {
		t.Errorf("handed to the branch: -want +got:\n%s", diff)
	}
}
