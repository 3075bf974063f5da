package runner

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// motion gathers what decides whether a unit can still move.
func (r *Runner) motion(u *unit) engine.Motion {
	m := engine.Motion{
		Now: time.Now(), Phase: u.phase, Reached: r.unitReady(u), Failure: u.last.Failure, Attempts: u.attempts,
		Underway: u.underway() || u.reporting || u.pending != nil || u.reading || u.evaluating() || u.paces.evaluate.due || r.unheard(u),
	}
	if u.pass != nil && u.pass.Failure == nil {
		m.Due = u.pass.Again
	}
	m.Source, _ = r.sources.Source(u.Source)
	m.Told, m.Key, m.Want = u.message, u.last.Key, u.wants(m.Source)
	if u.pass != nil {
		m.Key = u.pass.Key
	}
	m.Awaits = r.awaitedNeeds(u)
	switch u.phase {
	case engine.PhaseWaitingForDependencies:
		m.Awaits = append(m.Awaits, r.awaitedDependencies(u)...)
	case engine.PhaseWaitingForHealth:
		m.Awaits = append(m.Awaits, r.awaitedHealth(u)...)
	case engine.PhaseApplying:
		if u.pass != nil && len(u.pass.Waiting) > 0 {
			m.Awaits = append(m.Awaits, r.awaitedByDriver(u)...)
		}
	case engine.PhasePruning, engine.PhaseDeleting:
		m.Awaits = append(m.Awaits, r.awaitedDeletions(u)...)
	}
	return m
}

// unheard reports whether a unit has declared something of which the watches have not told yet: a unit, or a newer state
// of one.
func (r *Runner) unheard(u *unit) bool {
	if rec, there := r.home.cluster.Objects.Get(u.ID.Object()); there && u.Generation < rec.Generation {
		return true
	}
	if u.rendering == nil || r.cfg.Sharded {
		return false
	}
	return slices.ContainsFunc(u.rendering.children, func(child engine.UnitID) bool {
		if _, known := r.units[child]; known {
			return false
		}
		_, there := r.record(u, child.Object())
		return there
	})
}

// awaitedNeeds is what the objects of a unit need. Many objects may need the same kind.
func (r *Runner) awaitedNeeds(u *unit) []engine.Awaited {
	var awaits []engine.Awaited
	looked := map[schema.GroupVersionKind]bool{}
	for _, need := range u.needs {
		gvk := need.Kind.WithVersion(need.Version)
		switch {
		case need.What != apply.KindServed:
			a := awaitedNeed(need)
			a.Came = u.waitsInPass() && r.objectCame(u, need)
			awaits = append(awaits, a)
		case !looked[gvk]:
			looked[gvk] = true
			// Whether it comes is checked first: what comes is served a moment later.
			applied := r.kindComes(u, gvk)
			awaits = append(awaits, engine.Awaited{What: engine.AwaitingKind, Applied: applied, Came: u.goesOnWithKinds() && r.served(u, gvk)})
		}
	}
	return awaits
}

// waitsInPass reports whether a pass goes on as soon as what the objects of the unit need has come.
func (u *unit) waitsInPass() bool { return u.pass != nil && u.pass.Failure == nil }

// goesOnWithKinds reports whether the unit goes on as soon as a kind is served: one that failed over objects is tried again.
func (u *unit) goesOnWithKinds() bool {
	return u.waitsInPass() || u.last.Failure != nil && u.last.Failure.Reason == engine.ReasonFailed
}

// served reports whether a kind is served where the unit works.
func (r *Runner) served(u *unit, gvk schema.GroupVersionKind) bool {
	t := r.at(u)
	if t == nil {
		return false
	}
	_, served := t.cluster.Kinds.Lookup(gvk)
	return served
}

func awaitedNeed(need apply.Need) engine.Awaited {
	switch need.What {
	case apply.ObjectGone:
		return engine.Awaited{What: engine.AwaitingEnd}
	case apply.ObjectReleased:
		return engine.Awaited{What: engine.AwaitingUnit}
	default:
		return engine.Awaited{What: engine.AwaitingExistence}
	}
}

// kindComes reports whether a kind is about to be served: it is defined, or a definition has just been applied of which
// the watch has not told yet.
func (r *Runner) kindComes(u *unit, gvk schema.GroupVersionKind) bool {
	t := r.at(u)
	if t == nil {
		return false
	}
	kinds := t.cluster.Kinds
	if kinds.Coming(gvk) {
		return true
	}
	for id := range r.byObject {
		if id.Kind != "CustomResourceDefinition" || id.Cluster != u.Target.Cluster {
			continue
		}
		if rec, there := t.cluster.Objects.Get(id); there && !kinds.Heard(id.Name, rec.ResourceVersion) {
			return true
		}
	}
	return false
}

func (r *Runner) awaitedDependencies(u *unit) []engine.Awaited {
	var awaits []engine.Awaited
	for _, f := range r.dependencies(u) {
		d := f.Dependency
		switch {
		case f.Met:
		case d.Unit != (engine.UnitID{}):
			awaits = append(awaits, engine.Awaited{What: engine.AwaitingUnit})
		default:
			awaits = append(awaits, r.awaitedObject(u, d))
		}
	}
	return awaits
}

// awaitedObject is a dependency on an object that is no unit.
func (r *Runner) awaitedObject(u *unit, d engine.Dependency) engine.Awaited {
	rec, there := r.eyes(u).cluster.Objects.Get(d.Object)
	a := engine.Awaited{What: engine.AwaitingHealth, Verdict: rec.Health.Verdict}
	switch {
	case !there:
		a.Verdict = engine.NotFound
	case d.Expr != "":
		// What makes an expression true is unknown here.
		a.What = engine.AwaitingUnknown
	}
	return a
}

func (r *Runner) awaitedHealth(u *unit) []engine.Awaited {
	var awaits []engine.Awaited
	for _, e := range r.counted(u) {
		h := r.judge(u, e)
		switch {
		case h.Verdict == engine.Current:
		case r.childOf(u, e.ID) != nil:
			awaits = append(awaits, engine.Awaited{What: engine.AwaitingUnit})
		default:
			awaits = append(awaits, engine.Awaited{What: engine.AwaitingHealth, Verdict: h.Verdict, Bounded: !u.Health.Patient})
		}
	}
	return awaits
}

// awaitedByDriver is what a driver waits for: units, objects that the unit holds, or something that only the driver knows.
func (r *Runner) awaitedByDriver(u *unit) []engine.Awaited {
	if u.barred {
		return awaitedPeers(r.hold(u, u.barredFor))
	}
	held := make(map[engine.ObjectID]engine.Entry, len(u.inventory))
	for _, e := range u.inventory {
		held[e.ID] = e
	}
	awaits := make([]engine.Awaited, len(u.pass.Waiting))
	for i, w := range u.pass.Waiting {
		if at := slices.IndexFunc(u.needs, func(n apply.Need) bool { return n.What != apply.KindServed && n.Wait.On == w.On }); at >= 0 {
			// The driver waits for what the object needs: whether that has come is found by awaitedNeeds.
			awaits[i] = awaitedNeed(u.needs[at])
			continue
		}
		awaits[i] = engine.Awaited{What: engine.AwaitingUnknown}
		if id, may := engine.UnitIn(w.On); may && r.units[id] != nil {
			awaits[i].What, awaits[i].Came = engine.AwaitingUnit, r.childIsWell(u, held, id)
			continue
		}
		id, _ := w.On.(engine.ObjectID)
		if e, holds := held[id]; holds {
			if h := r.judge(u, e); h.Verdict != engine.Current {
				awaits[i] = engine.Awaited{What: engine.AwaitingHealth, Verdict: h.Verdict}
			}
		}
	}
	return awaits
}

// childIsWell reports whether a unit is a healthy object of another one: that one, if it waits for its health, is about
// to be told, by the watch of its status.
func (r *Runner) childIsWell(u *unit, held map[engine.ObjectID]engine.Entry, child engine.UnitID) bool {
	e, holds := held[child.Object()]
	if !holds || child == u.ID {
		return false
	}
	rec, there := r.record(u, e.ID)
	return there && !rec.Deleting && r.judge(u, e).Verdict == engine.Current
}

// awaitedDeletions are the units that deletions wait for, and the objects that a deletion does.
func (r *Runner) awaitedDeletions(u *unit) []engine.Awaited {
	h, _ := r.holdOfPrune(u)
	if u.Deleting {
		h = r.holdOfDeletion(u)
	}
	if len(h.Waits) == 0 {
		return []engine.Awaited{{What: engine.AwaitingEnd}}
	}
	return awaitedPeers(h)
}

// awaitedPeers are the units for which another one waits before it deletes. Those whose sources are being fetched for it
// come on their own.
func awaitedPeers(h engine.Hold) []engine.Awaited {
	awaits := make([]engine.Awaited, len(h.Waits))
	for i := range awaits {
		awaits[i].What = engine.AwaitingUnit
		if len(h.Late) > 0 && !h.Failing {
			awaits[i].What = engine.AwaitingUnknown
		}
	}
	return awaits
}
