package flux

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
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

// watchInstances begins with FluxInstances: what they ask for holds for everything else, in whatever shard they are themselves.
// Without them it is unknown what is permitted, so that an engine which cannot read them does not start.
func (e *Engine) watchInstances(ctx context.Context) error {
	mine, err := labels.Parse(e.Selector)
	if err != nil {
		return fmt.Errorf("reading the selector %q of the shard: %w", e.Selector, err)
	}
	put := func(u *unstructured.Unstructured) { e.putInstance(u, mine.Matches(labels.Set(u.GetLabels()))) }
	err = e.cluster.Watch(ctx, toolkit.FluxInstances, "", cluster.Sink{Put: put, Dropped: e.dropInstance})
	if err != nil {
		return fmt.Errorf("reading which FluxInstances lock this cluster down: %w; it needs list and watch of %s", err, toolkit.FluxInstances.GroupResource())
	}
	return nil
}

// followsInstances reports whether FluxInstances say what is permitted here: where they are served, and in every shard of a cluster
// that has them.
func (e *Engine) followsInstances() bool {
	if e.Serve.Serves(toolkit.Operator.Name) {
		return true
	}
	_, served := e.cluster.Kinds.Lookup(fluxcdv1.GroupVersion.WithKind(fluxcdv1.FluxInstanceKind))
	return e.Selector != "" && served
}

// putInstance enters what a FluxInstance asks for. It is answered by the engine in whose shard it is.
func (e *Engine) putInstance(u *unstructured.Unstructured, mine bool) {
	id := takeover.InstanceID(u.GetNamespace(), u.GetName())
	o, err := declared.Read[fluxcdv1.FluxInstance](u)
	if err != nil {
		e.Log.Info("an object cannot be read", "error", err.Error())
		return
	}
	// What it requests applies before anything else is reconciled. So it does for one that is disabled, as by a
	// migration: the controllers that it made more strict were so until now.
	e.policies.Ask(id, takeover.WishesOf(o.Spec).Policy)
	if !mine || !e.Serve.Serves(toolkit.Operator.Name) {
		e.forgetInstance(u)
		return
	}
	if _, err := e.instances.Put(u); err == nil {
		e.instanceDesk.Wake(id)
	}
}

// forgetInstance ends that this engine answers for a FluxInstance.
func (e *Engine) forgetInstance(u *unstructured.Unstructured) {
	toolkit.Forget(e.Host, fluxcdv1.FluxInstanceKind, u)
	e.instances.Drop(takeover.InstanceID(u.GetNamespace(), u.GetName()))
}

func (e *Engine) dropInstance(u *unstructured.Unstructured) {
	e.forgetInstance(u)
	e.policies.Ask(takeover.InstanceID(u.GetNamespace(), u.GetName()), policies.Policy{})
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
