package flux

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/alerts"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/runner"
)

// reporter answers the runner for units of Flux, and writes down how they stand.
type reporter struct {
	toolkit.Tools
	registry *kustomize.Registry
	policies *policies.Effective

	connections *access.Connections
	releases    *release.Keeper
	sets        *sets.Keeper
	// rules send fetches elsewhere.
	rules bases.Rewriter
}

// Inputs gathers what the render of a Kustomization needs.
func (d *reporter) Inputs(ctx context.Context, id engine.UnitID) (runner.Inputs, error) {
	if id.GroupKind() == toolkit.ResourceSetKind {
		return d.sets.Inputs(ctx, id)
	}
	ks, ok := d.registry.Get(id)
	if !ok {
		return runner.Inputs{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	reader := access.VersionReader{Client: d.Secrets, Versions: map[engine.ObjectID]uint64{}}
	d.connections.Look(ctx, access.ClusterRef{Namespace: ks.Namespace, Generation: ks.Generation, Config: ks.Spec.KubeConfig}, reader)
	inputs, err := kustomize.InputsOf(ctx, d.policies.Now(), ks, reader)
	inputs.Versions, inputs.Options.Decryption = reader.Versions, inputs.Options.Decryption.Within(d.Egress.Fetches)
	inputs.Options.Remotes = d.remotes(id)
	inputs.Options.Stray = func(field *render.Error) {
		d.Events.Record(ks, corev1.EventTypeWarning, "UnknownField", field.Error()+"; it is ignored", nil)
	}
	return inputs, err
}

// remotes fetch what kustomizations of a unit name elsewhere, without a login: what a Kustomization reads, it may not read by the
// credentials of a source.
func (d *reporter) remotes(id engine.UnitID) render.Remotes {
	owner := id.String()
	r := d.Bases.Reader(bases.Unit{Owner: owner, Share: id.Namespace, Reach: bases.Anonymous{Rules: d.rules, Egress: d.Egress.Fetches}})
	if _, there := d.registry.Get(id); !there {
		// It was deleted meanwhile.
		d.Bases.Forget(owner)
	}
	return r
}

// Object returns the Kustomization as expressions see it.
func (d *reporter) Object(id engine.UnitID) map[string]any {
	if id.GroupKind() == toolkit.HelmReleaseKind {
		return d.releases.Raw(id)
	}
	if id.GroupKind() == toolkit.ResourceSetKind {
		return d.sets.Raw(id)
	}
	return d.registry.Raw(id)
}

// Report writes the status of a Kustomization, if it changed, and records an event.
func (d *reporter) Report(ctx context.Context, r runner.Report) error {
	if r.Unit.GroupKind() == toolkit.HelmReleaseKind {
		return d.releases.Report(ctx, r)
	}
	if r.Unit.GroupKind() == toolkit.ResourceSetKind {
		return d.sets.Report(ctx, r)
	}
	ks, ok := d.registry.Get(r.Unit)
	if !ok {
		return nil
	}
	if r.Final {
		d.Metrics.Pass(r.Unit.Kind, r.Unit.Namespace, r.Unit.Name, r.Took, r.OK)
	}
	after := kustomize.StatusOf(ks.Status, r, time.Now())
	if err := d.patchStatus(ctx, ks, after); err != nil {
		return err
	}
	d.tell(ks, r)
	return nil
}

func (d *reporter) patchStatus(ctx context.Context, ks *kustomizev1.Kustomization, status kustomizev1.KustomizationStatus) error {
	u, err := declared.Writer{Client: d.Home.Dynamic.Resource(toolkit.Kustomizations), Manager: toolkit.KustomizeField}.Status(ctx, ks, ks.Status, status)
	if err != nil || u == nil {
		return err
	}
	_, err = d.registry.Put(u)
	return err
}

// tell emits the events of a report, given the Kustomization as it was before: what changed, that its
// health was waited for, that it is ready, that it failed, that it begins to wait for others. A pass
// that changed nothing tells nothing.
func (d *reporter) tell(ks *kustomizev1.Kustomization, r runner.Report) {
	annotations := map[string]string{toolkit.Prefix + "revision": r.Attempted}
	if r.Origin != "" {
		annotations[toolkit.Prefix+"originRevision"] = r.Origin
	}
	emit := func(kind, reason, message string) { d.Events.Record(ks, kind, reason, message, annotations) }
	switch {
	case !r.Final:
		if r.Reason == engine.ReasonDependencyNotReady || r.Held {
			emit(corev1.EventTypeNormal, string(r.Reason), r.Message)
		}
		return
	case !r.OK:
		emit(corev1.EventTypeWarning, string(r.Reason), r.Message)
		return
	}
	if len(r.Changes) > 0 {
		emit(corev1.EventTypeNormal, string(engine.ReasonProgressing), toolkit.ChangeLog(r.Changes))
	}
	requested := r.Handled != "" && r.Handled != ks.Status.LastHandledReconcileAt
	recovered := !apimeta.IsStatusConditionTrue(ks.Status.Conditions, toolkit.ConditionReady)
	if len(r.Changes) == 0 && !requested && !recovered {
		return
	}
	if r.Checked {
		emit(corev1.EventTypeNormal, string(engine.ReasonProgressing), "Health check passed in "+r.Took.Round(time.Millisecond).String())
	}
	annotations = maps.Clone(annotations)
	annotations[toolkit.Prefix+"commit_status"] = "update"
	emit(corev1.EventTypeNormal, string(r.Reason), fmt.Sprintf("Reconciliation finished in %s, next run in %s", r.Took.Round(time.Millisecond), r.Next))
}

// Drifted records drift by an event.
func (d *reporter) Drifted(_ context.Context, id engine.UnitID, drift apply.Drift, times int, back time.Duration) {
	o, _, ok := d.declaring(id)
	switch {
	case !ok:
	case back > 0:
		d.Events.Record(o, corev1.EventTypeWarning, "TugOfWar", fmt.Sprintf(
			"%s, %d times; next correction in %s", drift, times, back.Round(time.Second)), appliedRevision(o))
	default:
		d.Events.Record(o, corev1.EventTypeWarning, alerts.ReasonDriftCorrected, drift.String(), appliedRevision(o))
	}
}

// HealthCheckCanceled records by an event that checks of health were ended by something newer.
func (d *reporter) HealthCheckCanceled(_ context.Context, id engine.UnitID, by engine.Subject) {
	o, _, ok := d.declaring(id)
	if hr, is := d.releases.Get(id); is {
		o, ok = hr, true
	}
	if ok {
		message := "Health checks canceled due to new reconciliation triggered by " + by.String()
		d.Events.Record(o, corev1.EventTypeNormal, meta.HealthCheckCanceledReason, message, appliedRevision(o))
	}
}

// appliedRevision is what an event says about the revision of a unit that is not at work.
func appliedRevision(o runtime.Object) map[string]string {
	switch object := o.(type) {
	case *kustomizev1.Kustomization:
		annotations := map[string]string{toolkit.Prefix + "revision": object.Status.LastAppliedRevision}
		if origin := object.Status.LastAppliedOriginRevision; origin != "" {
			annotations[toolkit.Prefix+"originRevision"] = origin
		}
		return annotations
	case *fluxcdv1.ResourceSet:
		return map[string]string{fluxcdv1.GroupVersion.Group + "/revision": object.Status.LastAppliedRevision}
	}
	return nil
}

// declaring is the object of a unit whose objects are applied, and where they are.
func (d *reporter) declaring(id engine.UnitID) (runtime.Object, engine.Target, bool) {
	if rs, ok := d.sets.Get(id); ok {
		return rs, sets.Declare(d.policies.Now(), rs).Target, true
	}
	ks, ok := d.registry.Get(id)
	if !ok {
		return nil, engine.Target{}, false
	}
	return ks, kustomize.TargetOf(d.policies.Now(), ks), true
}

// Release takes our finalizer off a Kustomization.
func (d *reporter) Release(ctx context.Context, id engine.UnitID) error {
	if hr, ok := d.releases.Get(id); ok {
		return toolkit.SetFinalizer(ctx, d.Home.Dynamic.Resource(toolkit.HelmReleases), hr, toolkit.Finalizer, false)
	}
	if rs, ok := d.sets.Get(id); ok {
		return toolkit.SetFinalizer(ctx, d.Home.Dynamic.Resource(toolkit.ResourceSetResource), rs, fluxcdv1.Finalizer, false)
	}
	ks, ok := d.registry.Get(id)
	if !ok {
		return nil
	}
	return toolkit.SetFinalizer(ctx, d.Home.Dynamic.Resource(toolkit.Kustomizations), ks, toolkit.Finalizer, false)
}

// Connect reports how the cluster of a Kustomization is reached that names one.
func (d *reporter) Connect(ctx context.Context, id engine.UnitID) (runner.Connection, error) {
	ref := access.ClusterRef{}
	if ks, ok := d.registry.Get(id); ok {
		ref = access.ClusterRef{Namespace: ks.Namespace, Generation: ks.Generation, Config: ks.Spec.KubeConfig}
	} else if hr, ok := d.releases.Get(id); ok {
		ref = access.ClusterRef{Namespace: hr.Namespace, Generation: hr.Generation, Config: hr.Spec.KubeConfig}
	}
	if ref.Config == nil {
		return runner.Connection{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	connection, err := d.connections.Read(ctx, id, ref)
	connection.Cluster = kustomize.Target(ref.Namespace, ref.Config, "").Cluster
	return connection, err
}

// Orphaned reports whether the account of a deleted Kustomization was deleted: its objects cannot be deleted
// any more, as with the upstream.
func (d *reporter) Orphaned(ctx context.Context, id engine.UnitID) error {
	o, target, ok := d.declaring(id)
	if !ok || target.Cluster != "" {
		return nil
	}
	_, account, impersonated := strings.Cut(target.User, "system:serviceaccount:"+id.Namespace+":")
	if !impersonated {
		return nil
	}
	_, err := d.Secrets.CoreV1().ServiceAccounts(id.Namespace).Get(ctx, account, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil
	}
	err = fmt.Errorf("ServiceAccount %q, as which they were applied, was deleted", id.Namespace+"/"+account)
	d.Events.Record(o, corev1.EventTypeWarning, string(engine.ReasonPruneFailed), "the objects of the inventory are kept: "+err.Error(), nil)
	return err
}
