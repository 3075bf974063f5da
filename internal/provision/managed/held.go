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
	// passing are those with a pass in progress. What comes meanwhile may be what the pass itself has written, whose answer has not
	// arrived yet: it is judged when the pass ends.
	passing map[Key]bool
}

func newHeld() held {
	return held{all: map[Key]*unstructured.Unstructured{}, passing: map[Key]bool{}}
}

// put enters an object, unless what is held is newer. It reports whether there is something to do about the change now.
func (h *held) put(key Key, o *unstructured.Unstructured) (news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, known := h.all[key]
	if known && !declared.Newer(o, was) {
		return false
	}
	h.all[key] = o
	return !known || !h.passing[key] && changed(was, o, nil)
}

// wrote enters what a write of a pass returned. An object that went meanwhile does not come back by it.
func (h *held) wrote(key Key, o *unstructured.Unstructured) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, known := h.all[key]; known && was.GetUID() == o.GetUID() && declared.Newer(o, was) {
		h.all[key] = o
	}
}

// begin starts a pass with what is held; nil for nothing.
func (h *held) begin(key Key) *unstructured.Unstructured {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.all[key]
	if o != nil {
		h.passing[key] = true
	}
	return o
}

// end ends a pass that knows an object as its own last write left it. It reports whether that is outdated.
func (h *held) end(key Key, known *unstructured.Unstructured) (outdated bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.passing, key)
	is := h.all[key]
	return is != nil && declared.Newer(is, known) && changed(known, is, nil)
}

// get is what is held, nil for nothing. It is not to be changed.
func (h *held) get(key Key) *unstructured.Unstructured {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.all[key]
}

// keys are those of all that is held.
func (h *held) keys() []Key {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Keys(h.all))
}

func (h *held) drop(key Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, key)
	delete(h.passing, key)
}

// changed reports whether an object differs in more than its status, which passes write, and the annotations that were written.
func changed(was, is *unstructured.Unstructured, written map[string]string) bool {
	annotations := was.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(annotations, written)
	return was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() ||
		(was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil) ||
		!maps.Equal(annotations, is.GetAnnotations()) || !maps.Equal(was.GetLabels(), is.GetLabels()) ||
		!slices.Equal(was.GetFinalizers(), is.GetFinalizers())
}
