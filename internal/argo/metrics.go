package argo

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/sets"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/source"
)

// measuresReconcile begins to measure; what it returns ends that.
func (e *Engine) measuresReconcile(a *app) func() {
	if e.Metrics == nil {
		return func() {}
	}
	began := time.Now()
	return func() { e.Metrics.Reconciled(a.id.Namespace, a.now().Spec.Destination.Server, time.Since(began)) }
}

func (e *Engine) measureRequest(k feeds.Key, brought bool, took time.Duration, err error) {
	if e.Metrics == nil || k.Kind != feeds.Git {
		return
	}
	unknown := errors.Is(err, source.ErrReference)
	e.Metrics.Requested(meter.GitRequest{
		Repo: settings.NormalURL(k.URL), Revision: k.Revision, Brought: brought, Unknown: unknown, Failed: err != nil && !unknown, Took: took,
	})
}

func (e *Engine) measureSync(a *app, op *running) {
	if e.Metrics == nil {
		return
	}
	obj := a.now()
	sync := meter.Sync{
		Namespace: obj.Namespace, Name: obj.Name, Project: projectOf(obj), Server: obj.Spec.Destination.Server,
		Phase: string(op.state.Phase), DryRun: op.request.Sync != nil && op.request.Sync.DryRun,
	}
	if end := op.state.FinishedAt; end != nil {
		sync.Took = end.Sub(op.state.StartedAt.Time)
	}
	e.Metrics.Synced(sync)
}

func projectOf(obj *v1alpha1.Application) string {
	return cmp.Or(obj.Spec.Project, configuration.DefaultProject)
}

// Applications are where all of them stand, for metrics, in no order.
func (e *Engine) Applications() []meter.Application {
	var all []meter.Application
	e.apps.each(func(a *app) {
		if obj := a.now(); obj != nil {
			all = append(all, measured(obj))
		}
	})
	return all
}

func measured(obj *v1alpha1.Application) meter.Application {
	m := meter.Application{
		Namespace: obj.Namespace, Name: obj.Name, Project: projectOf(obj),
		Server: obj.Spec.Destination.Server, DestinationNamespace: obj.Spec.Destination.Namespace,
		Sync: cmp.Or(string(obj.Status.Sync.Status), "Unknown"), Health: cmp.Or(string(obj.Status.Health.Status), "Unknown"),
		Automated: automated(obj),
	}
	if one := policy.SourceOf(obj.Spec); one != nil {
		m.Repo = settings.NormalURL(one.RepoURL)
	} else if len(obj.Spec.Sources) > 0 {
		m.Repo = settings.NormalURL(obj.Spec.Sources[0].RepoURL)
	}
	switch {
	case obj.DeletionTimestamp != nil:
		m.Operation = "delete"
	case obj.Operation != nil && obj.Operation.Sync != nil:
		m.Operation = "sync"
	}
	return m
}

// ApplicationSets are where all of them stand, for metrics, in no order.
func (e *Engine) ApplicationSets() []meter.ApplicationSet {
	owned := map[string]int{}
	e.apps.each(func(a *app) {
		obj := a.now()
		if obj == nil {
			return
		}
		for _, ref := range obj.OwnerReferences {
			if ref.Kind == sets.Kind {
				owned[obj.Namespace+"/"+ref.Name]++
			}
		}
	})
	return e.sets.Measured(owned)
}

// DestinationClusters are those that are connected to, or were: that of the engine, and those of Applications.
func (e *Engine) DestinationClusters() []meter.DestinationCluster {
	seen := map[string]*cluster.Cluster{settings.InClusterServer: e.home}
	e.apps.each(func(a *app) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if at := a.view.at; at != nil && at.Name != "" {
			seen[a.cluster.Server] = at
		}
	})
	declared := e.settings.Now().Every()
	var all []meter.DestinationCluster
	for server, at := range seen {
		one := meter.DestinationCluster{
			Server: server, Name: settings.InClusterName, Version: at.Kinds.Version(), Connected: at.Objects.Answers(),
			Kinds: len(at.Kinds.All()), Objects: at.Objects.Count(),
		}
		if i := slices.IndexFunc(declared, func(c settings.Cluster) bool { return c.Server == server }); i >= 0 {
			one.Name = declared[i].Name
		}
		all = append(all, one)
	}
	return all
}

var _ meter.ArgoCD = (*Engine)(nil)
