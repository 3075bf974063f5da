// Package host is the composition root: it puts one engine together from a cluster and the dialects that are served there,
// and holds what every process has to settle before: the lease, controllers of upstreams that serve the same API groups,
// the installation of definitions.
//
// The command line, the controller and the tests start engines here and nowhere else. The package knows no dialect: a
// catalogue says which there are.
package host

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
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
	// Store keeps the artifacts, Dir what else outlives the process; without Dir, that is lost with it.
	Store *source.Store
	Dir   string
	// Selector, when not empty, is the label selector of the objects that are served: a shard.
	Selector string
	// Local, when set, answers with the repository served by this process that stands in for a URL.
	Local func(url string) (source.Local, bool)
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// Sandbox is where charts and Jsonnet are rendered; nil renders them in this process.
	Sandbox *sandbox.Pool
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
	ended      chan struct{}
}

// Start starts an Engine; it runs until ctx ends, which Wait waits for.
func Start(ctx context.Context, cfg Config) (*Engine, error) {
	e, err := assemble(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := e.host.Home.Start(ctx); err != nil {
		return nil, err
	}
	for _, p := range e.parts {
		if err := p.Start(ctx); err != nil {
			return nil, err
		}
	}
	if cfg.Simulation != nil {
		e.host.Guard.Go("the simulation", func() { cfg.Simulation.Run(ctx) })
	}
	go func() {
		e.runner.Run(ctx)
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
	replaced, err := cfg.Serve.Replaced()
	if err != nil {
		return nil, err
	}
	g := guard.New(cfg.Log, cfg.Metrics.Panics())
	e := &Engine{simulation: cfg.Simulation, ended: make(chan struct{})}
	e.runner = runner.New(runner.Config{
		Renderer: render.New(), Observe: cfg.Observe, Traced: cfg.Traced, Log: cfg.Log, Reserved: cfg.Reserved,
		Replaced: replaced.Why, Connected: e.connected, Sharded: cfg.Selector != "", Guard: g,
	})
	names := namesOf(cfg.Serve)
	home, err := cluster.Connect(cfg.Cluster, "", names.Ownership(), e.runner, g)
	if err != nil {
		return nil, err
	}
	e.runner.Bind(home, cfg.Cluster, names)
	shared := feed.New()
	e.host = &dialect.Host{
		Config: cfg.Cluster, Home: home, Runner: e.runner, Serve: cfg.Serve, Selector: cfg.Selector, Store: cfg.Store, Dir: cfg.Dir,
		Local: cfg.Local, Rewrites: cfg.Rewrites, Feed: shared, Bases: bases.New(shared, cfg.Store.SpillDir()), Sandbox: cfg.Sandbox,
		Reserved: cfg.Reserved, Metrics: cfg.Metrics, Problem: cfg.Problem, Log: cfg.Log, Guard: g,
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
	}
	return e, nil
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

// Standing returns where all units stand, and whether a simulation may yet bring what they wait for in that moment.
func (e *Engine) Standing(ctx context.Context) (states []runner.State, providing bool) {
	if e.simulation != nil {
		return e.simulation.Standing(ctx)
	}
	states, _ = e.runner.States(ctx)
	return states, false
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

// Hooks takes requests by which others report changes; it is nil if no dialect does.
func (e *Engine) Hooks() http.Handler {
	for _, p := range e.parts {
		if taker, takes := p.(dialect.Hooked); takes {
			return e.host.Guard.Handler("a request by a hook", taker.Hooks())
		}
	}
	return nil
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
