package flux

import (
	"context"
	"fmt"

	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

func (e *Engine) putSource(ctx context.Context, kind servedSource) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := kind.read(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		if !e.sources.foreign(o) {
			finalize(ctx, e.Host, o, kind.resource, finalizer)
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
		forgotten(e.Host, kind.name, u)
		if kind == helmChartKinds {
			e.charts.touched(u)
		}
	}
}

func (e *Engine) putGenerator(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		o, err := e.generators.put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		finalize(ctx, e.Host, o, artifactGenerators, swapi.Finalizer)
	}
}

func (e *Engine) putUnit(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		ks, err := e.registry.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "kustomization", u.GetNamespace()+"/"+u.GetName(), "error", err.Error())
			return
		}
		finalize(ctx, e.Host, ks, kustomizations, finalizer)
		e.runner.Upsert(declare(e.policies.now(), ks))
	}
}

func (e *Engine) putRelease(ctx context.Context) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		hr, err := e.releases.Put(u)
		if err != nil {
			e.Log.Info("an object cannot be read", "error", err.Error())
			return
		}
		finalize(ctx, e.Host, hr, helmReleases, finalizer)
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
		u := e.handover.without(declareRelease(e.policies.now(), hr), hr)
		u.Invalid = firstOf(u.Invalid, e.releases.twins.refusal(id))
		e.runner.Upsert(u)
	}
}

func (e *Engine) dropRelease(u *unstructured.Unstructured) {
	id := releaseID(u.GetNamespace(), u.GetName())
	forgotten(e.Host, id.Kind, u)
	e.policies.ask(id, Policy{})
	e.releases.drop(id)
	e.dialect.connections.forget(id)
	e.runner.Remove(id)
	e.upsertReleases(e.releases.twins.drop(id))
}

func (e *Engine) dropUnit(u *unstructured.Unstructured) {
	id := unitID(u.GetNamespace(), u.GetName())
	forgotten(e.Host, id.Kind, u)
	e.registry.Drop(id)
	e.dialect.connections.forget(id)
	e.runner.Remove(id)
}

// redeclare hands everything over again, by the current policy.
func (e *Engine) redeclare() {
	policy := e.policies.now()
	for _, ks := range e.registry.All() {
		e.runner.Upsert(declare(policy, ks))
		e.runner.InputsChanged(unitID(ks.Namespace, ks.Name))
	}
	for _, rs := range e.sets.All() {
		e.runner.Upsert(declareResourceSet(policy, rs))
	}
	var releases []engine.UnitID
	for _, hr := range e.releases.All() {
		releases = append(releases, releaseID(hr.Namespace, hr.Name))
	}
	e.upsertReleases(releases)
	e.receivers.again()
	e.notifications.reindex()
}

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// watchRewrites follows the ConfigMap of rewrites.
func (e *Engine) watchRewrites(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		return e.cluster.WatchOne(ctx, configMaps, Namespace, RewritesName, cluster.Sink{
			Put:     e.putRewrites,
			Dropped: func(*unstructured.Unstructured) { e.sources.setRewrites(e.Rewrites) },
		})
	})
}

// putRewrites takes the rules of the ConfigMap. When one cannot be read, all stay as they were.
func (e *Engine) putRewrites(u *unstructured.Unstructured) {
	given, err := declared.Read[corev1.ConfigMap](u)
	var rules source.Rewrites
	if err == nil {
		rules, err = e.Rewrites.With(ruleLines(given.Data))
	}
	if err != nil {
		text := fmt.Sprintf("the previous rules stay in effect: %s", err)
		e.Log.Info("rewrites are invalid", "object", engine.IDOf(u).String(), "error", text)
		e.sources.events.emit(u, corev1.EventTypeWarning, "RewritesIllegible", text, nil)
		return
	}
	e.sources.setRewrites(rules)
}
