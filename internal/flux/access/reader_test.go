package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TestVersionReader notes nothing of what it may not read or could not: a version that is not the one that was met would be out of date at once,
// and its reader would read for ever.
func TestVersionReader(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := map[string]int{"there": http.StatusOK, "gone": http.StatusNotFound, "forbidden": http.StatusForbidden, "failing": http.StatusInternalServerError}[path.Base(r.URL.Path)]
		reason := map[int]string{http.StatusNotFound: "NotFound", http.StatusForbidden: "Forbidden", http.StatusInternalServerError: "InternalError"}[code]
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if code == http.StatusOK {
			fmt.Fprint(w, `{"metadata": {"name": "there", "resourceVersion": "7"}}`)
			return
		}
		fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d}`, reason, code)
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r := VersionReader{Client: client, Versions: map[engine.ObjectID]uint64{}}
	want := map[engine.ObjectID]uint64{}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		for _, name := range []string{"there", "gone", "forbidden", "failing"} {
			read := func() error { _, err := r.ConfigMap(t.Context(), "ns", name); return err }
			if kind == "Secret" {
				read = func() error { _, err := r.Secret(t.Context(), "ns", name); return err }
			}
			if err := read(); (err == nil) != (name == "there") {
				t.Errorf("%s %s: %v", kind, name, err)
			}
		}
		want[engine.ObjectID{Kind: kind, Namespace: "ns", Name: "there"}] = 7
		want[engine.ObjectID{Kind: kind, Namespace: "ns", Name: "gone"}] = 0
	}
	if diff := cmp.Diff(want, r.Versions); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
}
