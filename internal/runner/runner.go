// Package runner moves units: it gathers the facts about each, asks the engine for the next step,
// and has the step carried out.
//
// All state is owned by one goroutine, the loop. Everything else (watches, workers, timers) talks
// to it through its mailbox, so there are no locks and no order of locks. A step that renders,
// applies or deletes runs in a worker; a unit that waits holds none. The package knows no dialect:
// what a declaration means, and how a result is written, is asked through ports.
package runner

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/health"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// Sources provides the sources of units.
type Sources interface {
	// Source returns what is known of a source, and its artifact when it has one.
	Source(id engine.SourceID) (engine.SourceFact, *source.Artifact)
	// Readings returns which repositories a source reads, and what it has of each.
	Readings(id engine.SourceID) []engine.Reading
	// Fetch has everything that a source reads fetched at once. SourceChanged reports that it was, whatever came of it.
	Fetch(id engine.SourceID)
}

// Inputs is what a unit is made from beside its source.
type Inputs struct {
	Options render.Options
	// Objects are those that are not rendered by Options.
	Objects []*unstructured.Unstructured
	// Namespace is for objects that name none and whose kind has one.
	Namespace string
	// LastWins keeps the last of several objects of one identity, which are an error otherwise. An identity is known for sure
	// here, where it is known which kinds have namespaces.
	LastWins bool
	// Digest changes whenever Options or Objects do. It is empty for inputs that are not complete.
	Digest string
	// Labels are set on every object: the names of the owner.
	Labels map[string]string
	// Versions are the resource versions of the objects that were read, zero for those that were not
	// there. They are given beside an error too. What a unit without a source has read is followed from then on.
	Versions map[engine.ObjectID]uint64
}

// Dialect reads declarations and writes results down.
type Dialect interface {
	// Report writes the state of a unit down. It writes nothing when nothing changed.
	Report(ctx context.Context, r Report) error
	// Connect reports how the cluster of a unit is reached that is not the engine's own.
	Connect(ctx context.Context, id engine.UnitID) (Connection, error)
	// Release lets the object of a unit go that was deleted.
	Release(ctx context.Context, id engine.UnitID) error
	// Object returns the object that declares a unit, as expressions see it, or nil.
	Object(id engine.UnitID) map[string]any
	// Drifted reports reverted drift; times is how often that object had to be
	// of late, and back is how long the next correction waits, zero when it does not.
	Drifted(ctx context.Context, id engine.UnitID, drift apply.Drift, times int, back time.Duration)
}

// Interruptible is a dialect that records that something newer has ended the checks of health of a unit.
type Interruptible interface {
	// HealthCheckCanceled reports that, and by what: the source of the unit, or its own object.
	HealthCheckCanceled(ctx context.Context, id engine.UnitID, by engine.Subject)
}

// Config is what a Runner needs.
type Config struct {
	Renderer *render.Renderer
	// Connected, when set, is called with each connection to another cluster. It must not block.
	Connected func(*cluster.Cluster)
	// Sharded is set when other engines serve units of the cluster as well.
	Sharded bool
	// DeletionHold is how long deletions wait at most for other units: engine.HoldFor when it is zero, not at all when it is negative.
	DeletionHold time.Duration
	// Reserved are objects that no declaration may touch: they are left out of what is applied.
	Reserved map[engine.ObjectID]bool
	// Replaced, when set, says why an object of the engine's own cluster is left as it is, since something
	// else replaces it; it says nothing of most.
	Replaced func(*unstructured.Unstructured) string
	// Assumed, when set, reports that an object counts as healthy although the expressions of its unit do not hold.
	Assumed func(*unstructured.Unstructured, []engine.HealthExpr) bool
	// Observe, when set, is called with what the units do, as it happens. It must not block.
	Observe func(Note)
	// Traced, when set, is called with each pass that ended, and its timings. It must not block.
	Traced func(Trace)
	Log    logr.Logger
	// Guard logs and counts panics of units.
	Guard guard.Guard
	// Egress is where other clusters may be.
	Egress egress.Rules
}

// Note is one thing that a unit did, or that happened to it.
type Note struct {
	Time  time.Time     `json:"time"`
	Unit  engine.UnitID `json:"unit"`
	Phase engine.Phase  `json:"phase"`
	Text  string        `json:"text"`
	// Cluster is where the unit deploys to, as its target names it; empty for the engine's own.
	Cluster string `json:"cluster,omitempty"`
	// Waits are those of a unit that waits.
	Waits []engine.Wait `json:"-"`
	// Failed marks bad news, and Began the begin of a pass for something new.
	Failed bool `json:"failed,omitempty"`
	Began  bool `json:"began,omitempty"`
	// Ready marks that a pass ended well, and Changed that it changed objects.
	Ready   bool `json:"-"`
	Changed bool `json:"-"`
}

// Runner runs units on one cluster.
type Runner struct {
	cfg     Config
	home    *target
	config  *rest.Config
	names   map[string]apply.Names
	targets targets

	// What the dialects brought.
	dialects  dialectMux
	sources   sourceMux
	unitKinds map[schema.GroupKind]bool
	drivers   map[schema.GroupKind]Driver
	reading   []reading

	mail mailbox

	// What follows belongs to the loop.
	ctx   context.Context
	units map[engine.UnitID]*unit
	// ordered are the units as they are listed; nil while one that came or went is not among them.
	ordered  []*unit
	dirty    []engine.UnitID
	owners   *engine.Owners
	bySource index[engine.SourceID]
	// readers are the units by the repositories that their sources read; nil while that is unknown.
	readers    index[string]
	byObject   index[engine.ObjectID]
	dependents index[engine.UnitID]
	byKind     index[kindIn]
	holding    map[engine.UnitID]bool
	// needy are units whose objects need something else first.
	needy  map[engine.UnitID]bool
	cycles map[engine.UnitID][]engine.UnitID
	// regraph is set when dependencies changed since cycles were last searched for.
	regraph bool
	tug     map[engine.ObjectID]tug
	// razed are Namespaces and definitions that a unit deleted with objects of others.
	razed map[engine.ObjectID]razed
	// unwritten are the units whose state waits to be written; writing counts the writes in progress.
	unwritten []engine.UnitID
	writing   int
	stats     Stats
	workers   sync.WaitGroup
	// moving is how many units were in a pass when that was counted last.
	moving    int
	recounted time.Time
	// evaluations are the slots of workers that evaluate expressions, in fair shares of namespaces.
	evaluations *rounds.Slots
}

// Stats counts what the runner did since its start.
type Stats struct {
	Passes, Renders, RenderHits, Applied, Unchanged, Deleted, Reports uint64
}

// New returns a Runner; Bind gives it its cluster, Join its dialects.
func New(cfg Config) *Runner {
	return &Runner{
		cfg: cfg, names: map[string]apply.Names{}, dialects: dialectMux{}, sources: sourceMux{},
		unitKinds: map[schema.GroupKind]bool{}, drivers: map[schema.GroupKind]Driver{}, mail: newMailbox(),
		units: map[engine.UnitID]*unit{}, owners: engine.NewOwners(),
		bySource: index[engine.SourceID]{}, byObject: index[engine.ObjectID]{},
		dependents: index[engine.UnitID]{}, byKind: index[kindIn]{},
		holding: map[engine.UnitID]bool{}, needy: map[engine.UnitID]bool{}, cycles: map[engine.UnitID][]engine.UnitID{},
		tug: map[engine.ObjectID]tug{}, razed: map[engine.ObjectID]razed{}, targets: targets{held: map[engine.Target]*target{}, dialling: map[string]*sync.Mutex{}},
		evaluations: rounds.NewBoundedSlots(evaluators, evaluatorsEach),
	}
}

// Renderer is the one that all dialects share.
func (r *Runner) Renderer() *render.Renderer { return r.cfg.Renderer }

// Run runs the loop until ctx ends and every worker has come back.
func (r *Runner) Run(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.ctx = ctx
	for {
		select {
		case <-ctx.Done():
			r.workers.Wait()
			return
		case <-r.mail.ready:
		}
		for _, f := range r.mail.take() {
			r.cfg.Guard.Run("the loop of units", f)
		}
		r.settle()
	}
}

// settle decides upon every unit about which something changed, until nothing follows any more.
func (r *Runner) settle() {
	if r.regraph {
		r.regraph = false
		r.findCycles()
	}
	for len(r.dirty) > 0 && r.ctx.Err() == nil {
		id := r.dirty[0]
		r.dirty = r.dirty[1:]
		u, ok := r.units[id]
		if !ok {
			continue
		}
		u.queued = false
		if !r.rests(u) {
			r.guarded(id, func() { r.carry(u, engine.Decide(r.facts(u))) })
		}
	}
}

func (r *Runner) mark(id engine.UnitID) {
	u, ok := r.units[id]
	if !ok || u.queued {
		return
	}
	u.queued = true
	r.dirty = append(r.dirty, id)
}

func (r *Runner) markAll(ids map[engine.UnitID]bool) {
	for id := range ids {
		r.mark(id)
	}
}

// jitter spreads intervals by 5 % to either side.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.95 + 0.1*rand.Float64()))
}

// mailbox takes functions for the loop; it never blocks who posts.
type mailbox struct {
	state *mailState
	ready chan struct{}
}

type mailState struct {
	mu    sync.Mutex
	queue []func()
}

func newMailbox() mailbox { return mailbox{state: &mailState{}, ready: make(chan struct{}, 1)} }

func (m mailbox) post(f func()) {
	m.state.mu.Lock()
	m.state.queue = append(m.state.queue, f)
	m.state.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

func (m mailbox) take() []func() {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	queue := m.state.queue
	m.state.queue = nil
	return queue
}

// index maps something to the units that it wakes.
type index[K comparable] map[K]map[engine.UnitID]bool

func (x index[K]) add(key K, id engine.UnitID) {
	if x[key] == nil {
		x[key] = map[engine.UnitID]bool{}
	}
	x[key][id] = true
}

func (x index[K]) remove(key K, id engine.UnitID) {
	delete(x[key], id)
	if len(x[key]) == 0 {
		delete(x, key)
	}
}

// rulesOf compiles the expressions of a unit; what cannot be compiled makes the unit invalid.
func rulesOf(u *engine.Unit) (health.Rules, map[string]*health.Expr, error) {
	rules, err := health.CompileRules(u.Health.Exprs)
	if err != nil {
		return nil, nil, err
	}
	ready := map[string]*health.Expr{}
	for _, d := range u.Dependencies {
		if d.Expr == "" {
			continue
		}
		compile := health.CompileReady
		if d.Unit == (engine.UnitID{}) {
			compile = health.CompileHealth
		}
		expr, err := compile(d.Expr)
		if err != nil {
			return nil, nil, err
		}
		ready[exprKey(d)] = expr
	}
	return rules, ready, nil
}

// exprKey tells the expressions over objects from those over units.
func exprKey(d engine.Dependency) string {
	if d.Unit == (engine.UnitID{}) {
		return "object: " + d.Expr
	}
	return d.Expr
}
