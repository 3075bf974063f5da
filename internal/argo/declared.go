package argo

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
)

// declaration is an Application as it was read last, and what that comes to by its project and the settings. What a field holds is
// never changed, only replaced, under the lock of the Application: a worker goes by a copy.
type declaration struct {
	// obj is the Application; raw is the same as expressions see it.
	obj *v1alpha1.Application
	raw map[string]any
	// sources are those that are wanted now, keys where they come from.
	sources []v1alpha1.ApplicationSource
	keys    []feeds.Key
	// generation stands for what is declared; see generationOf.
	generation int64
	// requested is the token of the last request, told apart from an equal one of before.
	requested string
	project   *policy.Project
	cluster   settings.Cluster
	// invalid is why it cannot be followed.
	invalid []v1alpha1.ApplicationCondition
}

// snapshot returns what is declared, for a worker.
func (a *app) snapshot() declaration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.declaration
}

// windows tells what the sync windows of the project say of the Application.
func (s declaration) windows(now time.Time) (policy.Verdict, error) {
	return policy.Windows(s.project, s.obj, s.cluster, now)
}

// declare tells the runner what an Application declares now: what it comes to has changed, and not the Application.
func (e *Engine) declare(a *app) {
	a.mu.Lock()
	n := e.derive(a)
	a.mu.Unlock()
	e.spread(a, n)
}

// news is what others are told of an Application.
type news struct {
	unit engine.Unit
	keys []feeds.Key
	// follow is set when the keys are others than before, stir when an operation may wait for what was read.
	follow, stir bool
}

// derive works out what an Application comes to. The caller holds the lock.
func (e *Engine) derive(a *app) news {
	now, obj := e.settings.now(), a.obj
	a.generation = generationOf(obj)
	a.sources = wantedSources(obj, a.unpinned())
	a.keys = nil
	for _, s := range a.sources {
		a.keys = append(a.keys, feeds.KeyOf(s, obj.Spec.Project))
	}
	refresh := requestOf(obj)
	asked := refresh != "" && refresh != a.asked
	a.asked = refresh
	if asked {
		a.requested = refresh + "@" + obj.ResourceVersion
	}
	if obj.Operation == nil {
		a.view.handled = ""
	}
	a.project = e.projects.get(obj.Spec.Project)
	a.invalid = policy.Validate(obj, a.project, now, e.options.Namespace)
	a.cluster, _ = policy.Destination(obj.Spec.Destination, now)
	n := news{unit: e.unitOf(a, now), keys: a.keys, follow: !slices.Equal(a.wanted, a.keys), stir: wakes(obj, &a.view)}
	a.wanted = a.keys
	if asked && (obj.Annotations[v1alpha1.RefreshAnnotation] != "" || a.unbegun()) {
		a.awaits = e.feeds.Refresh(a.keys)
	}
	return n
}

// spread tells the feeds and the runner.
func (e *Engine) spread(a *app, n news) {
	if n.follow {
		e.feeds.Want(a.id.String(), n.keys)
	}
	e.runner.Upsert(n.unit)
	if n.stir {
		e.runner.Stir(a.id)
	}
}
