// Package argo is the Argo CD dialect: it serves Applications, ApplicationSets and AppProjects as the upstream's
// controllers do, by the engine of this project.
//
// It reads Applications into units, drives their syncs in the steps that internal/argo/operation decides on, and writes
// status, events and finalizers in the upstream's words. It decides nothing about order, rights or rendering itself: the
// rooms below it do, which are pure. It writes objects of Applications through the applier of their cluster alone.
//
// An Application is a unit with a driver. Its source is of its own: all repositories that it reads, at the revisions
// that are wanted now.
package argo

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// Config is what an Engine needs.
type Config struct {
	// Namespace is that of the installation, "argocd" by default.
	Namespace string
	// Selector, when not empty, is the label selector of the Applications and ApplicationSets that are served: a shard.
	Selector string
	// Local answers with the repository served from here that stands in for a URL.
	Local func(url string) (feeds.Local, bool)
	// Rewrites send fetches elsewhere; SpillDir keeps files that are too large for memory.
	Rewrites source.Rewrites
	SpillDir string
	// StandIn, when set, gives charts that cannot be fetched.
	StandIn func(repo, name, version string, cause error) (data []byte, resolved string, ok bool)
	// Observe, when set, is told what goes wrong beside units. It must not block.
	Observe func(what, text string)
	// Measure, when set, is told what was done. It must not block.
	Measure Measure
	Log     logr.Logger
}

// Engine serves the API of Argo CD on one cluster, as a guest of a runner.
type Engine struct {
	cfg      Config
	ctx      context.Context
	client   dynamic.Interface
	kube     kubernetes.Interface
	runner   *runner.Runner
	home     *cluster.Cluster
	config   *rest.Config
	feeds    *feeds.Feeds
	renderer *manifests.Renderer
	renders  chan struct{}
	settings *settingsKeeper
	judge    *judge
	apps     *registry
	projects *projects
	sets     *applicationSets
	events   events
	// leaveOut and marks are nil unless units may do without what they cannot read.
	leaveOut func(engine.UnitID) func(what, entry string)
	marks    func(engine.UnitID) func(key string) string
	// version is that of the cluster, served what it serves.
	version string
	served  versions
	wg      sync.WaitGroup
}

// New returns an Engine; Start gives it its cluster.
func New(cfg Config) *Engine {
	if cfg.Namespace == "" {
		cfg.Namespace = DefaultNamespace
	}
	e := &Engine{cfg: cfg, renders: make(chan struct{}, runtime.GOMAXPROCS(0)), settings: newSettingsKeeper(cfg.Namespace)}
	e.judge = newJudge(cfg.Namespace, func() settings.Tracking { return e.settings.now().Tracking })
	e.apps, e.projects = newRegistry(), newProjects()
	e.sets = newApplicationSets(e)
	return e
}

// DoWithout has Applications do without what cannot be read: entries of kustomizations that are somewhere else are left
// out, and values that cannot be decrypted get stand-ins. Both functions return nil for a unit that has all it needs.
func (e *Engine) DoWithout(leaveOut func(engine.UnitID) func(what, entry string), marks func(engine.UnitID) func(key string) string) {
	e.leaveOut, e.marks = leaveOut, marks
}

// Part is how the engine joins a runner.
func (e *Engine) Part() runner.Part {
	d := &driver{e}
	return runner.Part{
		Dialect: dialect{e}, Sources: sources{e}, SourceKinds: []schema.GroupKind{applicationKind},
		Kinds: map[schema.GroupKind]bool{applicationKind: true}, Drivers: map[schema.GroupKind]runner.Driver{applicationKind: d},
		Names: map[string]apply.Names{owner: {Manager: manager, Prefix: "argocd.argoproj.io/", Judge: e.judge}},
	}
}

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute

// Start begins to serve what there is, until ctx ends. Definitions of the served kinds have to be installed before.
func (e *Engine) Start(ctx context.Context, r *runner.Runner, home *cluster.Cluster, config *rest.Config) error {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	e.ctx, e.runner, e.home, e.config, e.client, e.kube = ctx, r, home, config, home.Dynamic, kube
	e.renderer = manifests.With(r.Renderer())
	if e.events, err = newEvents(kube); err != nil {
		return err
	}
	context.AfterFunc(ctx, e.events.stop)
	e.version, e.judge.ctx = e.serverVersion(), ctx
	e.feeds = feeds.New(ctx, feeds.Config{
		Settings: e.settings.now, Local: e.cfg.Local, Rewrites: e.cfg.Rewrites, SpillDir: e.cfg.SpillDir, Changed: e.fetched,
		StandIn: e.cfg.StandIn, Fetched: e.measureRequest,
	})
	wait, cancel := context.WithTimeoutCause(ctx, syncTimeout, fmt.Errorf("it took longer than %s", syncTimeout))
	defer cancel()
	if err := e.settings.watch(ctx, wait, home, e.settingsChanged); err != nil {
		return err
	}
	if err := e.watch(ctx, wait); err != nil {
		return err
	}
	e.wg.Go(func() { e.sets.run(ctx) })
	return nil
}

// watch begins with the projects, so that Applications find them when they come.
func (e *Engine) watch(ctx, wait context.Context) error {
	first := func(r schema.GroupVersionResource, selector string, to cluster.Sink) func() error {
		return func() error { return await(wait, func() error { return e.home.Watch(ctx, r, selector, to) }) }
	}
	if err := first(projectResource, "", cluster.Sink{Put: e.putProject, Dropped: e.dropProject})(); err != nil {
		return err
	}
	var all errgroup.Group
	all.Go(first(applicationResource, e.cfg.Selector, cluster.Sink{Put: e.putApplication, Dropped: e.dropApplication}))
	all.Go(first(applicationSetResource, e.cfg.Selector, cluster.Sink{Put: e.sets.put, Dropped: e.sets.dropped}))
	return all.Wait()
}

// await waits for something, but no longer than until ctx ends.
func await(ctx context.Context, do func() error) error {
	ready := make(chan error, 1)
	go func() { ready <- do() }()
	select {
	case err := <-ready:
		return err
	case <-ctx.Done():
		return fmt.Errorf("watching the objects of Argo CD: %w", context.Cause(ctx))
	}
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() {
	e.feeds.Wait()
	e.wg.Wait()
}

// Nudge has every repository fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) { e.feeds.Nudge(matches) }

// fetched wakes whoever reads what was fetched.
func (e *Engine) fetched(k feeds.Key) {
	for _, a := range e.apps.readers(k) {
		e.runner.SourceChanged(a.source())
	}
	e.sets.fetched(k)
}

// observe tells of something that went wrong and that no Application says.
func (e *Engine) observe(what, text string) {
	e.cfg.Log.Info(text, "of", what)
	if e.cfg.Observe != nil {
		e.cfg.Observe(what, text)
	}
}

var _ runner.Guest = (*Engine)(nil)
