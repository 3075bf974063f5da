package flux

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// Simulate says for what there are stand-ins, where a cluster has neither a network nor what runs in
// containers. It is for the embedded cluster only.
type Simulate struct {
	CRDs, Health, Charts, Secrets bool
	// Overrides are the statuses of kinds that are to become healthy in another way.
	Overrides map[schema.GroupKind]map[string]any
}

// StandIn is one thing that is not real.
type StandIn struct {
	// What is CustomResourceDefinition, Status, Object, Chart, Remote, Patch or Secret; Name names it, and For is the unit
	// or the source that waited for it.
	What string    `json:"what"`
	Name string    `json:"name"`
	For  string    `json:"for,omitempty"`
	Time time.Time `json:"time"`
}

// simulation makes stand-ins when nothing moves but for what they would provide, so that the order in
// which units open is that of a real cluster. It is safe for concurrent use.
type simulation struct {
	want    Simulate
	engine  *Engine
	client  dynamic.Interface
	healer  *simulate.Healer
	observe func(StandIn)
	// exhausted is the fingerprint of demands for which there is nothing to provide.
	exhausted atomic.Value

	mu   sync.Mutex
	made map[string]StandIn
	// healed are the objects that got a status, with their generations.
	healed map[string]bool
	// stubs are the names of the CRDs that stand in.
	stubs map[schema.GroupKind]string
	// missing are the kinds for want of which units failed: true are those units that were not tried again since.
	missing map[schema.GroupKind]map[engine.UnitID]bool
	// nodes counts those that were made.
	nodes int
	// marked are the units whose values may stand in, charts the sources that may.
	marked map[engine.UnitID]bool
	charts map[engine.SourceID]bool
}

// Nothing may have moved for calm before stand-ins are made; where workloads are on their way, and nobody
// knows how long that takes, for patience.
const (
	simulateEvery = 50 * time.Millisecond
	calm          = 250 * time.Millisecond
	patience      = 5 * time.Second
	// again is how often workloads are looked at meanwhile.
	again = time.Second
)

// newSimulation returns nil when everything is to be real.
func newSimulation(cfg Config) (*simulation, error) {
	if cfg.Simulate == nil {
		return nil, nil
	}
	healer, err := simulate.NewHealer(cfg.Simulate.Overrides)
	if err != nil {
		return nil, err
	}
	// Its own requests take nothing out of the way.
	client, err := dynamic.NewForConfig(cfg.Cluster)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &simulation{
		want: *cfg.Simulate, client: client, healer: healer, observe: cfg.Simulated, made: map[string]StandIn{}, healed: map[string]bool{}, stubs: map[schema.GroupKind]string{},
		missing: map[schema.GroupKind]map[engine.UnitID]bool{}, marked: map[engine.UnitID]bool{}, charts: map[engine.SourceID]bool{},
	}, nil
}

// tell has guests do without what nobody has.
func (s *simulation) tell(guests []runner.Guest) {
	for _, g := range guests {
		if without, can := g.(doesWithout); can {
			without.DoWithout(s.leaveOut, s.marks)
		}
	}
}

// run looks after the units until ctx ends.
func (s *simulation) run(ctx context.Context) {
	tick := time.NewTicker(simulateEvery)
	defer tick.Stop()
	moved, looked, seen := time.Now(), time.Time{}, ""
	// answered is set when something was provided for these demands: they change as soon as that is seen.
	answered := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.retryServed()
		d := s.engine.runner.Demands(ctx)
		now := fingerprint(d)
		if d.Moving || now != seen {
			moved, seen, answered = time.Now(), now, false
			continue
		}
		ready := d.Ready == d.Units
		rest, provide := time.Since(moved), s.provide
		if ready {
			provide = s.providePods
		}
		switch {
		case s.exhausted.Load() == now || rest < calm:
			continue
		case rest < patience && s.working(d):
			// Some of it nobody brings on: what has no place, however long that takes.
			if time.Since(looked) < again {
				continue
			}
			provide, looked = s.providePlaces, time.Now()
		}
		switch {
		case provide(ctx, d):
			moved, answered = time.Now(), !ready
		case rest >= patience || !answered && !s.working(d):
			s.exhausted.Store(now)
		}
	}
}

// fingerprint changes when something moves.
func fingerprint(d runner.Demands) string {
	var words []string
	for _, o := range d.Objects {
		words = append(words, o.String())
	}
	for _, f := range d.Failed {
		words = append(words, f.Unit.String()+": "+f.Message)
	}
	for kind := range d.Kinds {
		words = append(words, kind.String())
	}
	for id := range d.Sources {
		words = append(words, id.String())
	}
	slices.Sort(words)
	return fmt.Sprint(d.Units, d.Ready, d.Passes, words)
}

// working tells whether an object is waited for that the embedded cluster itself brings on.
func (s *simulation) working(d runner.Demands) bool {
	return slices.ContainsFunc(d.Objects, func(o runner.ObjectDemand) bool { return !o.Gone && s.builtIn(o.ID.GroupKind()) })
}

// builtIn tells whether a kind comes with Kubernetes and not by a CRD.
func (s *simulation) builtIn(gk schema.GroupKind) bool {
	return !s.engine.cluster.Kinds.Defined(gk)
}

// provide makes the stand-ins of the first sort that is waited for, and tells whether it made any. What
// they unblock moves before the next sort is looked at.
func (s *simulation) provide(ctx context.Context, d runner.Demands) bool {
	for _, provide := range []func(context.Context, runner.Demands) bool{
		s.provideLogins, s.provideCharts, s.provideContent, s.provideKinds, s.provideExternalSecrets, s.provideSecrets,
		s.providePlaces, s.provideObjects,
	} {
		if provide(ctx, d) {
			return true
		}
	}
	return false
}

// simulationManager is the field manager of stand-ins.
const simulationManager = "headgate-simulate"

// note remembers a stand-in for which a unit waited, if one did, and tells of it.
func (s *simulation) note(what, name string, unit engine.UnitID) {
	waited := ""
	if unit != (engine.UnitID{}) {
		waited = unit.String()
	}
	s.noteFor(what, name, waited)
}

// noteFor is note for whatever waited.
func (s *simulation) noteFor(what, name, waited string) {
	one := StandIn{What: what, Name: name, For: waited, Time: time.Now()}
	s.mu.Lock()
	_, known := s.made[what+" "+name]
	s.made[what+" "+name] = one
	s.mu.Unlock()
	if !known && s.observe != nil {
		s.observe(one)
	}
}

// dropped forgets a stand-in that something real has replaced.
func (s *simulation) dropped(what, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.made, what+" "+name)
}

// Standing returns where all units stand, and whether stand-ins may yet be made for what they wait for in that moment.
func (e *Engine) Standing(ctx context.Context) (states []runner.State, providing bool) {
	if e.simulation == nil {
		states, _ = e.runner.States(ctx)
		return states, false
	}
	states, d := e.runner.Standing(ctx)
	return states, d.Moving || e.simulation.exhausted.Load() != fingerprint(d)
}

// StandIns returns what is not real, sorted.
func (e *Engine) StandIns() []StandIn {
	if e.simulation == nil {
		return nil
	}
	e.simulation.mu.Lock()
	defer e.simulation.mu.Unlock()
	var all []StandIn
	for _, one := range e.simulation.made {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b StandIn) int {
		if a.What != b.What {
			return strings.Compare(a.What, b.What)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// ParseOverrides reads the statuses of kinds that are to become healthy in another way.
func ParseOverrides(data []byte) (map[schema.GroupKind]map[string]any, error) {
	return simulate.ParseOverrides(data)
}
