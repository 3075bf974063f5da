// Package flux is the Flux dialect: it serves GitRepositories and Kustomizations as the upstream
// controllers do, by the engine of this project.
//
// It reads the objects into units and sources, and writes their status, events, finalizers and
// inventories in the upstream's words, and the ExternalArtifacts that generators declare. It decides
// nothing about order, and writes no object of a unit: that is the runner's and the applier's. A field that cannot be honoured makes its object
// stall with the field's name; it is never ignored.
package flux

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// Config is what an Engine needs.
type Config struct {
	// Cluster is how the cluster is reached.
	Cluster *rest.Config
	// Store keeps the artifacts.
	Store *source.Store
	// Rewrite, when set, names a repository served from here that stands in for a URL.
	Rewrite func(url string) (Local, bool)
	// Policy is what holds for every Kustomization.
	Policy Policy
	// Serve are the API groups that are served; objects of others are left to whoever serves them.
	Serve Groups
	// Guests are other dialects that share the runner, its graph and its registry of owners.
	Guests []runner.Guest
	// Selector, when not empty, is the label selector of the objects that are served: a shard.
	Selector string
	// InsecureKubeconfigTLS permits kubeconfigs that leave the certificate of their server unchecked.
	InsecureKubeconfigTLS bool
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// Simulate, when set, has stand-ins made; the cluster must be nobody else's. Simulated, when set, is told of
	// each. It must not block.
	Simulate  *Simulate
	Simulated func(StandIn)
	// Reserved are objects that no unit may touch.
	Reserved map[engine.ObjectID]bool
	// Observe, when set, is told what units do; ObserveSource what goes wrong with sources. They
	// must not block.
	Observe       func(runner.Note)
	ObserveSource func(engine.SourceID, string)
	// Passed, when set, is told of each pass over an object that ended, and how long it took. It must
	// not block.
	Passed func(kind, namespace, name string, took time.Duration, ok bool)
	// Traced, when set, is told of each pass of a unit that ended, and how the time went by. It must not block.
	Traced func(runner.Trace)
	// Notifications is a directory for the queue of notifications; when it is empty those that wait are
	// lost with the process.
	Notifications string
	// Notified, when set, is told how attempts to notify ended, by type of Provider. It must not block.
	Notified func(provider, outcome string)
	// Gone, when set, is told of each object that is no longer there.
	Gone func(kind, namespace, name string)
	Log  logr.Logger
}

// Engine serves the Flux API on one cluster.
type Engine struct {
	cfg      Config
	runner   *runner.Runner
	cluster  *cluster.Cluster
	sources  *sources
	dialect  *dialect
	registry *kustomizationRegistry
	releases *releases
	charts   *releaseCharts
	// simulation is nil where everything is real.
	simulation *simulation
	recovery   recovery
	swept      chan struct{}

	policies                   *policies
	sets                       *resourceSets
	instances                  *instances
	handover                   *handover
	images                     *imageKeeper
	notifications              *notifications
	providerDesk, instanceDesk *desk
	receivers                  *receivers
	desks                      sync.WaitGroup
}

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute

// Start starts an Engine; it runs until ctx ends, which Wait waits for. Definitions of the served
// kinds have to be installed before.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	simulation, err := newSimulation(cfg)
	if err != nil {
		return nil, err
	}
	if simulation != nil {
		cfg.Cluster = simulation.wrap(cfg.Cluster)
		cfg.Policy.content = &standInContent{simulation.leaveOut, simulation.marks}
		simulation.tell(cfg.Guests)
	}
	client, err := kubernetes.NewForConfig(cfg.Cluster)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	e := &Engine{cfg: cfg, registry: newKustomizations(), swept: make(chan struct{}), simulation: simulation, policies: newPolicies(cfg.Policy)}
	e.notifications = newNotifications(client, e.policies, cfg.Log)
	ev, err := newEvents(client, e.notifications)
	if err != nil {
		return nil, fmt.Errorf("making the event recorder: %w", err)
	}
	e.sources = &sources{
		secrets: client, store: cfg.Store, events: ev, rewrite: cfg.Rewrite, observe: cfg.ObserveSource,
		passed: cfg.Passed, slots: make(chan struct{}, fetches), ctx: ctx, feeds: map[source.Key]*feed{},
		read: map[engine.ObjectID]readSecret{}, listed: make(chan struct{}), elsewhere: !cfg.Serve.serves(sourceGroup),
		sharded: cfg.Selector != "",
	}
	e.sources.reach = reach{
		rules: e.sources.rewriting, spill: cfg.Store.SpillDir(), held: e.sources.heldSecret, account: e.sources.heldAccount,
	}
	e.sources.simulation = simulation
	e.sources.setRewrites(cfg.Rewrites)
	if e.sources.generators, err = newGenerators(e.sources, e.policies, cfg.Selector); err != nil {
		return nil, err
	}
	e.dialect = &dialect{
		secrets: client, registry: e.registry, events: ev, policies: e.policies, passed: cfg.Passed,
		connections: &connections{client: client, insecure: cfg.InsecureKubeconfigTLS, held: map[engine.UnitID]connection{}},
	}
	e.startOperator()
	e.images = newImageKeeper(e)
	renderer := render.New()
	e.releases = newReleases()
	e.releases.renderer, e.releases.simulation = renderer, simulation
	e.releases.secrets, e.releases.store, e.releases.events = client, cfg.Store, ev
	e.releases.connections, e.releases.passed = e.dialect.connections, cfg.Passed
	e.dialect.releases = e.releases
	e.charts = newReleaseCharts(e.sources, e.releases, e.policies)
	e.releases.charts, e.sources.absence, e.sources.outdated = e.charts, e.charts.failure, e.charts.outdated
	e.sources.awaited = e.charts.awaited
	e.runner = runner.New(runner.Config{
		Dialect: e.dialect, Sources: e.sources, Renderer: renderer, Observe: cfg.Observe, Traced: cfg.Traced, Log: cfg.Log,
		Reserved: cfg.Reserved, Replaced: replacedObject(cfg.Serve, cfg.Log), Connected: e.recovery.look, Sharded: cfg.Selector != "",
		UnitKinds: cfg.Serve.unitKinds(),
		Drivers:   map[schema.GroupKind]runner.Driver{helmReleaseKind: e.takeOver()},
		Parts:     partsOf(cfg.Guests),
	})
	e.sources.notify = func(id engine.SourceID) {
		e.runner.SourceChanged(id)
		e.images.sourceChanged(ctx, id)
	}
	e.policies.changed = func() {
		e.redeclare()
		e.images.wakeAll(ctx)
	}
	e.cluster, err = cluster.Connect(cfg.Cluster, "", Ownership(), e.runner)
	if err != nil {
		return nil, err
	}
	e.sources.client, e.dialect.client = e.cluster.Dynamic, e.cluster.Dynamic
	e.releases.client, e.charts.client = e.cluster.Dynamic, e.cluster.Dynamic
	e.images.client = e.cluster.Dynamic
	e.sets.client, e.instances.client = e.cluster.Dynamic, e.cluster.Dynamic
	e.startReceivers(ctx)
	e.sources.objects, e.dialect.connections.objects = e.cluster.Objects, e.cluster.Objects
	names := map[string]apply.Names{"": ApplyNames(), releaseOwner: releaseNames(), resourceSetOwner: resourceSetNames()}
	for _, p := range partsOf(cfg.Guests) {
		maps.Copy(names, p.Names)
	}
	e.runner.Bind(e.cluster, cfg.Cluster, names)
	return e, e.start(ctx)
}

func partsOf(guests []runner.Guest) []runner.Part {
	var parts []runner.Part
	for _, g := range guests {
		parts = append(parts, g.Part())
	}
	return parts
}

func (e *Engine) start(ctx context.Context) error {
	if err := e.cluster.Start(ctx); err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	stopEvents := context.AfterFunc(ctx, e.dialect.events.stop)
	if err := e.watch(ctx, wait); err != nil {
		stopEvents()
		return err
	}
	for _, g := range e.cfg.Guests {
		if err := g.Start(ctx, e.runner, e.cluster, e.cfg.Cluster); err != nil {
			stopEvents()
			return err
		}
	}
	e.charts.run(ctx)
	if e.simulation != nil {
		e.simulation.engine = e
		go e.simulation.run(ctx)
	}
	e.runOperator(ctx)
	e.desks.Go(func() { e.receivers.desk.run(ctx) })
	e.recovery.begin(ctx, e, watermarks(e.registry.all()))
	e.recovery.look(e.cluster)
	go func() {
		e.runner.Run(ctx)
		e.sources.wg.Wait()
		e.recovery.running.Wait()
		e.charts.wg.Wait()
		e.desks.Wait()
		e.images.wait()
		for _, g := range e.cfg.Guests {
			g.Wait()
		}
		close(e.swept)
	}()
	return nil
}

// watch begins with the sources, so that units find them when they come.
func (e *Engine) watch(ctx, wait context.Context) error {
	serve := e.cfg.Serve
	if serve.serves(operatorGroup) {
		if err := within(wait, func() error { return e.watchInstances(ctx) }); err != nil {
			return err
		}
	}
	if serve.serves(notificationGroup) {
		if err := within(wait, func() error { return e.watchNotifications(ctx) }); err != nil {
			return err
		}
	}
	var sources, all errgroup.Group
	for _, kind := range servedSources {
		if e.sources.elsewhere && !e.defined(kind.sourceKind) {
			continue
		}
		sources.Go(func() error {
			return e.cluster.Watch(ctx, kind.resource, e.cfg.Selector, cluster.Sink{Put: e.putSource(ctx, kind), Dropped: e.dropSource(kind.sourceKind)})
		})
	}
	e.watchRewrites(ctx, &sources)
	all.Go(func() error {
		err := sources.Wait()
		if err == nil {
			close(e.sources.listed)
		}
		return err
	})
	all.Go(func() error {
		if !serve.serves(generatorGroup) {
			close(e.sources.generators.listed)
			return nil
		}
		err := e.cluster.Watch(ctx, artifactGenerators, e.cfg.Selector, cluster.Sink{Put: e.putGenerator(ctx), Dropped: e.sources.generators.dropped})
		if err == nil {
			close(e.sources.generators.listed)
		}
		return err
	})
	if serve.serves(kustomizeGroup) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, kustomizations, e.cfg.Selector, cluster.Sink{Put: e.putUnit(ctx), Dropped: e.dropUnit})
		})
	}
	if serve.serves(helmGroup) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, helmReleases, e.cfg.Selector, cluster.Sink{Put: e.putRelease(ctx), Dropped: e.dropRelease})
		})
	}
	if serve.serves(operatorGroup) {
		all.Go(func() error { return e.watchOperator(ctx) })
	}
	if serve.serves(notificationGroup) {
		all.Go(func() error { return e.watchReceivers(ctx) })
	}
	if serve.serves(imageGroup) && e.simulation == nil {
		all.Go(func() error { return e.watchImages(ctx) })
	}
	return within(wait, all.Wait)
}

// within waits for something, but no longer than until ctx ends.
func within(ctx context.Context, do func() error) error {
	ready := make(chan error, 1)
	go func() { ready <- do() }()
	select {
	case err := <-ready:
		return err
	case <-ctx.Done():
		return fmt.Errorf("watching the Flux objects: %w", context.Cause(ctx))
	}
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() { <-e.swept }

// Guests are the dialects that run beside this one.
func (e *Engine) Guests() []runner.Guest { return e.cfg.Guests }

// Runner gives access to where the units stand.
func (e *Engine) Runner() *runner.Runner { return e.runner }

// ours tells whether objects of a kind are served here.
func (e *Engine) ours(gk schema.GroupKind) bool {
	return e.cfg.Serve.servesName(gk.Group) && (gk.Group != imageGroup.name || e.simulation == nil)
}

// Nudge has every source fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) {
	e.sources.nudgeURL(matches)
	for _, g := range e.cfg.Guests {
		g.Nudge(matches)
	}
}

// compile-time proof that the engine's parts fit the runner's ports.
var (
	_ runner.Dialect = (*dialect)(nil)
	_ runner.Sources = (*sources)(nil)
)
