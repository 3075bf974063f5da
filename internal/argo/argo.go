// Package argo is the Argo CD dialect: it serves Applications, ApplicationSets and AppProjects as the upstream's
// controllers do, by the engine of this project.
//
// It reads Applications into units, drives their syncs in the steps that internal/argo/operation decides on, and writes
// status, events and finalizers in the upstream's words. It decides nothing about order, rights or rendering itself: the
// pure rooms below it do. Three more rooms serve beside it: sets has ApplicationSets, live the health of what is there,
// configuration the settings and projects. It writes objects of Applications through the applier of their cluster alone.
//
// An Application is a unit with a driver. Its source is of its own: all repositories that it reads, at the revisions
// that are wanted now.
package argo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/sets"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Engine serves the API of Argo CD on one cluster.
type Engine struct {
	*dialect.Host
	options  Options
	ctx      context.Context
	client   dynamic.Interface
	kube     kubernetes.Interface
	runner   *runner.Runner
	home     *cluster.Cluster
	config   *rest.Config
	feeds    *feeds.Feeds
	renderer *manifests.Renderer
	renders  *rounds.Slots
	settings *configuration.Settings
	judge    *live.Judge
	apps     *registry
	children live.Children
	told     *relay
	projects *configuration.Projects
	defaults *rounds.Loop[string]
	sets     *sets.Sets
	events   events
	// version is that of the cluster, served what it serves.
	version string
	served  *live.Served
	wg      sync.WaitGroup
}

// Serve puts an Engine together.
func (d *Dialect) Serve(ctx context.Context, host *dialect.Host) (dialect.Part, error) {
	kube, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	e := &Engine{
		Host: host, options: d.Options, ctx: ctx, runner: host.Runner, home: host.Home, config: host.Config, client: host.Home.Dynamic, kube: kube,
		renders: rounds.PerProcessor(), settings: configuration.NewSettings(d.namespace()),
		renderer: manifests.With(host.Runner.Renderer()), apps: newRegistry(), projects: configuration.NewProjects(),
		events: events{declared.NewEvents(kube, nil)},
	}
	e.options.Namespace = d.namespace()
	e.judge, e.served = live.NewJudge(ctx, d.namespace(), e.settings), live.NewServed(host.Home.Kinds)
	config := feeds.Config{
		Settings: e.settings.Now, Local: host.Local, Rewrites: host.Rewrites, Egress: host.Egress.Fetches, SpillDir: host.Store.SpillDir(), Remotes: host.Feed, Changed: e.fetched,
		Fetched: e.measureRequest, Guard: host.Guard,
	}
	if host.Substitutes != nil {
		config.StandIn = host.Substitutes.Chart
	}
	e.defaults = rounds.New(defaults{e}, rounds.Options{Backoff: remembering})
	e.feeds = feeds.New(ctx, config)
	e.sets = sets.New(sets.Config{Host: host, Namespace: d.namespace(), Feeds: e.feeds, Installation: installation{e}})
	e.children = live.Children{Applications: standings{e}}
	host.Grants.Add(e.grants)
	e.told = &relay{audience: everybody{e.feeds, host.Runner}}
	return e, nil
}

// Joins is what the runner learns of the dialect.
func (e *Engine) Joins() runner.Part {
	return runner.Part{
		Groups: []string{Group}, Dialect: dialectPort{e}, Sources: sources{e},
		Drivers: map[schema.GroupKind]runner.Driver{applicationKind: &driver{e}},
		Names:   map[string]apply.Names{owner: {Manager: manager, Prefix: "argocd.argoproj.io/", Judge: e.judge}},
	}
}

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute

// Start begins to serve what there is, until ctx ends.
func (e *Engine) Start(ctx context.Context) error {
	context.AfterFunc(ctx, e.events.Stop)
	e.version = live.ServerVersion(e.kube)
	wait, cancel := context.WithTimeoutCause(ctx, syncTimeout, fmt.Errorf("timed out after %s", syncTimeout))
	defer cancel()
	if err := e.settings.Watch(ctx, wait, e.home, settingsChanges{e}); err != nil {
		return err
	}
	e.wg.Go(e.settings.Wait)
	e.settingsChanged()
	if err := e.watch(ctx, wait); err != nil {
		return err
	}
	e.sets.Start(ctx)
	e.wg.Go(e.sets.Wait)
	return nil
}

// watched is what is read at the start.
const watched = "the objects of Argo CD"

// watch begins with the projects, so that Applications find them when they come.
func (e *Engine) watch(ctx, wait context.Context) error {
	first := func(r schema.GroupVersionResource, selector string, to cluster.Sink) func() error {
		return func() error {
			return cluster.Within(wait, watched, func() error { return e.home.Watch(ctx, r, selector, to) })
		}
	}
	if err := first(projectResource, "", cluster.Sink{Put: e.putProject, Dropped: e.dropProject})(); err != nil {
		return err
	}
	if err := e.recallDefault(wait); err != nil {
		return err
	}
	e.defaults.Start(ctx)
	e.wg.Go(e.defaults.Wait)
	var all errgroup.Group
	all.Go(first(applicationResource, e.Selector, cluster.Sink{Put: e.putApplication, Dropped: e.dropApplication}))
	all.Go(first(sets.Resource, e.Selector, cluster.Sink{Put: e.sets.Put, Dropped: e.sets.Dropped}))
	return all.Wait()
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() {
	e.feeds.Wait()
	e.wg.Wait()
}

// Nudge has every repository fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) { e.feeds.Nudge(matches) }

// fetched wakes the readers of what was fetched.
func (e *Engine) fetched(k feeds.Key) {
	for _, a := range e.apps.readers(k) {
		e.runner.SourceChanged(a.source())
	}
	e.sets.Fetched(k)
}

// observe reports a problem that no Application reports.
func (e *Engine) observe(what, text string) {
	e.Log.Info(text, "of", what)
	e.Problem(what, text)
}

var _ dialect.Part = (*Engine)(nil)
