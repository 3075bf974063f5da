// Package standins makes what an embedded cluster lacks when nothing moves without it: definitions, statuses, charts, files, Secrets.
//
// What a stand-in looks like is known by internal/simulate. None is made on a real cluster.
package standins

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
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
	// What is CustomResourceDefinition, Status, Object, Chart, Remote, Patch, Secret, ConfigMap or Expression; Name names it, and For is the unit
	// or the source that waited for it.
	What string    `json:"what"`
	Name string    `json:"name"`
	For  string    `json:"for,omitempty"`
	Time time.Time `json:"time"`
}

// Simulation makes stand-ins when nothing moves but for what they would provide, so that the order in
// which units open is that of a real cluster. It is safe for concurrent use.
type Simulation struct {
	want    Simulate
	Parts   Simulated
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
	// ranged counts how often units were tried again for ranges of addresses and for namespaces.
	ranged map[string]int
	// lax are the units whose undefined variables may be empty.
	lax map[engine.UnitID]bool
}

// Simulated are the parts of an engine that lack what there are stand-ins for.
type Simulated struct {
	*dialect.Host

	Kustomizations *kustomize.Registry
	Releases       *release.Keeper
	Sources        *sources.Keeper
}

// ours reports whether an object is served here. A group may have more kinds than the dialect that serves it.
func (s *Simulation) ours(id engine.ObjectID) bool {
	return s.Parts.Serve.Knows(id.GroupKind()) && id.Group != toolkit.Image.Name && !s.Parts.Yields(id)
}

// Nothing may have moved for calm before stand-ins are created; while workloads start, and no unit
// knows how long that takes, for patience.
const (
	simulateEvery = 50 * time.Millisecond
	calm          = 250 * time.Millisecond
	patience      = 5 * time.Second
	// again is how often workloads are polled meanwhile.
	again = time.Second
)

// NewSimulation returns a Simulation. Observe is called with each stand-in; it must not block.
func NewSimulation(want Simulate, observe func(StandIn)) (*Simulation, error) {
	healer, err := simulate.NewHealer(want.Overrides)
	if err != nil {
		return nil, err
	}
	return &Simulation{
		want: want, healer: healer, observe: observe, made: map[string]StandIn{}, healed: map[string]bool{}, stubs: map[schema.GroupKind]string{},
		missing: map[schema.GroupKind]map[engine.UnitID]bool{}, marked: map[engine.UnitID]bool{}, charts: map[engine.SourceID]bool{},
		lax: map[engine.UnitID]bool{}, ranged: map[string]int{},
	}, nil
}

// Run makes stand-ins until ctx ends.
func (s *Simulation) Run(ctx context.Context) {
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
		began := time.Now()
		d := s.Parts.Runner.Demands(ctx)
		// Asking takes a small part of the time, however many units there are.
		tick.Reset(max(simulateEvery, 20*time.Since(began)))
		now := fingerprint(d)
		if d.Moving || now != seen {
			moved, seen, answered = time.Now(), now, false
			continue
		}
		ready := d.Ready == d.Units
		rest, provide := time.Since(moved), s.provide
		if d.Coming = d.Coming && rest < patience; d.Coming {
			provide = s.provideFirst
		}
		if ready {
			provide = s.providePods
		}
		switch {
		case s.exhausted.Load() == now || rest < calm:
			continue
		case rest < patience && s.working(d):
			// Some of it never starts: what has no place, however long that takes.
			if time.Since(looked) < again {
				continue
			}
			provide, looked = s.providePlaces, time.Now()
		}
		switch {
		case provide(ctx, d):
			moved, answered = time.Now(), !ready
		case rest >= patience || !answered && !d.Coming && !s.working(d):
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

// working reports whether an object is waited for that the embedded cluster itself brings on.
func (s *Simulation) working(d runner.Demands) bool {
	return slices.ContainsFunc(d.Objects, func(o runner.ObjectDemand) bool { return !o.Gone && s.builtIn(o.ID.GroupKind()) })
}

// builtIn reports whether a kind comes with Kubernetes and not by a CRD.
func (s *Simulation) builtIn(gk schema.GroupKind) bool {
	return !s.Parts.Home.Kinds.Defined(gk)
}

// provide makes the stand-ins of the first sort that is waited for, and reports whether it made any. What
// they unblock moves before the next sort is evaluated.
func (s *Simulation) provide(ctx context.Context, d runner.Demands) bool {
	return provideOneOf(ctx, d, []func(context.Context, runner.Demands) bool{
		s.provideLogins, s.provideCharts, s.provideContent, s.provideKinds, s.provideExternalSecrets, s.provideSecrets,
		s.provideVariables, s.provideRanges, s.provideNamespaces, s.providePlaces, s.provideObjects,
	})
}

// provideFirst makes stand-ins but for what a unit may yet declare itself: kinds, and objects that do not exist.
func (s *Simulation) provideFirst(ctx context.Context, d runner.Demands) bool {
	d.Objects = slices.DeleteFunc(d.Objects, func(o runner.ObjectDemand) bool { return o.Gone })
	return provideOneOf(ctx, d, []func(context.Context, runner.Demands) bool{
		s.provideLogins, s.provideCharts, s.provideContent, s.provideExternalSecrets, s.provideVariables, s.provideRanges, s.provideNamespaces, s.providePlaces, s.provideObjects,
	})
}

// provideOneOf makes the first sort of stand-ins of which there are any to make.
func provideOneOf(ctx context.Context, d runner.Demands, sorts []func(context.Context, runner.Demands) bool) bool {
	for _, provide := range sorts {
		if provide(ctx, d) {
			return true
		}
	}
	return false
}

// simulationManager is the field manager of stand-ins.
const simulationManager = "headgate-simulate"

// note remembers a stand-in for which a unit waited, if one did, and reports it.
func (s *Simulation) note(what, name string, unit engine.UnitID) {
	waited := ""
	if unit != (engine.UnitID{}) {
		waited = unit.String()
	}
	s.noteFor(what, name, waited)
}

// noteFor is note for whatever waited.
func (s *Simulation) noteFor(what, name, waited string) {
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
func (s *Simulation) dropped(what, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.made, what+" "+name)
}

// Standing returns where all units stand, and whether stand-ins may yet be made for what they wait for in that moment.
func (s *Simulation) Standing(ctx context.Context) (states []runner.State, providing bool) {
	states, d := s.Parts.Runner.Standing(ctx)
	return states, d.Moving || s.exhausted.Load() != fingerprint(d)
}

// StandIns returns what is not real, sorted.
func (s *Simulation) StandIns() []StandIn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(maps.Values(s.made))
	slices.SortFunc(all, func(a, b StandIn) int { return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Name, b.Name)) })
	return all
}

// ParseOverrides reads the statuses of kinds that are to become healthy in another way.
func ParseOverrides(data []byte) (map[schema.GroupKind]map[string]any, error) {
	return simulate.ParseOverrides(data)
}
