package managed

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// define wakes those that wait for a kind whose definition came.
func (e *Edges) define(crd *unstructured.Unstructured) {
	if status, _, _, _ := dialect.Condition(crd, "Established"); status != "True" {
		return
	}
	gk := definedBy(crd)
	version, _ := strconv.ParseUint(crd.GetResourceVersion(), 10, 64)
	e.mu.Lock()
	e.defined[gk] = definition{crd.GetName(), version}
	e.mu.Unlock()
	e.wakeWaiting(gk)
}

// undefine ends the watches of a kind that is gone, and wakes those that follow objects of it.
func (e *Edges) undefine(crd *unstructured.Unstructured) {
	e.mu.Lock()
	var gone []schema.GroupKind
	for gk, d := range e.defined {
		if d.name == crd.GetName() {
			gone = append(gone, gk)
			delete(e.defined, gk)
		}
	}
	for w, f := range e.watches {
		for _, gk := range gone {
			if f.kind == gk {
				f.stop()
				delete(e.watches, w)
			}
		}
	}
	e.mu.Unlock()
	for _, gk := range gone {
		for _, reader := range e.readers.ofKind(e, gk) {
			e.wake(reader)
		}
	}
}

// wakeWaiting wakes those that follow a kind as such.
func (e *Edges) wakeWaiting(gk schema.GroupKind) {
	for _, reader := range e.readers.at(e.place(gk, types.NamespacedName{})) {
		e.wake(reader)
	}
}

func definedBy(crd *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}
