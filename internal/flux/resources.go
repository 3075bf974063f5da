package flux

import (
	"context"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
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
			Group: toolkit.KustomizationKind.Group, Version: kustomizev1.GroupVersion.Version, Kind: toolkit.KustomizationKind.Kind,
			Namespace: ks.Namespace, Name: ks.Name, Ready: toolkit.ReadyOf(ks.Status.Conditions), Suspended: ks.Spec.Suspend,
			Revision: ks.Status.LastAppliedRevision, Source: ks.Spec.SourceRef.Name,
		})
	}
	for _, hr := range e.releases.All() {
		list = append(list, meter.Resource{
			Group: toolkit.HelmReleaseKind.Group, Version: helmv2.GroupVersion.Version, Kind: toolkit.HelmReleaseKind.Kind,
			Namespace: hr.Namespace, Name: hr.Name, Ready: toolkit.ReadyOf(hr.Status.Conditions), Suspended: hr.Spec.Suspend,
			Revision: hr.Status.LastAttemptedRevision, Source: release.SourceOf(hr).Name,
		})
	}
	for _, rs := range e.sets.All() {
		list = append(list, operatorMeter(fluxcdv1.ResourceSetKind, rs, rs.Status.Conditions, rs.Status.LastAppliedRevision))
	}
	for _, p := range e.sets.Providers.All() {
		list = append(list, operatorMeter(fluxcdv1.ResourceSetInputProviderKind, p, p.Status.Conditions, p.Status.LastExportedRevision))
	}
	for _, o := range e.instances.All() {
		list = append(list, operatorMeter(fluxcdv1.FluxInstanceKind, o, o.Status.Conditions, o.Status.LastAppliedRevision))
	}
	for _, o := range e.receivers.All() {
		list = append(list, meter.Resource{
			Group: toolkit.ReceiverResource.Group, Version: toolkit.ReceiverResource.Version, Kind: notifyv1.ReceiverKind,
			Namespace: o.Namespace, Name: o.Name, Ready: toolkit.ReadyOf(o.Status.Conditions), Suspended: o.Spec.Suspend,
		})
	}
	list = append(list, e.images.Meters()...)
	for _, o := range e.sources.All() {
		kind, status := o.SourceKind(), o.State()
		r := meter.Resource{
			Group: kind.Resource.Group, Version: kind.Resource.Version, Kind: kind.Name,
			Namespace: o.GetNamespace(), Name: o.GetName(), Ready: toolkit.ReadyOf(*status.Conditions), Suspended: o.Suspended(),
			URL: o.Address(),
		}
		if a := *status.Artifact; a != nil {
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
		Ready: toolkit.ReadyOf(conditions), Suspended: toolkit.DisabledByAnnotation(o), Revision: revision,
	}
}
