package flux

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/runner"
)

// States returns where all units stand, and what the engine did since its start.
func (e *Engine) States(ctx context.Context) ([]runner.State, runner.Stats) {
	return e.runner.States(ctx)
}

// Resources returns where every object stands that is served, in no order.
func (e *Engine) Resources() []meter.Resource {
	var list []meter.Resource
	for _, ks := range e.registry.All() {
		list = append(list, meter.Resource{
			Group: kustomizationKind.Group, Version: kustomizev1.GroupVersion.Version, Kind: kustomizationKind.Kind,
			Namespace: ks.Namespace, Name: ks.Name, Ready: readyOf(ks.Status.Conditions), Suspended: ks.Spec.Suspend,
			Revision: ks.Status.LastAppliedRevision, Source: ks.Spec.SourceRef.Name,
		})
	}
	for _, hr := range e.releases.All() {
		list = append(list, meter.Resource{
			Group: helmReleaseKind.Group, Version: helmv2.GroupVersion.Version, Kind: helmReleaseKind.Kind,
			Namespace: hr.Namespace, Name: hr.Name, Ready: readyOf(hr.Status.Conditions), Suspended: hr.Spec.Suspend,
			Revision: hr.Status.LastAttemptedRevision, Source: releaseSource(hr).Name,
		})
	}
	for _, rs := range e.sets.All() {
		list = append(list, operatorMeter(fluxcdv1.ResourceSetKind, rs, rs.Status.Conditions, rs.Status.LastAppliedRevision))
	}
	for _, p := range e.sets.providers.All() {
		list = append(list, operatorMeter(fluxcdv1.ResourceSetInputProviderKind, p, p.Status.Conditions, p.Status.LastExportedRevision))
	}
	for _, o := range e.instances.All() {
		list = append(list, operatorMeter(fluxcdv1.FluxInstanceKind, o, o.Status.Conditions, o.Status.LastAppliedRevision))
	}
	for _, o := range e.receivers.All() {
		list = append(list, meter.Resource{
			Group: receiverResource.Group, Version: receiverResource.Version, Kind: notifyv1.ReceiverKind,
			Namespace: o.Namespace, Name: o.Name, Ready: readyOf(o.Status.Conditions), Suspended: o.Spec.Suspend,
		})
	}
	list = append(list, e.images.meters()...)
	for _, o := range e.sources.all() {
		kind, status := o.kind(), o.status()
		r := meter.Resource{
			Group: kind.resource.Group, Version: kind.resource.Version, Kind: kind.name,
			Namespace: o.GetNamespace(), Name: o.GetName(), Ready: readyOf(*status.conditions), Suspended: o.suspended(),
			URL: withoutCredentials(o.address()),
		}
		if a := *status.artifact; a != nil {
			r.Revision = a.Revision
		}
		list = append(list, r)
	}
	return list
}

// operatorMeter is where an object stands of the group of flux-operator.
func operatorMeter(kind string, o metav1.Object, conditions []metav1.Condition, revision string) meter.Resource {
	return meter.Resource{
		Group: fluxcdv1.GroupVersion.Group, Version: fluxcdv1.GroupVersion.Version, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		Ready: readyOf(conditions), Suspended: disabledByAnnotation(o), Revision: revision,
	}
}
