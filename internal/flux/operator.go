package flux

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/cluster"
)

// watchOperator begins with the providers of inputs: a ResourceSet that is rendered without one of them would
// release what it created.
func (e *Engine) watchOperator(ctx context.Context) error {
	err := e.cluster.Watch(ctx, inputProviders, e.Selector, cluster.Sink{Put: e.putProvider, Dropped: e.dropProvider})
	if err != nil {
		return err
	}
	return e.cluster.Watch(ctx, resourceSetResource, e.Selector, cluster.Sink{Put: e.putResourceSet(ctx), Dropped: e.dropResourceSet})
}

// watchInstances begins with FluxInstances: what they ask for holds for everything else.
func (e *Engine) watchInstances(ctx context.Context) error {
	return e.cluster.Watch(ctx, fluxInstances, e.Selector, cluster.Sink{Put: e.putInstance, Dropped: e.dropInstance})
}

func (e *Engine) putInstance(u *unstructured.Unstructured) {
	o, err := e.instances.Put(u)
	if err != nil {
		e.Log.Info("an object cannot be read", "error", err.Error())
		return
	}
	id := instanceID(u.GetNamespace(), u.GetName())
	// What it requests applies before anything else is reconciled. So it does for one that is disabled, as by a
	// migration: the controllers that it made more strict were so until now.
	e.policies.ask(id, wishesOf(o.Spec).policy)
	e.instanceDesk.Wake(id)
}

func (e *Engine) dropInstance(u *unstructured.Unstructured) {
	forgotten(e.Host, fluxcdv1.FluxInstanceKind, u)
	id := instanceID(u.GetNamespace(), u.GetName())
	e.instances.Drop(id)
	e.policies.ask(id, Policy{})
}

func (e *Engine) putProvider(u *unstructured.Unstructured) {
	if _, err := e.sets.putProvider(u); err != nil {
		e.Log.Info("an object cannot be read", "error", err.Error())
		return
	}
	e.providerDesk.Wake(providerID(u.GetNamespace(), u.GetName()))
}

func (e *Engine) dropProvider(u *unstructured.Unstructured) {
	forgotten(e.Host, fluxcdv1.ResourceSetInputProviderKind, u)
	e.sets.dropProvider(u)
}

func (e *Engine) putResourceSet(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		rs, err := e.sets.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		finalize(ctx, e.Host, rs, resourceSetResource, fluxcdv1.Finalizer)
		e.runner.Upsert(declareResourceSet(e.policies.now(), rs))
	}
}

func (e *Engine) dropResourceSet(u *unstructured.Unstructured) {
	id := resourceSetID(u.GetNamespace(), u.GetName())
	forgotten(e.Host, id.Kind, u)
	e.sets.forget(id)
	e.runner.Remove(id)
}

// startOperator puts together what serves the kinds of flux-operator.
func (e *Engine) startOperator(t tools) {
	e.sets = newResourceSets(t, e.policies)
	e.providerDesk = newDesk(e.Log, providerReports{resourceSets: e.sets})
	e.instances = newInstances(t, e.policies)
	e.instanceDesk = newDesk(e.Log, e.instances)
}

// runOperator writes what is known of providers and of FluxInstances down, until ctx ends.
func (e *Engine) runOperator(ctx context.Context) {
	for _, d := range []*desk{e.instanceDesk, e.providerDesk} {
		d.Start(ctx)
		e.desks.Go(d.Wait)
	}
}
