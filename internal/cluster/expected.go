package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// expectation is a kind whose definition is about to be applied.
type expectation struct {
	versions []string
	// served is closed once it is established.
	served chan struct{}
}

// Expect reports definitions that are about to be applied: what needs one of their kinds waits until it is served.
func (k *Kinds) Expect(definitions []*unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, crd := range definitions {
		gk, is := engine.DefinedKind(crd)
		if !is || len(k.served[gk]) > 0 {
			continue
		}
		e := expectation{served: make(chan struct{})}
		for version := range crdVersions(crd, gk.Group) {
			e.versions = append(e.versions, version)
		}
		k.expected[gk] = e
		k.revision++
	}
}

// arrive ends the expectation of a kind. The caller holds the lock.
func (k *Kinds) arrive(gk schema.GroupKind) {
	if e, expected := k.expected[gk]; expected {
		close(e.served)
		delete(k.expected, gk)
	}
}

// Await waits until none of the kinds of objects is expected any more.
func (k *Kinds) Await(ctx context.Context, objects []*unstructured.Unstructured) error {
	return k.await(ctx, func(gk schema.GroupKind) bool {
		return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GroupVersionKind().GroupKind() == gk })
	})
}

// AwaitAll waits until no kind is expected any more.
func (k *Kinds) AwaitAll(ctx context.Context) error {
	return k.await(ctx, func(schema.GroupKind) bool { return true })
}

func (k *Kinds) await(ctx context.Context, needed func(schema.GroupKind) bool) error {
	for _, served := range k.pending(needed) {
		select {
		case <-served:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// pending is what is closed once the kinds that are needed are served; it is empty most of the time.
func (k *Kinds) pending(needed func(schema.GroupKind) bool) []<-chan struct{} {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var all []<-chan struct{}
	for gk, e := range k.expected {
		if needed(gk) {
			all = append(all, e.served)
		}
	}
	return all
}

// Announced are the kinds that are served or expected, each in every version.
func (k *Kinds) Announced() []schema.GroupVersionKind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var all []schema.GroupVersionKind
	for gk, versions := range k.served {
		for version := range versions {
			all = append(all, gk.WithVersion(version))
		}
	}
	for gk, e := range k.expected {
		for _, version := range e.versions {
			all = append(all, gk.WithVersion(version))
		}
	}
	return all
}
