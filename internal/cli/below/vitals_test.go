package below

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TestJudge words in one line what is wrong with the objects of a unit.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		reason, text string
		exprs        []engine.HealthExpr
		want         string
	}{
		"up": {"one that is as it should be needs no words", `
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: ClusterIP}
`, nil, ""},
		"down": {"a Deployment by its replicas", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, generation: 1}
spec: {replicas: 2}
status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, conditions: [{type: Available, status: "False"}]}
`, nil, "0 of 2 replicas are ready"},
		"failed": {"a Job by its condition", `
apiVersion: batch/v1
kind: Job
metadata: {name: a}
status: {conditions: [{type: Failed, status: "True", message: it failed too often}]}
`, nil, "it failed too often"},
		"pending": {"a claim that is not bound", `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a}
status: {phase: Pending}
`, nil, "pvc is not bound. phase: pending"},
		"deleted": {"what is about to go", `
apiVersion: v1
kind: Service
metadata: {name: a, deletionTimestamp: "2026-01-01T00:00:00Z"}
`, nil, "is being deleted"},
		"by an expression": {"the unit says what is healthy", `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
spec: {size: 3}
`, []engine.HealthExpr{{Group: "example.com", Kind: "Widget", Current: "spec.size > 5"}}, "by its health expression: not yet current"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Judge(object(t, c.text), c.exprs)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.reason, diff)
			}
		})
	}
}

// TestObjects reads all objects of a kind by one request, and of a Secret nothing.
func TestObjects(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		job := func(namespace, name string) map[string]any {
			return map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"namespace": namespace, "name": name}}
		}
		switch r.URL.Path {
		case "/apis/batch/v1/jobs":
			_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "batch/v1", "kind": "JobList", "items": []any{job("x", "one"), job("y", "two"), job("y", "other")}})
		case "/api/v1/namespaces/x/persistentvolumeclaims/gone":
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404})
		default:
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403})
		}
	}))
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	id := func(gk schema.GroupKind, namespace, name string) engine.ObjectID {
		return engine.ObjectID{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
	}
	ids := []engine.ObjectID{
		id(jobs, "x", "one"), id(jobs, "y", "two"), id(jobs, "y", "missing"), id(claims, "x", "gone"), id(pods, "x", "hidden"),
		id(schema.GroupKind{Kind: "Secret"}, "x", "s"), id(schema.GroupKind{Group: "example.com", Kind: "Widget"}, "x", "w"),
	}
	found, err := New(client).Objects(t.Context(), ids, func(gk schema.GroupKind) (schema.GroupVersionResource, error) {
		if known, has := resources[gk]; has {
			return known, nil
		}
		return schema.GroupVersionResource{}, &meta.NoKindMatchError{GroupKind: gk}
	})
	if err == nil {
		t.Error("that Pods may not be read is not an error")
	}
	got := map[string]bool{}
	for id, o := range found {
		got[id.String()] = o != nil
	}
	want := map[string]bool{"Job/x/one": true, "Job/y/two": true, "Job/y/missing": false, "PersistentVolumeClaim/x/gone": false, "Widget/x/w": false}
	slices.Sort(asked)
	requests := []string{"/api/v1/namespaces/x/persistentvolumeclaims/gone", "/api/v1/namespaces/x/pods/hidden", "/apis/batch/v1/jobs"}
	if diff := cmp.Diff(want, got) + cmp.Diff(requests, asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
