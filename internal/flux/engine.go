// Package flux is the Flux dialect: it puts its rooms together, reads the objects of the served groups into units and sources, and has
// status, events, finalizers and inventories written in the upstream's words.
//
// It decides nothing about order, and writes no object of a unit: that is the runner's and the applier's. A field that cannot be
// honoured makes its object stall with the field's name; it is never ignored.
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

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/alerts"
	"github.com/headgate-dev/headgate/internal/flux/generators"
	"github.com/headgate-dev/headgate/internal/flux/images"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/receivers"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/standins"
	"github.com/headgate-dev/headgate/internal/flux/takeover"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/runner/objects"
)

// Engine serves the Flux API on one cluster.
type Engine struct {
	*dialect.Host
	runner     *runner.Runner
	cluster    *cluster.Cluster
	sources    *sources.Keeper
	generators *generators.Keeper
	dialect    *reporter
	registry   *kustomize.Registry
	releases   *release.Keeper
	charts     *release.Charts
	// simulation is nil where everything is real.
	simulation *standins.Simulation
	recovery   takeover.Recovery

	policies                   *policies.Effective
	sets                       *sets.Keeper
	instances                  *takeover.Instances
	handover                   *takeover.Driver
	images                     *images.Keeper
	notifications              *alerts.Keeper
	providerDesk, instanceDesk *toolkit.Desk
	receivers                  *receivers.Keeper
	desks                      sync.WaitGroup
}

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute

// newEngine puts an Engine together. It makes no requests.
func newEngine(ctx context.Context, o Options, host *dialect.Host) (*Engine, error) {
	e := &Engine{
		Host: host, runner: host.Runner, cluster: host.Home, registry: kustomize.NewRegistry(),
		simulation: o.Simulation,
	}
	if e.simulation != nil {
		o.Policy.Content = &policies.StandInContent{LeaveOut: e.simulation.LeaveOut, Marks: e.simulation.Marks, Variables: e.simulation}
	}
	e.policies = policies.New(o.Policy)
	e.lock()
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	e.notifications = alerts.New(client, e.policies, host.Log, host.Guard)
	ev, err := toolkit.NewEvents(client, e.notifications)
	if err != nil {
		return nil, fmt.Errorf("creating the event recorder: %w", err)
	}
	t := toolkit.Tools{Host: host, Secrets: client, Events: ev}
	reached := &access.Connections{
		Client: client, Insecure: o.InsecureKubeconfigTLS, Held: map[engine.UnitID]access.Connection{}, Objects: e.cluster.Objects,
	}
	e.sources = sources.New(ctx, t)
	if e.generators, err = generators.New(e.sources, e.policies, e.Selector); err != nil {
		return nil, err
	}
	e.startOperator(t)
	e.images = images.New(t, e.sources, e.policies)
	e.releases = release.New(t, reached)
	e.charts = release.NewCharts(e.sources, e.releases, e.policies)
	e.handover = takeover.New(e.releases, e.instances, e.sources)
	e.sources.Join(e.generators, e.charts, e.runner, e.images)
	e.dialect = &reporter{
		Tools: t, registry: e.registry, policies: e.policies, connections: reached, releases: e.releases, sets: e.sets, rules: e.sources,
	}
	e.policies.Changed = func() {
		e.lock()
		e.redeclare()
		e.images.WakeAll()
	}
	e.receivers = receivers.New(ctx, t, e.policies)
	e.simulate()
	return e, nil
}

// lock has other dialects know how tenants are locked down.
func (e *Engine) lock() {
	now := e.policies.Now()
	e.Tenants.Ask("flux", dialect.Tenancy{Account: now.DefaultServiceAccount, Isolated: now.NoCrossNamespaceRefs})
}

// simulate has stand-ins made, where there are any.
func (e *Engine) simulate() {
	if e.simulation == nil {
		return
	}
	e.simulation.Parts = standins.Simulated{Host: e.Host, Kustomizations: e.registry, Releases: e.releases, Sources: e.sources}
	e.sources.StandIns, e.releases.StandIns = e.simulation, e.simulation
}

// Joins is what the runner learns of the dialect.
func (e *Engine) Joins() runner.Part {
	applied := objects.New(e.runner.Renderer(), e.dialect)
	drivers := map[schema.GroupKind]runner.Driver{toolkit.KustomizationKind: applied, toolkit.ResourceSetKind: applied, toolkit.HelmReleaseKind: e.handover}
	maps.DeleteFunc(drivers, func(gk schema.GroupKind, _ runner.Driver) bool { return !e.Serve.Serves(gk.Group) })
	part := runner.Part{
		Dialect: e.dialect, Sources: e.sources, Drivers: drivers,
		Names: map[string]apply.Names{toolkit.ReleaseOwner: toolkit.ReleaseNames(), toolkit.ResourceSetOwner: toolkit.ResourceSetNames()},
	}
	for _, g := range toolkit.Groups() {
		part.Groups = append(part.Groups, g.Name)
	}
	return part
}

// Connected looks in a cluster for what an earlier process applied and did not record.
func (e *Engine) Connected(c *cluster.Cluster) { e.recovery.Look(c) }

// Start begins to read what is declared.
func (e *Engine) Start(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	stopEvents := context.AfterFunc(ctx, e.dialect.Events.Stop)
	if err := e.watch(ctx, wait); err != nil {
		stopEvents()
		return err
	}
	e.charts.Passes.Start(ctx)
	e.runOperator(ctx)
	e.receivers.Desk.Start(ctx)
	e.desks.Go(e.receivers.Desk.Wait)
	e.recovery.Begin(ctx, e.Host, takeover.Watermarks(e.registry.All()))
	e.recovery.Look(e.cluster)
	return nil
}

// watched is what is read at the start.
const watched = "the objects of Flux"

// watch begins with the sources, so that units find them when they come.
func (e *Engine) watch(ctx, wait context.Context) error {
	serve := e.Serve
	if e.followsInstances() {
		if err := cluster.Within(wait, watched, func() error { return e.watchInstances(ctx) }); err != nil {
			return err
		}
	}
	if serve.Serves(toolkit.Notification.Name) && e.simulation == nil {
		// A simulation sends nothing.
		if err := cluster.Within(wait, watched, func() error { return e.notifications.Watch(ctx, e.Host, e.dialect.Events) }); err != nil {
			return err
		}
	}
	var lists, all errgroup.Group
	for _, kind := range sources.ServedSources {
		if e.sources.Elsewhere && !e.defined(kind.SourceKind) {
			continue
		}
		lists.Go(func() error {
			return e.cluster.Watch(ctx, kind.Resource, e.Selector, cluster.Sink{Put: e.putSource(ctx, kind), Dropped: e.dropSource(kind.SourceKind)})
		})
	}
	e.watchRewrites(ctx, &lists)
	all.Go(func() error {
		err := lists.Wait()
		if err == nil {
			close(e.sources.Listed)
		}
		return err
	})
	all.Go(func() error {
		if !serve.Serves(toolkit.Generators.Name) {
			close(e.generators.Listed)
			return nil
		}
		err := e.cluster.Watch(ctx, toolkit.ArtifactGenerators, e.Selector, cluster.Sink{Put: e.putGenerator(ctx), Dropped: e.generators.Dropped})
		if err == nil {
			close(e.generators.Listed)
		}
		return err
	})
	if serve.Serves(toolkit.Kustomize.Name) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, toolkit.Kustomizations, e.Selector, cluster.Sink{Put: e.putUnit(ctx), Dropped: e.dropUnit})
		})
	}
	if serve.Serves(toolkit.Helm.Name) {
		all.Go(func() error {
			return e.cluster.Watch(ctx, toolkit.HelmReleases, e.Selector, cluster.Sink{Put: e.putRelease(ctx), Dropped: e.dropRelease})
		})
	}
	if serve.Serves(toolkit.Operator.Name) {
		all.Go(func() error { return e.watchOperator(ctx) })
	}
	if serve.Serves(toolkit.Notification.Name) {
		all.Go(func() error { return e.receivers.Watch(ctx) })
	}
	if serve.Serves(toolkit.Image.Name) && e.simulation == nil {
		all.Go(func() error { return e.images.Watch(ctx) })
	}
	return cluster.Within(wait, watched, all.Wait)
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() {
	e.sources.Wg.Wait()
	e.recovery.Running.Wait()
	e.charts.Passes.Wait()
	e.desks.Wait()
	e.notifications.Wait()
	e.images.Wait()
}

// HookPath is that of the hooks of Receivers.
func (*Engine) HookPath() string { return notifyv1.ReceiverWebhookPath }

// Hooks serves the hooks of Receivers.
func (e *Engine) Hooks() http.Handler { return e.receivers.Handler }

// EventHandler takes the events that other controllers post, as notification-controller does at its port.
func (e *Engine) EventHandler() http.Handler { return e.notifications.Handler() }

// Nudge has every source fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) { e.sources.NudgeURL(matches) }

// compile-time proof that the engine's parts fit the runner's ports.
var (
	_ runner.Dialect = (*reporter)(nil)
	_ runner.Sources = (*sources.Keeper)(nil)
)

// defined reports whether the cluster serves a kind whose definition another controller owns.
func (e *Engine) defined(kind *sources.SourceKind) bool {
	_, served := e.cluster.Kinds.Lookup(kind.Resource.GroupVersion().WithKind(kind.Name))
	return served
}
