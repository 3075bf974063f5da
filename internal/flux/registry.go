package flux

import (
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// registry holds the objects of a kind that declare units, as they were last seen, or as our own last
// write left them. It is safe for concurrent use.
type registry[T any, P object[T]] struct {
	kind schema.GroupKind

	mu   sync.RWMutex
	held map[engine.UnitID]held[P]
}

// object is a pointer to the type of a kind.
type object[T any] interface {
	*T
	metav1.Object
}

type held[P any] struct {
	typed P
	raw   map[string]any
}

func newRegistry[T any, P object[T]](kind schema.GroupKind) *registry[T, P] {
	return &registry[T, P]{kind: kind, held: map[engine.UnitID]held[P]{}}
}

// put enters an object; an older version of what is held is not taken.
func (r *registry[T, P]) put(u *unstructured.Unstructured) (P, error) {
	read, err := readAs[T](u)
	if err != nil {
		return nil, err
	}
	typed := P(read)
	id := engine.UnitID{Group: r.kind.Group, Kind: r.kind.Kind, Namespace: typed.GetNamespace(), Name: typed.GetName()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.held[id]; ok && old.typed.GetUID() == typed.GetUID() && newer(old.typed.GetResourceVersion(), typed.GetResourceVersion()) {
		return old.typed, nil
	}
	r.held[id] = held[P]{typed: typed, raw: u.Object}
	return typed, nil
}

// kustomizationRegistry holds Kustomizations.
type kustomizationRegistry = registry[kustomizev1.Kustomization, *kustomizev1.Kustomization]

func newKustomizations() *kustomizationRegistry {
	return newRegistry[kustomizev1.Kustomization](kustomizationKind)
}

// newer tells whether resource version a is newer than b.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func (r *registry[T, P]) get(id engine.UnitID) (P, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, ok := r.held[id]
	return h.typed, ok
}

// all returns the objects, in no order.
func (r *registry[T, P]) all() []P {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]P, 0, len(r.held))
	for _, h := range r.held {
		all = append(all, h.typed)
	}
	return all
}

func (r *registry[T, P]) object(id engine.UnitID) map[string]any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.held[id].raw
}

func (r *registry[T, P]) drop(id engine.UnitID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, id)
}
