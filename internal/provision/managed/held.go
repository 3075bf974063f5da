package managed

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/declared"
)

// held are the resources as they were last seen, or as our own last write left them.
type held struct {
	mu  sync.RWMutex
	all map[Key]*unstructured.Unstructured
}

// put enters an object, unless what is held is newer. It tells whether there is something to do about the change.
func (h *held) put(key Key, o *unstructured.Unstructured) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, known := h.all[key]
	if known && !declared.Newer(o, was) {
		return false
	}
	h.all[key] = o
	return !known || changed(was, o)
}

// get is what is held, nil for nothing. It is not to be changed.
func (h *held) get(key Key) *unstructured.Unstructured {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.all[key]
}

func (h *held) drop(key Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, key)
}

// changed tells whether an object differs in more than its status, which passes write.
func changed(was, is *unstructured.Unstructured) bool {
	return was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() ||
		(was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil) ||
		!maps.Equal(was.GetAnnotations(), is.GetAnnotations()) || !maps.Equal(was.GetLabels(), is.GetLabels()) ||
		!slices.Equal(was.GetFinalizers(), is.GetFinalizers())
}
