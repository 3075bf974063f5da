package flux

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/takeover"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// watchOperator begins with the providers of inputs: a ResourceSet that is rendered without one of them would
// release what it created.
func (e *Engine) watchOperator(ctx context.Context) error {
	err := e.cluster.Watch(ctx, toolkit.InputProviders, e.Selector, cluster.Sink{Put: e.putProvider, Dropped: e.dropProvider})
	if err != nil {
		return err
	}
	return e.cluster.Watch(ctx, toolkit.ResourceSetResource, e.Selector, cluster.Sink{Put: e.putResourceSet(ctx), Dropped: e.dropResourceSet})
}

// watchInstances begins with FluxInstances: what they ask for holds for everything else.
func (e *Engine) watchInstances(ctx context.Context) error {
	return e.cluster.Watch(ctx, toolkit.FluxInstances, e.Selector, cluster.Sink{Put: e.putInstance, Dropped: e.dropInstance})
}

func (e *Engine) putInstance(u *unstructured.Unstructured) {
	o, err := e.instances.Put(u)
	if err != nil {
		e.Log.Info("an object cannot be read", "error", err.Error())
		return
	}
	id := takeover.InstanceID(u.GetNamespace(), u.GetName())
	// What it requests applies before anything else is reconciled. So it does for one that is disabled, as by a
	// migration: the controllers that it made more strict were so until now.
	e.policies.Ask(id, takeover.WishesOf(o.Spec).Policy)
	e.instanceDesk.Wake(id)
}

func (e *Engine) dropInstance(u *unstructured.Unstructured) {
	toolkit.Forget(e.Host, fluxcdv1.FluxInstanceKind, u)
	id := takeover.InstanceID(u.GetNamespace(), u.GetName())
	e.instances.Drop(id)
	e.policies.Ask(id, policies.Policy{})
}

func (e *Engine) putProvider(u *unstructured.Unstructured) {
	if _, err := e.sets.PutProvider(u); err != nil {
		e.Log.Info("an object cannot be read", "error", err.Error())
		return
	}
	e.providerDesk.Wake(sets.ProviderID(u.GetNamespace(), u.GetName()))
}

func (e *Engine) dropProvider(u *unstructured.Unstructured) {
	toolkit.Forget(e.Host, fluxcdv1.ResourceSetInputProviderKind, u)
	e.sets.DropProvider(u)
}

func (e *Engine) putResourceSet(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		rs, err := e.sets.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		toolkit.Finalize(ctx, e.Host, rs, toolkit.ResourceSetResource, fluxcdv1.Finalizer)
		e.runner.Upsert(sets.Declare(e.policies.Now(), rs))
	}
}

func (e *Engine) dropResourceSet(u *unstructured.Unstructured) {
	id := sets.ID(u.GetNamespace(), u.GetName())
	toolkit.Forget(e.Host, id.Kind, u)
	e.sets.Forget(id)
	e.runner.Remove(id)
}

// startOperator puts together what serves the kinds of flux-operator.
func (e *Engine) startOperator(t toolkit.Tools) {
	e.sets = sets.New(t, e.policies)
	e.providerDesk = toolkit.NewDesk(e.Log, e.Guard, sets.ProviderReports{Keeper: e.sets})
	e.instances = takeover.NewInstances(t, e.policies)
	e.instanceDesk = toolkit.NewDesk(e.Log, e.Guard, e.instances)
}

// runOperator writes what is known of providers and of FluxInstances down, until ctx ends.
func (e *Engine) runOperator(ctx context.Context) {
	for _, d := range []*toolkit.Desk{e.instanceDesk, e.providerDesk} {
		d.Start(ctx)
		e.desks.Go(d.Wait)
	}
}
