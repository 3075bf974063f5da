package flux

import (
	"context"
	"slices"

	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

func (e *Engine) putSource(ctx context.Context, kind servedSource) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := kind.read(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		if !e.sources.foreign(o) {
			e.finalizer(ctx, o, kind.resource, finalizer)
		}
		e.sources.put(o)
		if kind.sourceKind == helmChartKinds {
			e.charts.touched(o)
		}
		if chartNamed(o) {
			e.upsertReleases(e.handover.concerned(sourceID(kind.name, o.GetNamespace(), o.GetName())))
		}
	}
}

func (e *Engine) dropSource(kind *sourceKind) func(*unstructured.Unstructured) {
	drop := e.sources.dropped(kind)
	return func(u *unstructured.Unstructured) {
		drop(u)
		e.gone(kind.name, u)
		if kind == helmChartKinds {
			e.charts.touched(u)
		}
	}
}

func (e *Engine) putGenerator(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := e.sources.generators.put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		e.finalizer(ctx, o, artifactGenerators, swapi.Finalizer)
	}
}

func (e *Engine) putUnit(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		ks, err := e.registry.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "kustomization", u.GetNamespace()+"/"+u.GetName(), "error", err.Error())
			return
		}
		e.finalizer(ctx, ks, kustomizations, finalizer)
		e.runner.Upsert(e.policies.now().declare(ks))
	}
}

func (e *Engine) putRelease(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		hr, err := e.releases.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		e.finalizer(ctx, hr, helmReleases, finalizer)
		id := releaseID(hr.Namespace, hr.Name)
		if e.handover.replaced(hr) == "" {
			e.charts.changed(id)
		}
		e.upsertReleases(append(e.releases.twins.put(hr), id))
	}
}

// upsertReleases hands releases over that changed, or whose neighbours did.
func (e *Engine) upsertReleases(ids []engine.UnitID) {
	for _, id := range ids {
		hr, there := e.releases.Get(id)
		if !there {
			continue
		}
		u := e.handover.without(e.policies.now().declareRelease(hr), hr)
		u.Invalid = firstOf(u.Invalid, e.releases.twins.refusal(id))
		e.runner.Upsert(u)
	}
}

func (e *Engine) dropRelease(u *unstructured.Unstructured) {
	id := releaseID(u.GetNamespace(), u.GetName())
	e.gone(id.Kind, u)
	e.policies.ask(id, Policy{})
	e.releases.drop(id)
	e.dialect.connections.forget(id)
	e.runner.Remove(id)
	e.upsertReleases(e.releases.twins.drop(id))
}

func (e *Engine) gone(kind string, o metav1.Object) {
	e.Metrics.Forget(kind, o.GetNamespace(), o.GetName())
}

func (e *Engine) dropUnit(u *unstructured.Unstructured) {
	id := unitID(u.GetNamespace(), u.GetName())
	e.gone(id.Kind, u)
	e.registry.Drop(id)
	e.dialect.connections.forget(id)
	e.runner.Remove(id)
}

// finalizer puts a finalizer on an object that lacks it, in the background: it is needed when
// the object is deleted, not before.
func (e *Engine) finalizer(ctx context.Context, o metav1.Object, r schema.GroupVersionResource, name string) {
	if o.GetDeletionTimestamp() != nil || slices.Contains(o.GetFinalizers(), name) {
		return
	}
	go func() {
		err := setFinalizer(ctx, e.cluster.Dynamic.Resource(r), o, name, true)
		if err != nil && ctx.Err() == nil {
			e.Log.V(1).Info("a finalizer could not be set; retrying at the next change of the object",
				"object", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
		}
	}()
}

func hasFinalizer(o metav1.Object) bool {
	for _, f := range o.GetFinalizers() {
		if f == finalizer {
			return true
		}
	}
	return false
}
