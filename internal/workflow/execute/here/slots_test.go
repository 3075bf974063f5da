package here

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func TestTimeout(t *testing.T) {
	for seconds, want := range map[int64]time.Duration{0: requestDefault, -1: requestDefault, 1: time.Second, 300: requestMost, 301: requestMost, 1 << 62: requestMost} {
		if got := timeoutOf(&v1alpha1.HTTPTemplate{TimeoutSeconds: &seconds}); got != want {
			t.Errorf("%d seconds are %s, want %s", seconds, got, want)
		}
	}
	if got := timeoutOf(&v1alpha1.HTTPTemplate{}); got != requestDefault {
		t.Errorf("without seconds it is %s", got)
	}
}

// TestSilentNamespaces has four namespaces send requests to servers that never answer, as many as they like: a fifth one is served.
func TestSilentNamespaces(t *testing.T) {
	const namespaces, servers = 4, 2
	w := newWorld(t)
	e := w.executor(t)
	end, arrived := make(chan struct{}), make(chan struct{}, slots)
	silent := func() *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}))
		t.Cleanup(s.Close)
		return s
	}
	most := int64(3600)
	for n := range namespaces {
		for s := range servers {
			server := silent()
			for i := range perShare {
				wf := workflow()
				wf.Namespace, wf.Name, wf.UID = fmt.Sprint("silent", n), fmt.Sprint("wf", s, "-", i), types.UID(fmt.Sprint(n, s, i))
				if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: server.URL, TimeoutSeconds: &most})); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Cleanup(func() { close(end) })
	for range namespaces * perShare {
		select {
		case <-arrived:
		case <-t.Context().Done():
			t.Fatal("the namespaces have not got their slots")
		}
	}
	wf := workflow()
	if err := e.Start(t.Context(), wf, run(v1alpha1.HTTPTemplate{URL: w.server.URL})); err != nil {
		t.Fatal(err)
	}
	if leaf := w.leaf(t, e, wf); leaf.Phase != v1alpha1.NodeSucceeded {
		t.Errorf("a request of another namespace ended as %s %q", leaf.Phase, leaf.Message)
	}
}
