package runner

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Demands are what all units together wait for from outside, for a provider of it.
type Demands struct {
	// Moving is set while something is in progress, of which more may come.
	Moving bool
	// Units counts the units, Ready those of them that are ready or suspended.
	Units, Ready int
	// Coming is set while a unit may yet declare what others lack: it waits, and not for something that does not exist.
	Coming bool
	// Passes counts the passes that began: what they applied may need more than what they waited for.
	Passes uint64
	// Kinds are those that have to be served, Sources those that have nothing to give.
	Kinds   map[schema.GroupVersionKind]engine.UnitID
	Sources map[engine.SourceID]engine.UnitID
	// Objects are those that have to be healthy.
	Objects []ObjectDemand
	// Failed are the units that failed before their objects could be read.
	Failed []State
}

// ObjectDemand is an object that a unit waits for.
type ObjectDemand struct {
	engine.ObjectHealth
	// Unit waits for it; Exprs are by which it judges the kind, besides the rules for all.
	Unit  engine.UnitID
	Exprs []engine.HealthExpr
	// Assess, when set, is how the unit judges objects instead.
	Assess func(*unstructured.Unstructured) engine.ObjectHealth
	// Gone is set when the object does not exist.
	Gone bool
}

// Demands returns what the units of the engine's own cluster wait for.
func (r *Runner) Demands(ctx context.Context) Demands {
	got := make(chan Demands, 1)
	r.mail.post(func() {
		defer close(got)
		got <- r.demands()
	})
	select {
	case d, answered := <-got:
		d.Moving = d.Moving || !answered
		return d
	case <-ctx.Done():
		return Demands{Moving: true}
	}
}

// Standing returns where all units stand, and what those of the engine's own cluster wait for in the same moment.
func (r *Runner) Standing(ctx context.Context) ([]State, Demands) {
	type answer struct {
		states  []State
		demands Demands
	}
	got := make(chan answer, 1)
	r.mail.post(func() {
		defer close(got)
		got <- answer{r.states(), r.demands()}
	})
	select {
	case a, answered := <-got:
		a.demands.Moving = a.demands.Moving || !answered
		return a.states, a.demands
	case <-ctx.Done():
		return nil, Demands{Moving: true}
	}
}

func (r *Runner) demands() Demands {
	d := Demands{
		Units: len(r.units), Passes: r.stats.Passes, Kinds: map[schema.GroupVersionKind]engine.UnitID{}, Sources: map[engine.SourceID]engine.UnitID{},
	}
	for _, u := range r.units {
		switch {
		case u.Suspended || r.unitReady(u) && u.phase == engine.PhaseReady && !u.busy && !u.queued:
			d.Ready++
		case u.busy || u.queued || u.looking || u.evaluating():
			d.Moving = true
		case u.Target.Cluster == "":
			r.demand(u, &d)
		}
	}
	d.Coming = r.coming(&d)
	return d
}

// coming reports whether a unit may yet declare what others lack. One that waits for what is lacking cannot, nor can what waits
// for it.
func (r *Runner) coming(d *Demands) bool {
	lacking := map[engine.UnitID]bool{}
	for _, id := range d.Kinds {
		lacking[id] = true
	}
	for _, o := range d.Objects {
		if o.Gone {
			lacking[o.Unit] = true
		}
	}
	if len(lacking) == 0 {
		return false
	}
	var stuck func(u *unit, above map[engine.UnitID]bool) bool
	stuck = func(u *unit, above map[engine.UnitID]bool) bool {
		if lacking[u.ID] || above[u.ID] {
			return true
		}
		above[u.ID] = true
		return slices.ContainsFunc(r.dependencies(u), func(f engine.DependencyFact) bool {
			on := r.units[f.Dependency.Unit]
			return !f.Met && on != nil && stuck(on, above)
		})
	}
	for _, u := range r.units {
		if u.phase == engine.PhaseWaitingForDependencies && !u.declares() && !stuck(u, map[engine.UnitID]bool{}) {
			return true
		}
	}
	return false
}

// demand adds what one unit waits for.
func (r *Runner) demand(u *unit, d *Demands) {
	for _, need := range u.needs {
		if need.What == apply.KindServed {
			d.Kinds[need.Kind.WithVersion(need.Version)] = u.ID
		}
		if need.What == apply.ObjectThere && !r.isDeclared(need.Object) {
			d.Objects = append(d.Objects, ObjectDemand{
				ObjectHealth: engine.ObjectHealth{ID: need.Object, Verdict: engine.NotFound}, Unit: u.ID, Gone: true,
			})
		}
	}
	switch u.phase {
	case engine.PhaseWaitingForSource:
		fact, _ := r.sources.Source(u.Source)
		d.Moving = d.Moving || fact.Pending
		if !fact.Pending {
			d.Sources[u.Source] = u.ID
		}
	case engine.PhaseWaitingForDependencies:
		for _, f := range r.dependencies(u) {
			if f.Dependency.Unit == (engine.UnitID{}) && !f.Met {
				r.demandObject(u, engine.Entry{ID: f.Dependency.Object}, d)
			}
		}
	case engine.PhaseFailed:
		failed := State{Unit: u.ID, Phase: u.phase, Reason: u.reason, Message: u.message, Source: u.Source}
		if u.last.Failure != nil {
			failed.Cause = u.last.Failure.Cause
		}
		d.Failed = append(d.Failed, failed)
		r.demandHealth(u, d)
	case engine.PhaseWaitingForHealth:
		r.demandHealth(u, d)
	case engine.PhaseApplying, engine.PhasePruning:
		if u.pass != nil && len(u.pass.Waiting) > 0 {
			r.demandHealth(u, d)
			return
		}
		d.Moving = d.Moving || len(u.needs) == 0
	default:
		d.Moving = true
	}
}

func (r *Runner) demandHealth(u *unit, d *Demands) {
	if u.pass == nil || !u.Health.Checked() {
		return
	}
	for _, e := range r.counted(u) {
		r.demandObject(u, e, d)
	}
}

// demandObject adds an object unless it is healthy, or another unit.
func (r *Runner) demandObject(u *unit, e engine.Entry, d *Demands) {
	if r.childOf(u, e.ID) != nil {
		return
	}
	h := r.judge(u, e)
	if h.Verdict == engine.Current || h.Evaluating {
		return
	}
	if _, served := r.home.cluster.Kinds.Lookup(e.ID.GroupKind().WithVersion("")); !served {
		d.Kinds[e.GroupVersionKind()] = u.ID
		return
	}
	if h.Verdict == engine.NotFound && r.isDeclared(e.ID) {
		return
	}
	h.ID = e.ID
	demand := ObjectDemand{ObjectHealth: h, Unit: u.ID, Exprs: u.Health.Exprs, Gone: h.Verdict == engine.NotFound}
	if own := r.names[u.Target.Owner].Judge; own != nil {
		demand.Assess = own.Assess
	}
	d.Objects = append(d.Objects, demand)
}

// isDeclared reports whether a unit is about to apply an object.
func (r *Runner) isDeclared(id engine.ObjectID) bool {
	return slices.ContainsFunc(r.owners.Others(id, engine.UnitID{}), func(unit engine.UnitID) bool { return r.owners.Declares(id, unit) })
}

// Retry retries a failed unit at once, and reads everything again.
func (r *Runner) Retry(id engine.UnitID) {
	r.mail.post(func() {
		u, ok := r.units[id]
		if !ok {
			return
		}
		u.inputs++
		u.cached, u.attempts = nil, 0
		if u.last.Failure != nil {
			u.last.Failure.RetryAt = time.Now()
		}
		r.mark(id)
	})
}
