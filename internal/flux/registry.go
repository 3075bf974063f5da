package flux

import (
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/engine"
)

// registry holds the Kustomizations as they were last seen, or as our own last write left them. It
// is safe for concurrent use.
type registry struct {
	mu   sync.RWMutex
	held map[engine.UnitID]held
}

type held struct {
	typed *kustomizev1.Kustomization
	raw   map[string]any
}

func newRegistry() *registry { return &registry{held: map[engine.UnitID]held{}} }

// put enters an object; an older version of what is held is not taken.
func (r *registry) put(u *unstructured.Unstructured) (*kustomizev1.Kustomization, error) {
	ks := &kustomizev1.Kustomization{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, ks); err != nil {
		return nil, err
	}
	id := unitID(ks.Namespace, ks.Name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.held[id]; ok && old.typed.UID == ks.UID && newer(old.typed.ResourceVersion, ks.ResourceVersion) {
		return old.typed, nil
	}
	r.held[id] = held{typed: ks, raw: u.Object}
	return ks, nil
}

// newer tells whether resource version a is newer than b.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

func (r *registry) get(id engine.UnitID) (*kustomizev1.Kustomization, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, ok := r.held[id]
	return h.typed, ok
}

// all returns the Kustomizations, in no order.
func (r *registry) all() []*kustomizev1.Kustomization {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]*kustomizev1.Kustomization, 0, len(r.held))
	for _, h := range r.held {
		all = append(all, h.typed)
	}
	return all
}

func (r *registry) object(id engine.UnitID) map[string]any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.held[id].raw
}

func (r *registry) drop(id engine.UnitID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, id)
}

// watermarks returns when the status of each Kustomization was written last that an engine has had in
// its hands before: those bear its finalizer.
func (r *registry) watermarks() map[engine.UnitID]watermark {
	r.mu.RLock()
	defer r.mu.RUnlock()
	marks := make(map[engine.UnitID]watermark, len(r.held))
	for id, h := range r.held {
		if hasFinalizer(h.typed) {
			marks[id] = watermarkOf(h.typed)
		}
	}
	return marks
}
