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
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/runner/objects"
)

// Engine serves the Flux API on one cluster.
type Engine struct {
	*dialect.Host
	runner     *runner.Runner
	cluster    *cluster.Cluster
	sources    *sources
	generators *generators
	dialect    *reporter
	registry   *kustomizationRegistry
	releases   *releases
	charts     *releaseCharts
	// simulation is nil where everything is real.
	simulation *Simulation
	recovery   recovery

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

// newEngine puts an Engine together. It makes no requests.
func newEngine(ctx context.Context, o Options, host *dialect.Host) (*Engine, error) {
	e := &Engine{
		Host: host, runner: host.Runner, cluster: host.Home, registry: newKustomizations(),
		simulation: o.Simulation,
	}
	if e.simulation != nil {
		o.Policy.content = &standInContent{e.simulation.LeaveOut, e.simulation.Marks, e.simulation}
	}
	e.policies = newPolicies(o.Policy)
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	e.notifications = newNotifications(client, e.policies, host.Log)
	ev, err := newEvents(client, e.notifications)
	if err != nil {
		return nil, fmt.Errorf("creating the event recorder: %w", err)
	}
	t := tools{Host: host, secrets: client, events: ev}
	reached := &connections{
		client: client, insecure: o.InsecureKubeconfigTLS, held: map[engine.UnitID]connection{}, objects: e.cluster.Objects,
	}
	e.sources = newSources(ctx, t)
	if e.generators, err = newGenerators(e.sources, e.policies, e.Selector); err != nil {
		return nil, err
	}
	e.startOperator(t)
	e.images = newImageKeeper(t, e.sources, e.policies)
	e.releases = newReleases(t, reached)
	e.charts = newReleaseCharts(e.sources, e.releases, e.policies)
	e.handover = newHandover(e.releases, e.instances, e.sources)
	e.sources.join(e.generators, e.charts, e.runner, e.images)
	e.dialect = &reporter{
		tools: t, registry: e.registry, policies: e.policies, connections: reached, releases: e.releases, sets: e.sets,
	}
	e.policies.changed = func() {
		e.redeclare()
		e.images.wakeAll()
	}
	e.receivers = newReceivers(ctx, t, e.policies)
	e.simulate()
	return e, nil
}

// simulate has stand-ins made, where there are any.
func (e *Engine) simulate() {
	if e.simulation == nil {
		return
	}
	e.simulation.parts = simulated{Host: e.Host, kustomizations: e.registry, releases: e.releases, sources: e.sources}
	e.sources.standIns, e.releases.standIns = e.simulation, e.simulation
}

// Joins is what the runner learns of the dialect.
func (e *Engine) Joins() runner.Part {
	applied := objects.New(e.runner.Renderer(), e.dialect)
	drivers := map[schema.GroupKind]runner.Driver{kustomizationKind: applied, resourceSetKind: applied, helmReleaseKind: e.handover}
	maps.DeleteFunc(drivers, func(gk schema.GroupKind, _ runner.Driver) bool { return !e.Serve.Serves(gk.Group) })
	part := runner.Part{
		Dialect: e.dialect, Sources: e.sources, Drivers: drivers,
		Names: map[string]apply.Names{releaseOwner: releaseNames(), resourceSetOwner: resourceSetNames()},
	}
	for _, g := range groups() {
		part.Groups = append(part.Groups, g.Name)
	}
	return part
}

// Connected looks in a cluster for what an earlier process applied and did not record.
func (e *Engine) Connected(c *cluster.Cluster) { e.recovery.look(c) }

// Start begins to read what is declared.
func (e *Engine) Start(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	stopEvents := context.AfterFunc(ctx, e.dialect.events.Stop)
	if err := e.watch(ctx, wait); err != nil {
		stopEvents()
		return err
	}
	e.charts.passes.Start(ctx)
	e.runOperator(ctx)
	e.receivers.desk.Start(ctx)
	e.desks.Go(e.receivers.desk.Wait)
	e.recovery.begin(ctx, e.Host, watermarks(e.registry.All()))
	e.recovery.look(e.cluster)
	return nil
}

// watched is what is read at the start.
const watched = "the objects of Flux"

// watch begins with the sources, so that units find them when they come.
func (e *Engine) watch(ctx, wait context.Context) error {
	serve := e.Serve
	if serve.Serves(operatorGroup.Name) {
		if err := cluster.Within(wait, watched, func() error { return e.watchInstances(ctx) }); err != nil {
			return err
		}
	}
	if serve.Serves(notificationGroup.Name) && e.simulation == nil {
		// A simulation sends nothing.
		if err := cluster.Within(wait, watched, func() error { return e.notifications.watch(ctx, e.Host, e.dialect.events) }); err != nil {
			return err
		}
	}
	var lists, all errgroup.Group
	for _, kind := range servedSources {
		if e.sources.elsewhere && !e.defined(kind.sourceKind) {
			continue
		}
		lists.Go(func() error {
			return e.cluster.Watch(ctx, kind.resource, e.Selector, cluster.Sink{Put: e.putSource(ctx, kind), Dropped: e.dropSource(kind.sourceKind)})
		})
	}
	e.watchRewrites(ctx, &lists)
	all.Go(func() error {
		err := lists.Wait()
		if err == nil {
			close(e.sources.listed)
		}
		return err
	})
	all.Go(func() error {
		if !serve.Serves(generatorGroup.Name) {
			close(e.generators.listed)
			return nil
		}
		err := e.cluster.Watch(ctx, artifactGenerators, e.Selector, cluster.Sink{Put: e.putGenerator(ctx), Dropped: e.generators.dropped})
		if err == nil {
			close(e.generators.listed)
		}
		return err
	})
	if serve.Serves(kustomizeGroup.Name) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, kustomizations, e.Selector, cluster.Sink{Put: e.putUnit(ctx), Dropped: e.dropUnit})
		})
	}
	if serve.Serves(helmGroup.Name) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, helmReleases, e.Selector, cluster.Sink{Put: e.putRelease(ctx), Dropped: e.dropRelease})
		})
	}
	if serve.Serves(operatorGroup.Name) {
		all.Go(func() error { return e.watchOperator(ctx) })
	}
	if serve.Serves(notificationGroup.Name) {
		all.Go(func() error { return e.receivers.watch(ctx) })
	}
	if serve.Serves(imageGroup.Name) && e.simulation == nil {
		all.Go(func() error { return e.images.watch(ctx) })
	}
	return cluster.Within(wait, watched, all.Wait)
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() {
	e.sources.wg.Wait()
	e.recovery.running.Wait()
	e.charts.passes.Wait()
	e.desks.Wait()
	e.notifications.wait()
	e.images.wait()
}

// Hooks serves the hooks of Receivers, below notifyv1.ReceiverWebhookPath.
func (e *Engine) Hooks() http.Handler { return e.receivers.handler }

// EventHandler takes the events that other controllers post, as notification-controller does at its port.
func (e *Engine) EventHandler() http.Handler { return e.notifications.handler() }

// Nudge has every source fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) { e.sources.nudgeURL(matches) }

// compile-time proof that the engine's parts fit the runner's ports.
var (
	_ runner.Dialect = (*reporter)(nil)
	_ runner.Sources = (*sources)(nil)
)

// defined reports whether the cluster serves a kind whose definition another controller owns.
func (e *Engine) defined(kind *sourceKind) bool {
	_, served := e.cluster.Kinds.Lookup(kind.resource.GroupVersion().WithKind(kind.name))
	return served
}
