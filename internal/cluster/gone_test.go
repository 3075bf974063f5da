package cluster

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// announcer answers discovery as an API server does; what it has no answer for is 503, as with an APIService whose pods are away.
type announcer struct {
	mu sync.Mutex
	// groups are those that are listed, by whether their backend answers; refused has the list itself refused.
	groups  map[string]bool
	refused bool
	// starting is set while the server is not ready: it lists no groups of definitions then.
	starting bool
	asked    int
}

func (a *announcer) set(groups map[string]bool, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.groups, a.refused = groups, refused
}

func (a *announcer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch {
	case r.URL.Path == "/readyz" && !a.starting:
		_, _ = w.Write([]byte("ok"))
	case r.URL.Path == "/api":
		answer(metav1.APIVersions{Versions: []string{"v1"}})
	case r.URL.Path == "/api/v1":
		answer(metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}}})
	case r.URL.Path == "/apis" && a.refused:
		http.Error(w, "refused", http.StatusForbidden)
	case r.URL.Path == "/apis":
		a.asked++
		list := metav1.APIGroupList{}
		for group := range a.groups {
			v := metav1.GroupVersionForDiscovery{GroupVersion: group + "/v1", Version: "v1"}
			list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
		}
		answer(list)
	default:
		a.resources(w, r, answer)
	}
}

// resources answers what a group serves.
func (a *announcer) resources(w http.ResponseWriter, r *http.Request, answer func(any)) {
	for group, answers := range a.groups {
		if r.URL.Path == "/apis/"+group+"/v1" && answers {
			answer(metav1.APIResourceList{GroupVersion: group + "/v1", APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing"}}})
			return
		}
	}
	http.Error(w, "service unavailable", http.StatusServiceUnavailable)
}

// TestResolve has a kind be gone only when a discovery that was begun then, and had an answer for its group, lacks it.
func TestResolve(t *testing.T) {
	thing := schema.GroupVersionKind{Group: "aggregated.example.dev", Version: "v1", Kind: "Thing"}
	const broken = "away.example.dev"
	cases := map[string]struct {
		reason          string
		groups          map[string]bool
		refused         bool
		served, unknown bool
	}{
		"served":          {"its backend answers", map[string]bool{thing.Group: true}, false, true, false},
		"away":            {"its backend does not answer", map[string]bool{thing.Group: false, "apps": true}, false, false, true},
		"gone":            {"its group is listed no more", map[string]bool{"apps": true}, false, false, false},
		"gone, and away":  {"another group does not answer", map[string]bool{"apps": true, broken: false}, false, false, false},
		"refused":         {"nothing may be listed", nil, true, false, true},
		"nothing at all":  {"every server has groups", nil, false, false, true},
		"none but broken": {"no group answers", map[string]bool{broken: false}, false, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := &announcer{groups: map[string]bool{"apps": true}}
			server := httptest.NewServer(a)
			t.Cleanup(server.Close)
			client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			k := newKinds(client, deaf{})
			if err := k.discover(); err != nil {
				t.Fatal(err)
			}
			before := a.asked
			a.set(c.groups, c.refused)
			_, served, err := k.Resolve(t.Context(), thing)
			unknown := (*UnknownKind)(nil)
			if served != c.served || errors.As(err, &unknown) != c.unknown {
				t.Errorf("%s: served is %v, and %v", c.reason, served, err)
			}
			if a.asked == before && !c.refused {
				t.Error("what was discovered before is no answer")
			}
		})
	}
}

// TestStarting has a server that has just started, and does not list the kinds of definitions yet, be no proof that one is gone.
func TestStarting(t *testing.T) {
	a := &announcer{groups: map[string]bool{"apps": true}, starting: true}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	k, thing, unknown := newKinds(client, deaf{}), schema.GroupKind{Group: "defined.example.dev", Kind: "Thing"}, (*UnknownKind)(nil)
	if err := k.Gone(t.Context(), thing); !errors.As(err, &unknown) {
		t.Errorf("before the server is ready: %v", err)
	}
	a.mu.Lock()
	a.starting = false
	a.mu.Unlock()
	if err := k.Gone(t.Context(), thing); err != nil {
		t.Errorf("once it is ready: %v", err)
	}
}

// TestEnded has a kind be gone with the definition that brought it, without asking.
func TestEnded(t *testing.T) {
	crd := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "things.example.dev"},
		"spec": map[string]any{
			"group": "example.dev", "names": map[string]any{"kind": "Thing", "plural": "things"},
			"versions": []any{map[string]any{"name": "v1", "served": true}},
		},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}},
	}}
	k := newKinds(nil, deaf{})
	for _, step := range []struct {
		reason string
		do     func(*unstructured.Unstructured)
		ended  bool
	}{{"it is defined", k.put, false}, {"its definition went", k.dropped, true}, {"it is defined again", k.put, false}} {
		step.do(crd)
		if ended := k.hasEnded(schema.GroupKind{Group: "example.dev", Kind: "Thing"}); ended != step.ended {
			t.Errorf("%s: it has ended: %v", step.reason, ended)
		}
	}
}
