package cluster

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// heard notes what a cluster tells.
type heard struct {
	mu      sync.Mutex
	objects []string
	kinds   []string
	back    int
}

func (h *heard) ObjectChanged(id engine.ObjectID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.objects = append(h.objects, id.Name)
}

func (h *heard) KindChanged(gk schema.GroupKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kinds = append(h.kinds, gk.Kind)
}

func (h *heard) Reconnected() { h.back++ }

var errLost = errors.New("connection refused")

var ownership = Ownership{Label: "name", NamespaceLabel: "namespace", Manager: "ours"}

func configMap(name, uid, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	u.SetName(name)
	u.SetUID(types.UID(uid))
	u.SetResourceVersion(version)
	return u
}

// TestRecords plays what writes and watches bring, in the order in which they may come.
func TestRecords(t *testing.T) {
	h := &heard{}
	o := newObjects(nil, newKinds(nil, h), ownership, h)
	id := engine.ObjectID{Kind: "ConfigMap", Name: "x"}
	steps := []struct {
		reason string
		do     func()
		want   uint64
		told   int
	}{
		{"a write is known at once", func() { o.Put(configMap("x", "a", "5")) }, 5, 1},
		{"the watch that brings the same is no news", func() { o.put(configMap("x", "a", "5")) }, 5, 1},
		{"an older version does not take a newer one's place", func() { o.put(configMap("x", "a", "4")) }, 5, 1},
		{"the end of an older version is not the end", func() { o.dropped(configMap("x", "a", "4")) }, 5, 1},
		{"another object of the same name takes its place", func() { o.put(configMap("x", "b", "7")) }, 7, 2},
		{"the end of the former object is no news", func() { o.dropped(configMap("x", "a", "9")) }, 7, 2},
		{"its own end is", func() { o.dropped(configMap("x", "b", "8")) }, 0, 3},
		{"an end is told once", func() { o.dropped(configMap("x", "b", "8")) }, 0, 3},
	}
	for _, s := range steps {
		s.do()
		rec, _ := o.Get(id)
		if rec.ResourceVersion != s.want || len(h.objects) != s.told {
			t.Errorf("%s: version %d told %d times, want %d and %d", s.reason, rec.ResourceVersion, len(h.objects), s.want, s.told)
		}
	}
}

func fields(manager, subresource string, op metav1.ManagedFieldsOperationType, set string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Operation: op, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(set)}
}

func TestOwnedFields(t *testing.T) {
	ours := fields("ours", "", metav1.ManagedFieldsOperationApply, `{"f:data":{}}`)
	base, _ := ownedFields([]metav1.ManagedFieldsEntry{ours}, Ownership{Manager: "ours"})
	cases := map[string]struct {
		reason      string
		entries     []metav1.ManagedFieldsEntry
		same, stray bool
	}{
		"other manager": {"what others own of theirs does not matter", []metav1.ManagedFieldsEntry{ours, fields("x", "", metav1.ManagedFieldsOperationUpdate, `{"f:a":{}}`)}, true, false},
		"taken":         {"a field that was taken from us does", []metav1.ManagedFieldsEntry{fields("ours", "", metav1.ManagedFieldsOperationApply, `{}`)}, false, false},
		"kubectl":       {"kubectl's fields are taken over", []metav1.ManagedFieldsEntry{ours, fields("kubectl-edit", "", metav1.ManagedFieldsOperationUpdate, `{"f:a":{}}`)}, true, true},
		"status":        {"but not those of a subresource", []metav1.ManagedFieldsEntry{ours, fields("kubectl", "scale", metav1.ManagedFieldsOperationUpdate, `{"f:a":{}}`)}, true, false},
		"a mark":        {"nor a mark that somebody set, with the map that it is in", []metav1.ManagedFieldsEntry{ours, fields("kubectl-annotate", "", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{".":{},"f:a.b/ssa":{}}}}`)}, true, false},
		"and another":   {"but other annotations beside it are", []metav1.ManagedFieldsEntry{ours, fields("kubectl-annotate", "", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{"f:c.d/x":{},"f:a.b/ssa":{}}}}`)}, true, true},
		"an owner":      {"nor a label by which it is a unit's, whoever has it", []metav1.ManagedFieldsEntry{ours, fields("kubectl-label", "", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:c.d/name":{}}}}`)}, true, false},
		"our owner": {"nor our own", []metav1.ManagedFieldsEntry{
			fields("ours", "", metav1.ManagedFieldsOperationApply, `{"f:data":{},"f:metadata":{"f:labels":{"f:c.d/name":{},"f:c.d/namespace":{}}}}`),
		}, true, false},
		"one of two": {"nor the one that is left", []metav1.ManagedFieldsEntry{
			fields("ours", "", metav1.ManagedFieldsOperationApply, `{"f:data":{},"f:metadata":{"f:labels":{"f:c.d/namespace":{}}}}`),
		}, true, false},
		"a label": {"but another label is", []metav1.ManagedFieldsEntry{
			fields("ours", "", metav1.ManagedFieldsOperationApply, `{"f:data":{},"f:metadata":{"f:labels":{"f:app":{},"f:c.d/namespace":{}}}}`),
		}, false, false},
		"our update": {"what we wrote otherwise than by apply is not ours", []metav1.ManagedFieldsEntry{fields("ours", "", metav1.ManagedFieldsOperationUpdate, `{"f:data":{}}`)}, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			digest, stray := ownedFields(c.entries, Ownership{Manager: "ours", Prefix: "a.b/", Label: "c.d/name", NamespaceLabel: "c.d/namespace"})
			if (digest == base) != c.same || stray != c.stray {
				t.Errorf("%s: the same is %v, stray is %v", c.reason, digest == base, stray)
			}
		})
	}
}

func TestUpdatedFields(t *testing.T) {
	ours := fields("ours", "", metav1.ManagedFieldsOperationUpdate, `{"f:data":{}}`)
	base := updatedFields([]metav1.ManagedFieldsEntry{ours}, "ours")
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		same    bool
	}{
		"other manager": {"what others own of theirs does not matter", []metav1.ManagedFieldsEntry{fields("x", "", metav1.ManagedFieldsOperationUpdate, `{}`), ours}, true},
		"taken":         {"a field that was taken from us does", []metav1.ManagedFieldsEntry{fields("ours", "", metav1.ManagedFieldsOperationUpdate, `{}`)}, false},
		"status":        {"a status is not meant", []metav1.ManagedFieldsEntry{fields("ours", "status", metav1.ManagedFieldsOperationUpdate, `{"f:status":{}}`), ours}, true},
		"applied":       {"nor what we applied", []metav1.ManagedFieldsEntry{fields("ours", "", metav1.ManagedFieldsOperationApply, `{"f:data":{}}`)}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if digest := updatedFields(c.entries, "ours"); (digest == base) != c.same {
				t.Errorf("%s: the same is %v", c.reason, digest == base)
			}
		})
	}
}

func TestReplaceDropsWhatIsMissing(t *testing.T) {
	var put, dropped []string
	w := &watch{synced: make(chan struct{}), seen: map[types.UID]*unstructured.Unstructured{}, sink: Sink{
		Put:     func(u *unstructured.Unstructured) { put = append(put, u.GetName()) },
		Dropped: func(u *unstructured.Unstructured) { dropped = append(dropped, u.GetName()+"@"+u.GetResourceVersion()) },
	}}
	a, b, c := configMap("a", "1", "1"), configMap("b", "2", "2"), configMap("c", "3", "3")
	for _, list := range [][]any{{a, b}, {b, c}} {
		if err := w.Replace(list, "9"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "b", "c"}, put); diff != "" {
		t.Errorf("put (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a@9"}, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	select {
	case <-w.synced:
	default:
		t.Error("the first list does not count as such")
	}
}

func TestWrittenAndGoneBeforeTheFirstList(t *testing.T) {
	marked := func(u *unstructured.Unstructured) *unstructured.Unstructured {
		u.SetLabels(map[string]string{"name": "a"})
		return u
	}
	h := &heard{}
	o := newObjects(nil, newKinds(nil, h), ownership, h)
	w := &watch{synced: make(chan struct{}), seen: map[types.UID]*unstructured.Unstructured{}, sink: o.sink()}
	o.watches[watchKey{schema.GroupKind{Kind: "ConfigMap"}, selection{label: "name"}}] = w
	gone, newer, foreign := o.Put(marked(configMap("gone", "1", "5"))), o.Put(marked(configMap("newer", "2", "9"))), o.Put(configMap("foreign", "3", "5"))
	if err := w.Replace(nil, "7"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		id     engine.ObjectID
		known  bool
	}{
		{"what the list does not have is gone", gone.ID, false},
		{"unless it was written after the list", newer.ID, true},
		{"and what the watch is not about is not missing", foreign.ID, true},
	} {
		if _, known := o.Get(c.id); known != c.known {
			t.Errorf("%s: %s is known: %v", c.reason, c.id, known)
		}
	}
}

func TestReconnected(t *testing.T) {
	h := &heard{}
	o, w := newObjects(nil, newKinds(nil, h), ownership, h), &watch{}
	for _, err := range []error{nil, errLost, errLost, nil, nil} {
		w.answered(err, o)
	}
	if h.back != 1 {
		t.Errorf("told %d times that the cluster answers again, want once", h.back)
	}
}

func crd(established string, versions ...any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "xs.e.io"},
		"spec": map[string]any{
			"group": "e.io", "scope": "Cluster", "names": map[string]any{"kind": "X", "plural": "xs"}, "versions": versions,
		},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": established}}},
	}}
}

func TestKinds(t *testing.T) {
	h := &heard{}
	k := newKinds(nil, h)
	gk := schema.GroupKind{Group: "e.io", Kind: "X"}
	v1, v2 := map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v2", "served": true}
	old := map[string]any{"name": "v0", "served": false}
	k.put(crd("False", v1))
	if _, served := k.Lookup(gk.WithVersion("")); served {
		t.Error("a kind is served before its CRD is established")
	}
	k.put(crd("True", old, v1))
	r, served := k.Lookup(gk.WithVersion("v1"))
	want := Resource{GroupVersionResource: schema.GroupVersionResource{Group: "e.io", Version: "v1", Resource: "xs"}, Listed: true}
	if diff := cmp.Diff(want, r); !served || diff != "" {
		t.Errorf("the resource (-want +got):\n%s", diff)
	}
	if _, served := k.Lookup(gk.WithVersion("v0")); served {
		t.Error("a version is served that the CRD does not serve")
	}
	if !k.Young(gk) || k.Young(schema.GroupKind{Kind: "ConfigMap"}) {
		t.Error("a kind that has just come is young, others are not")
	}
	k.put(crd("True", old, v1))
	k.put(crd("True", v1, v2))
	k.dropped(crd("True", v1, v2))
	if _, served := k.Lookup(gk.WithVersion("")); served {
		t.Error("a kind is served whose CRD went")
	}
	if diff := cmp.Diff([]string{"X", "X", "X"}, h.kinds); diff != "" {
		t.Errorf("told of kinds: it came, it changed, it went (-want +got):\n%s", diff)
	}
}
