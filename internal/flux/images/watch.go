package images

import (
	"context"
	"maps"
	"reflect"

	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/meter"
)

// Watch begins with the repositories, so that policies find them.
func (k *Keeper) Watch(ctx context.Context) error {
	k.start(ctx)
	for _, kind := range []struct {
		resource schema.GroupVersionResource
		name     string
		enter    func(*unstructured.Unstructured) (metav1.Object, error)
		drop     func(engine.UnitID)
	}{
		{toolkit.ImageRepositories, imagev1.ImageRepositoryKind, k.enterRepository, k.dropRepository},
		{toolkit.ImagePolicies, imagev1.ImagePolicyKind, k.enterPolicy, k.dropPolicy},
		{toolkit.ImageAutomations, autov1.ImageUpdateAutomationKind, k.enterAutomation, k.dropAutomation},
	} {
		put := func(u *unstructured.Unstructured) {
			o, err := kind.enter(u)
			if err != nil {
				k.Log.Info("an object cannot be read", "error", err.Error())
				return
			}
			toolkit.Finalize(ctx, k.Host, o, kind.resource, imagev1.ImageFinalizer)
		}
		dropped := func(u *unstructured.Unstructured) {
			toolkit.Forget(k.Host, kind.name, u)
			kind.drop(imageID(kind.name, u))
		}
		if err := k.Home.Watch(ctx, kind.resource, k.Selector, cluster.Sink{Put: put, Dropped: dropped}); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keeper) enterRepository(u *unstructured.Unstructured) (metav1.Object, error) {
	id := imageID(imagev1.ImageRepositoryKind, u)
	before, known := k.repositories.Get(id)
	o, err := k.repositories.Put(u)
	if err != nil {
		return nil, err
	}
	k.scanning.Wake(id)
	if !known || before.UID != o.UID || before.Generation != o.Generation {
		k.wakePolicies(id)
	}
	return o, nil
}

func (k *Keeper) dropRepository(id engine.UnitID) {
	k.repositories.Drop(id)
	k.end(k.scanning, id)
	k.mu.Lock()
	delete(k.scans, id)
	k.mu.Unlock()
	k.wakePolicies(id)
}

// enterPolicy wakes the automations to which the policy gives another image.
func (k *Keeper) enterPolicy(u *unstructured.Unstructured) (metav1.Object, error) {
	id := imageID(imagev1.ImagePolicyKind, u)
	before, known := k.policies.Get(id)
	o, err := k.policies.Put(u)
	if err != nil {
		return nil, err
	}
	k.choosing.Wake(id)
	if !known || !reflect.DeepEqual(before.Status.LatestRef, o.Status.LatestRef) || !maps.Equal(before.Labels, o.Labels) {
		k.wakeAutomations(id.Namespace)
	}
	return o, nil
}

func (k *Keeper) dropPolicy(id engine.UnitID) {
	k.policies.Drop(id)
	k.end(k.choosing, id)
	k.wakeAutomations(id.Namespace)
}

func (k *Keeper) enterAutomation(u *unstructured.Unstructured) (metav1.Object, error) {
	o, err := k.automations.Put(u)
	if err != nil {
		return nil, err
	}
	k.updating.Wake(imageID(autov1.ImageUpdateAutomationKind, u))
	return o, nil
}

func (k *Keeper) dropAutomation(id engine.UnitID) {
	k.automations.Drop(id)
	k.end(k.updating, id)
}

// Meters are where the objects stand that are about images.
func (k *Keeper) Meters() []meter.Resource {
	var list []meter.Resource
	add := func(kind string, o metav1.Object, conditions []metav1.Condition, suspended bool, r meter.Resource) {
		r.Group, r.Version, r.Kind = imagev1.GroupVersion.Group, imagev1.GroupVersion.Version, kind
		r.Namespace, r.Name, r.Ready, r.Suspended = o.GetNamespace(), o.GetName(), toolkit.ReadyOf(conditions), suspended
		list = append(list, r)
	}
	for _, o := range k.repositories.All() {
		add(imagev1.ImageRepositoryKind, o, o.Status.Conditions, o.Spec.Suspend, meter.Resource{URL: o.Spec.Image})
	}
	for _, o := range k.policies.All() {
		add(imagev1.ImagePolicyKind, o, o.Status.Conditions, o.Spec.Suspend, meter.Resource{Source: o.Spec.ImageRepositoryRef.Name})
	}
	for _, o := range k.automations.All() {
		add(autov1.ImageUpdateAutomationKind, o, o.Status.Conditions, o.Spec.Suspend, meter.Resource{Source: o.Spec.SourceRef.Name})
	}
	return list
}
