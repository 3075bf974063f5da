// Package declared holds what every dialect does with the objects of its own kinds, such as a Kustomization or an
// Application: a registry of them as they were last seen, their finalizers, their status, events about them, and the few
// functions by which they are read and compared.
//
// It refuses to know any kind, and decides nothing: the caller says which object there is, what its status says and what an
// event says. It writes statuses, finalizers and annotations of objects of these kinds alone; objects of units are the
// applier's. A write that would change nothing is not made.
package declared

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Registry holds the objects of a kind, as they were last seen, or as our own last write left them. It is safe for
// concurrent use.
type Registry[T any, P Object[T]] struct {
	kind schema.GroupKind

	mu   sync.RWMutex
	held map[engine.UnitID]held[P]
}

// Object is a pointer to the type of a kind.
type Object[T any] interface {
	*T
	metav1.Object
}

type held[P any] struct {
	typed P
	raw   map[string]any
}

// NewRegistry returns an empty Registry.
func NewRegistry[T any, P Object[T]](kind schema.GroupKind) *Registry[T, P] {
	return &Registry[T, P]{kind: kind, held: map[engine.UnitID]held[P]{}}
}

// Put enters an object, and returns what is held then, which is something else where that is newer.
func (r *Registry[T, P]) Put(u *unstructured.Unstructured) (P, error) {
	read, err := Read[T](u)
	if err != nil {
		return nil, err
	}
	typed := P(read)
	id := engine.UnitID{Group: r.kind.Group, Kind: r.kind.Kind, Namespace: typed.GetNamespace(), Name: typed.GetName()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.held[id]; ok && !Newer(typed, old.typed) {
		return old.typed, nil
	}
	r.held[id] = held[P]{typed: typed, raw: u.Object}
	return typed, nil
}

// State has the status of an object say what it says after instead of what it said before, and enters what the server made of it.
func (r *Registry[T, P]) State(ctx context.Context, w Writer, o P, before, after any) error {
	u, err := w.Status(ctx, o, before, after)
	if err != nil || u == nil {
		return err
	}
	_, err = r.Put(u)
	return err
}

// Get returns an object, which is not to be changed.
func (r *Registry[T, P]) Get(id engine.UnitID) (P, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, ok := r.held[id]
	return h.typed, ok
}

// All returns the objects, in no order.
func (r *Registry[T, P]) All() []P {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]P, 0, len(r.held))
	for _, h := range r.held {
		all = append(all, h.typed)
	}
	return all
}

// Raw is an object as expressions see it, nil when there is none.
func (r *Registry[T, P]) Raw(id engine.UnitID) map[string]any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.held[id].raw
}

// Drop forgets an object that is gone.
func (r *Registry[T, P]) Drop(id engine.UnitID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, id)
}

// Newer reports whether an object is a later version than another one, or was created after that one was deleted.
func Newer(o, than metav1.Object) bool {
	a, b := o.GetResourceVersion(), than.GetResourceVersion()
	switch {
	case o.GetUID() != than.GetUID():
		return true
	case len(a) != len(b):
		return len(a) > len(b)
	}
	return a > b
}
