package cluster

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

func named(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	u.SetName(name)
	u.SetUID(types.UID(name))
	u.SetResourceVersion("1")
	return u
}

// TestPanicOfAnObject has a watch hand all objects over, though one of them makes what takes them panic.
func TestPanicOfAnObject(t *testing.T) {
	var logged strings.Builder
	g := guard.New(funcr.New(func(_, args string) { logged.WriteString(args + "\n") }, funcr.Options{}), nil)
	var got []string
	take := func(what string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			if u.GetName() == "bad" {
				panic(what)
			}
			got = append(got, what+" "+u.GetName())
		}
	}
	w := &watch{
		resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, sink: Sink{Put: take("put"), Dropped: take("dropped")},
		guard: g, synced: make(chan struct{}), seen: map[types.UID]*unstructured.Unstructured{},
	}
	for _, err := range []error{
		w.Replace([]any{named("a"), named("bad"), named("b")}, "1"), w.Update(named("bad")), w.Update(named("a")), w.Delete(named("bad")),
		w.Delete(named("a")), w.Replace([]any{named("bad")}, "2"), w.Replace(nil, "3"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	select {
	case <-w.synced:
	default:
		t.Error("the first list is not in")
	}
	if diff := cmp.Diff([]string{"put a", "put b", "put a", "dropped a", "dropped b"}, got); diff != "" {
		t.Errorf("handed over (-want +got):\n%s", diff)
	}
	if n := strings.Count(logged.String(), "configmaps /bad"); n != 5 {
		t.Errorf("%d panics were logged by name, want 5: %s", n, logged.String())
	}
}

// panicky judges no object without a panic.
type panicky struct{ Judge }

func (panicky) Assess(*unstructured.Unstructured) engine.ObjectHealth        { panic("hunter2") }
func (panicky) Owner(*unstructured.Unstructured) (none types.NamespacedName) { return none }

// TestPanicOfAJudge has an object be there whose health cannot be judged.
func TestPanicOfAJudge(t *testing.T) {
	o := newObjects(nil, nil, Ownership{Judge: panicky{}}, nil)
	got := o.Reduce(named("a"))
	if got.UID != "a" || got.Health.Verdict != engine.Unknown || !strings.Contains(got.Health.Message, "internal error") || strings.Contains(got.Health.Message, "hunter2") {
		t.Errorf("got %+v", got)
	}
}
