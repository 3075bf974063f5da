// Package host is the composition root: it puts one engine together from a cluster and the dialects that are served there,
// and holds what every process has to settle before: the lease, controllers of upstreams that serve the same API groups,
// the installation of definitions.
//
// The command line, the controller and the tests start engines here and nowhere else. The package knows no dialect: a
// catalogue says which there are.
package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// Config is what an Engine needs.
type Config struct {
	// Cluster is how the cluster is reached. The definitions of the served kinds have to be installed there.
	Cluster *rest.Config
	// Serve are the API groups that are served; objects of others are left to their controllers.
	Serve dialect.Groups
	// Installed are the names of the definitions that Install applied for groups of Serve; without any, they are read.
	Installed []string
	// Later are the groups of Serve, of dialects without units, whose definitions Start leaves for when units move already:
	// those are installed in the background then, and their kinds served. Complete waits for that.
	Later dialect.Groups
	// Store keeps the artifacts, Dir what else outlives the process; without Dir, that is lost with it.
	Store *source.Store
	Dir   string
	// Selector, when not empty, is the label selector of the objects that are served: a shard.
	Selector string
	// Local, when set, answers with the repository served by this process that stands in for a URL.
	Local func(url string) (source.Local, bool)
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// Egress is where requests may go whose addresses are declared: those of egress.Run.
	Egress egress.Policy
	// Sandbox is where charts and Jsonnet are rendered; nil renders them in this process.
	Sandbox *sandbox.Pool
	// DeletionHold is how long deletions wait at most for other units: engine.HoldFor when it is zero, not at all when it is negative.
	DeletionHold time.Duration
	// Reserved are objects that no unit may touch.
	Reserved map[engine.ObjectID]bool
	// Simulation, when set, has stand-ins made; the cluster must be an embedded one.
	Simulation Simulation
	// Observe, when set, is called with what units do; Problem with problems beside them, such as of sources; Traced with each
	// pass of a unit that ended. They must not block.
	Observe func(runner.Note)
	Problem func(subject, text string)
	Traced  func(runner.Trace)
	// Metrics, when set, counts what is done.
	Metrics *meter.Metrics
	Log     logr.Logger
}

// Simulation has stand-ins made for what an embedded cluster lacks.
type Simulation interface {
	dialect.Substitutes
	// Wrap has requests to the cluster go through the simulation.
	Wrap(config *rest.Config) (*rest.Config, error)
	// Standing returns where all units stand, and whether stand-ins may yet be made for what they wait for in that moment.
	Standing(ctx context.Context) (states []runner.State, providing bool)
	// Assumed reports whether an object counts as healthy although expressions say otherwise, since simulated values are what they read.
	Assumed(o *unstructured.Unstructured, exprs []engine.HealthExpr) bool
	// Run makes stand-ins until ctx ends.
	Run(ctx context.Context)
}

// Engine serves API groups on one cluster.
type Engine struct {
	host   *dialect.Host
	parts  []dialect.Part
	runner *runner.Runner
	// simulation is nil where everything is real.
	simulation Simulation
	late       late
	ended      chan struct{}
}

// Start starts an Engine; it runs until ctx ends, which Wait waits for.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	e, err := assemble(ctx, cfg)
	if err != nil {
		return nil, err
	}
	home := e.host.Home
	if err := home.Start(ctx); err != nil {
		return nil, err
	}
	home.Kinds.Expect(e.late.definitions)
	for _, p := range e.parts {
		if slices.Contains(e.late.parts, p) {
			continue
		}
		if err := p.Start(ctx); err != nil {
			return nil, err
		}
	}
	e.host.Guard.Go("what is installed late", func() { e.late.run(ctx, cfg.Cluster, home.Kinds) })
	if cfg.Simulation != nil {
		e.host.Guard.Go("the simulation", func() { cfg.Simulation.Run(ctx) })
	}
	go func() {
		e.runner.Run(ctx)
		<-e.late.ended
		for _, p := range e.parts {
			p.Wait()
		}
		e.host.Bases.Close()
		e.host.Feed.Wait()
		close(e.ended)
	}()
	return e, nil
}

// ownNames mark objects where no served dialect has names for them.
func ownNames() apply.Names {
	const prefix = "headgate.dev/"
	return apply.Names{Manager: Manager, Prefix: prefix, Name: prefix + "name", Namespace: prefix + "namespace"}
}

// assemble puts an Engine together. It makes no requests.
func assemble(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Egress.Fetches.IsZero() || cfg.Egress.Requests.IsZero() {
		return nil, errors.New("starting an engine: where its requests may go is not said")
	}
	if cfg.Simulation != nil {
		var err error
		if cfg.Cluster, err = cfg.Simulation.Wrap(cfg.Cluster); err != nil {
			return nil, err
		}
	}
	if cfg.Problem == nil {
		cfg.Problem = func(string, string) {}
	}
	if cfg.Metrics == nil {
		cfg.Metrics = meter.New(ctx, func() meter.Engine { return nil })
	}
	later, err := needsOf(cfg.Later)
	if err != nil {
		return nil, err
	}
	replaced, err := replacedBy(cfg, later)
	if err != nil {
		return nil, err
	}
	g := guard.New(cfg.Log, cfg.Metrics.Panics())
	e := &Engine{simulation: cfg.Simulation, late: late{needs: later, ended: make(chan struct{})}, ended: make(chan struct{})}
	moving := runner.Config{
		Renderer: render.New(), Observe: cfg.Observe, Traced: cfg.Traced, Log: cfg.Log, Reserved: cfg.Reserved,
		Replaced: replaced.Why, Connected: e.connected, Sharded: cfg.Selector != "", Guard: g,
		DeletionHold: cfg.DeletionHold, Egress: cfg.Egress.Fetches,
	}
	if cfg.Simulation != nil {
		moving.Assumed = cfg.Simulation.Assumed
	}
	e.runner = runner.New(moving)
	names := namesOf(cfg.Serve)
	home, err := cluster.Connect(cfg.Cluster, "", names.Ownership(), e.runner, g)
	if err != nil {
		return nil, err
	}
	e.runner.Bind(home, cfg.Cluster, names)
	shared := feed.New()
	e.host = &dialect.Host{
		Config: cfg.Cluster, Home: home, Runner: e.runner, Serve: cfg.Serve, Selector: cfg.Selector, Store: cfg.Store, Dir: cfg.Dir,
		Local: cfg.Local, Rewrites: cfg.Rewrites, Egress: cfg.Egress, Feed: shared, Bases: bases.New(shared, cfg.Store.SpillDir()), Sandbox: cfg.Sandbox,
		Reserved: cfg.Reserved, Grants: &dialect.Grants{}, Tenants: &dialect.Tenants{}, Metrics: cfg.Metrics, Problem: cfg.Problem, Log: cfg.Log, Guard: g,
	}
	if cfg.Simulation != nil {
		e.host.Substitutes = cfg.Simulation
	}
	for _, d := range cfg.Serve.Dialects() {
		p, err := d.Serve(ctx, e.host)
		if err != nil {
			return nil, fmt.Errorf("serving %s: %w", d.Name(), err)
		}
		e.parts = append(e.parts, p)
		e.runner.Join(p.Joins())
		if slices.Contains(cfg.Later.Dialects(), d) {
			e.late.parts = append(e.late.parts, p)
		}
	}
	e.host.Yields = e.yields
	return e, nil
}

// yields reports whether a part leaves an object to a simulation.
func (e *Engine) yields(id engine.ObjectID) bool {
	for _, p := range e.parts {
		if of, is := p.(dialect.Yielding); is && of.Yields(id) {
			return true
		}
	}
	return false
}

// replacedBy is what is left as it is in a repository. Definitions are parsed once: those that were installed before are known by name.
func replacedBy(cfg Config, later needs) (dialect.Replaced, error) {
	if len(cfg.Installed) == 0 {
		return cfg.Serve.Replaced()
	}
	return cfg.Serve.Replacing(slices.Concat(cfg.Installed, later.names())), nil
}

// namesOf are how the objects of units are marked that name no way of their own.
func namesOf(serve dialect.Groups) apply.Names {
	for _, d := range serve.Dialects() {
		if of, marks := d.(dialect.Marking); marks {
			return of.Names()
		}
	}
	return ownNames()
}

// connected tells the parts of a connection to another cluster.
func (e *Engine) connected(c *cluster.Cluster) {
	for _, p := range e.parts {
		if listening, listens := p.(dialect.Connected); listens {
			listening.Connected(c)
		}
	}
}

// Wait waits until everything that the engine started has ended.
func (e *Engine) Wait() { <-e.ended }

// Runner gives access to where the units stand.
func (e *Engine) Runner() *runner.Runner { return e.runner }

// States returns where all units stand, and what the engine did since its start.
func (e *Engine) States(ctx context.Context) ([]runner.State, runner.Stats) {
	return e.runner.States(ctx)
}

// Standing returns where all units stand, and whether a simulation or what is installed late may yet bring what they wait for in
// that moment.
func (e *Engine) Standing(ctx context.Context) (states []runner.State, providing bool) {
	// What brings something is asked first: what it brought is known to the units by then.
	late := !e.late.over()
	if e.simulation != nil {
		states, providing = e.simulation.Standing(ctx)
		return states, providing || late
	}
	states, _ = e.runner.States(ctx)
	return states, late
}

// Generators returns how the objects stand that units are generated from, and that are no units themselves.
func (e *Engine) Generators() []runner.State {
	var all []runner.State
	for _, p := range e.parts {
		if of, generates := p.(dialect.Generating); generates {
			all = append(all, of.Generators()...)
		}
	}
	return all
}

// Idle returns the units that are ready although a user has yet to request what they declare, and what is said of each.
func (e *Engine) Idle() map[engine.UnitID]string {
	all := map[engine.UnitID]string{}
	for _, p := range e.parts {
		if of, idles := p.(dialect.Idling); idles {
			maps.Copy(all, of.Idle())
		}
	}
	return all
}

// Complete waits until every group is served, or ctx ends. An error is why one is not: the engine is of no use then.
func (e *Engine) Complete(ctx context.Context) error {
	select {
	case <-e.late.ended:
		return e.late.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Measured are the dialects, for the metrics.
func (e *Engine) Measured() []any {
	all := make([]any, len(e.parts))
	for i, p := range e.parts {
		all[i] = p
	}
	return all
}

// Nudge has every source fetched at once whose URL matches.
func (e *Engine) Nudge(matches func(url string) bool) {
	for _, p := range e.parts {
		p.Nudge(matches)
	}
}

// Hooks takes requests by which others report changes, each dialect those below its path.
func (e *Engine) Hooks() http.Handler {
	return e.host.Guard.Handler("a request by a hook", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, p := range e.parts {
			if taker, takes := p.(dialect.Hooked); takes && strings.HasPrefix(r.URL.Path, taker.HookPath()) {
				taker.Hooks().ServeHTTP(w, r)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}))
}

// EventHandler takes events of other controllers; it is nil where no dialect does.
func (e *Engine) EventHandler() http.Handler {
	for _, p := range e.parts {
		if taker, takes := p.(dialect.EventTaker); takes {
			return e.host.Guard.Handler("a posted event", taker.EventHandler())
		}
	}
	return nil
}

// syncTimeout bounds the first lists.
const syncTimeout = time.Minute
