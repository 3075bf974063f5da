package flux

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/takeover"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

func (e *Engine) putSource(ctx context.Context, kind sources.ServedSource) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := kind.Read(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		if !e.sources.Foreign(o) {
			toolkit.Finalize(ctx, e.Host, o, kind.Resource, toolkit.Finalizer)
		}
		e.sources.Put(o)
		if kind.SourceKind == sources.HelmChartKinds {
			e.charts.Touched(o)
		}
		if takeover.ChartNamed(o) {
			e.upsertReleases(e.handover.Concerned(toolkit.SourceID(kind.Name, o.GetNamespace(), o.GetName())))
		}
	}
}

func (e *Engine) dropSource(kind *sources.SourceKind) func(*unstructured.Unstructured) {
	drop := e.sources.Dropped(kind)
	return func(u *unstructured.Unstructured) {
		drop(u)
		toolkit.Forget(e.Host, kind.Name, u)
		if kind == sources.HelmChartKinds {
			e.charts.Touched(u)
		}
	}
}

func (e *Engine) putGenerator(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := e.generators.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		toolkit.Finalize(ctx, e.Host, o, toolkit.ArtifactGenerators, swapi.Finalizer)
	}
}

func (e *Engine) putUnit(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		ks, err := e.registry.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "kustomization", u.GetNamespace()+"/"+u.GetName(), "error", err.Error())
			return
		}
		toolkit.Finalize(ctx, e.Host, ks, toolkit.Kustomizations, toolkit.Finalizer)
		e.runner.Upsert(kustomize.Declare(e.policies.Now(), ks))
	}
}

func (e *Engine) putRelease(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		hr, err := e.releases.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		toolkit.Finalize(ctx, e.Host, hr, toolkit.HelmReleases, toolkit.Finalizer)
		id := toolkit.ReleaseID(hr.Namespace, hr.Name)
		if e.handover.Replaced(hr) == "" {
			e.charts.Changed(id)
		}
		e.upsertReleases(append(e.twinsOf(hr), id))
	}
}

// twinsOf enters which release of Helm a HelmRelease declares, and returns those for which that makes a difference.
func (e *Engine) twinsOf(hr *helmv2.HelmRelease) []engine.UnitID {
	return e.releases.Twins.Put(hr, release.Declare(e.policies.Now(), hr).Target.User)
}

// upsertReleases hands releases over that changed, or whose neighbours did.
func (e *Engine) upsertReleases(ids []engine.UnitID) {
	for _, id := range ids {
		hr, there := e.releases.Get(id)
		if !there {
			continue
		}
		u := e.handover.Without(release.Declare(e.policies.Now(), hr), hr)
		u.Invalid = toolkit.FirstInvalid(u.Invalid, e.releases.Twins.Refusal(id))
		e.runner.Upsert(u)
	}
}

func (e *Engine) dropRelease(u *unstructured.Unstructured) {
	id := toolkit.ReleaseID(u.GetNamespace(), u.GetName())
	toolkit.Forget(e.Host, id.Kind, u)
	e.policies.Ask(id, policies.Policy{})
	e.releases.Drop(id)
	e.dialect.connections.Forget(id)
	e.runner.Remove(id)
	e.upsertReleases(e.releases.Twins.Drop(id))
}

func (e *Engine) dropUnit(u *unstructured.Unstructured) {
	id := toolkit.KustomizationID(u.GetNamespace(), u.GetName())
	toolkit.Forget(e.Host, id.Kind, u)
	e.registry.Drop(id)
	e.dialect.connections.Forget(id)
	e.Bases.Forget(id.String())
	e.runner.Remove(id)
}

// redeclare hands everything over again, by the current policy.
func (e *Engine) redeclare() {
	policy := e.policies.Now()
	for _, ks := range e.registry.All() {
		e.runner.Upsert(kustomize.Declare(policy, ks))
		e.runner.InputsChanged(toolkit.KustomizationID(ks.Namespace, ks.Name))
	}
	for _, rs := range e.sets.All() {
		e.runner.Upsert(sets.Declare(policy, rs))
		e.runner.InputsChanged(sets.ID(rs.Namespace, rs.Name))
	}
	var releases []engine.UnitID
	for _, hr := range e.releases.All() {
		id := toolkit.ReleaseID(hr.Namespace, hr.Name)
		e.twinsOf(hr)
		if e.handover.Replaced(hr) == "" {
			e.charts.Changed(id)
		}
		releases = append(releases, id)
	}
	e.upsertReleases(releases)
	e.generators.WakeAll()
	e.receivers.Again()
	e.notifications.Reindex()
}

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// watchRewrites follows the ConfigMap of rewrites.
func (e *Engine) watchRewrites(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		return e.cluster.WatchOne(ctx, configMaps, toolkit.Namespace, sources.RewritesName, cluster.Sink{
			Put:     e.putRewrites,
			Dropped: func(*unstructured.Unstructured) { e.sources.SetRewrites(e.Rewrites) },
		})
	})
}

// putRewrites takes the rules of the ConfigMap. When one cannot be read, all stay as they were.
func (e *Engine) putRewrites(u *unstructured.Unstructured) {
	given, err := declared.Read[corev1.ConfigMap](u)
	var rules source.Rewrites
	if err == nil {
		rules, err = e.Rewrites.With(sources.RuleLines(given.Data))
	}
	if err != nil {
		text := fmt.Sprintf("the previous rules stay in effect: %s", err)
		e.Log.Info("rewrites are invalid", "object", engine.IDOf(u).String(), "error", text)
		e.sources.Events.Record(u, corev1.EventTypeWarning, "RewritesIllegible", text, nil)
		return
	}
	e.sources.SetRewrites(rules)
}
