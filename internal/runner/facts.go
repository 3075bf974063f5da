package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// facts gathers what decides the next step of a unit.
func (r *Runner) facts(u *unit) engine.Facts {
	f := engine.Facts{
		Now: time.Now(), Unit: &u.Unit, Inputs: u.inputs, Busy: u.busy, Pass: u.pass, Last: u.last,
		IntervalAt: u.nextAt, Drift: len(u.drift) > 0, DriftAt: u.driftAt, Cycle: r.cycles[u.ID],
	}
	if f.Drift && !f.Now.Before(f.DriftAt) {
		f.DriftAt = time.Time{}
	}
	f.Source, _ = r.sources.Source(u.Source)
	if u.busy {
		return f
	}
	if u.pass == nil {
		f.Dependencies = r.factsOfDependencies(u)
	}
	if u.Deleting {
		f.Hold = r.holdOfDeletion(u)
		f.Terminating = r.terminating(u)
		f.DeletionDeadline = u.deletion.deadline
		if u.deletion.failedAt == f.Source.Revision+f.Source.Digest {
			f.DeletionRetry = u.deletion.retry
		}
		f.Awaited, f.Stirred = u.deletion.waits, u.stirred
		return f
	}
	r.barrier(u)
	f.Stirred = r.stirredNow(u)
	if u.pass != nil && u.pass.Progress == engine.Applied {
		f.Hold, f.Free = r.holdOfPrune(u)
	}
	if u.Health.Checked() && (u.pass == nil || u.pass.Progress == engine.Pruned) {
		f.Health = r.judged(u)
	}
	return f
}

// health judges the objects that count for a unit, from the records that the watches keep. Those that its expressions have not judged
// are handed to a worker.
func (r *Runner) health(u *unit) engine.UnitHealth {
	entries := r.counted(u)
	judged := make([]engine.ObjectHealth, 0, len(entries))
	var unknown []engine.ObjectID
	for _, e := range entries {
		h := r.judge(u, e)
		judged = append(judged, h)
		if h.Evaluating {
			unknown = append(unknown, e.ID)
		}
	}
	r.evaluate(u, unknown)
	h := engine.RollUp(judged)
	// What waits for the budget of its unit may wait for long.
	h.Evaluating = h.Evaluating && !u.verdicts.exhausted
	return h
}

// counted are the objects whose health counts for a unit.
func (r *Runner) counted(u *unit) []engine.Entry {
	if !u.Health.Wait {
		return u.Health.Checks
	}
	if !u.traits.Shares {
		return u.inventory
	}
	counted := make([]engine.Entry, 0, len(u.inventory))
	for _, e := range u.inventory {
		if !r.leftAlone(u, e.ID) {
			counted = append(counted, e)
		}
	}
	return counted
}

func (r *Runner) judge(u *unit, e engine.Entry) engine.ObjectHealth {
	rec, ok := r.record(u, e.ID)
	if child := r.childOf(u, e.ID); child != nil && (ok || u.Target.User == "") {
		return r.judgeUnit(e.ID, child, rec)
	}
	switch {
	case !ok && r.unreadable(u, e.ID):
		return engine.ObjectHealth{ID: e.ID, Verdict: engine.Unknown, Message: "its account may not read it"}
	case !ok:
		return engine.ObjectHealth{ID: e.ID, Verdict: engine.NotFound}
	case !u.rules.Has(e.ID.GroupKind()):
		return rec.Health
	case rec.Full == nil:
		return engine.ObjectHealth{ID: e.ID, Verdict: engine.InProgress, Message: "being read"}
	default:
		return u.verdicts.assess(rec)
	}
}

// childOf returns the unit that an object declares, when it is one of this engine and no expression
// judges it.
func (r *Runner) childOf(u *unit, id engine.ObjectID) *unit {
	if id.Cluster != "" || !r.unitKinds[id.GroupKind()] || u.rules.Has(id.GroupKind()) {
		return nil
	}
	return r.units[engine.UnitOf(id)]
}

func (r *Runner) unreadable(u *unit, id engine.ObjectID) bool {
	t := r.at(u)
	return t != nil && t.cluster.Objects.Unreadable(id)
}

// judgeUnit is the health of a unit as an object of its parent: known here before it is written.
func (r *Runner) judgeUnit(id engine.ObjectID, u *unit, rec cluster.Record) engine.ObjectHealth {
	// A failed unit is retried, so its parent goes on waiting, up to its own timeout.
	h := engine.ObjectHealth{ID: id, Verdict: engine.InProgress, Message: u.message}
	judge, judges := u.driver.(Judge)
	switch {
	case judges && !r.unitReady(u):
	case judges:
		h = judge.Judge(u.ID, rec)
		h.ID = id
	case u.Suspended:
		h.Verdict, h.Message = engine.Current, ""
	case r.unitReady(u):
		h.Verdict, h.Message = engine.Current, ""
	}
	return h
}

// unitReady reports whether the unit reached what is wanted of it now.
func (r *Runner) unitReady(u *unit) bool {
	if u.Suspended {
		return u.applied != ""
	}
	if u.last.Ended.IsZero() || u.last.Failure != nil || u.last.Key.Generation != u.Generation || len(r.cycles[u.ID]) > 0 {
		return false
	}
	if u.pass != nil && u.pass.Failure != nil {
		return false
	}
	if u.pass == nil {
		return true
	}
	return u.pass.Key.Revision == u.last.Key.Revision && u.pass.Key.Digest == u.last.Key.Digest
}

func (r *Runner) dependencies(u *unit) []engine.DependencyFact {
	facts := make([]engine.DependencyFact, len(u.Dependencies))
	for i, d := range u.Dependencies {
		facts[i] = engine.DependencyFact{Dependency: d}
		if d.Unit == (engine.UnitID{}) {
			facts[i].Met, facts[i].Message = r.dependencyMet(u, d)
		} else {
			facts[i].Met, facts[i].Message = r.unitMet(u, d)
		}
		facts[i].Evaluating = facts[i].Message == unevaluated
	}
	return facts
}

// dependencyMet reports whether an object that is no unit is as a unit wants it.
func (r *Runner) dependencyMet(u *unit, d engine.Dependency) (bool, string) {
	met, why := objectMet(r.eyes(u), d.Object)
	rec, there := r.eyes(u).cluster.Objects.Get(d.Object)
	switch {
	case !there, !d.Exists && d.Expr == "":
		return met, why
	case d.Expr == "":
		return true, ""
	case rec.Full == nil:
		return false, "being read"
	default:
		fields := rec.Full.Object
		return u.answers.answer(d, question{versionOf(fields), u.ready[exprKey(d)], fields})
	}
}

func objectMet(t *target, id engine.ObjectID) (bool, string) {
	objects := t.cluster.Objects
	rec, ok := objects.Get(id)
	switch {
	case !ok && objects.Unreadable(id):
		return false, "its account may not read it"
	case !ok:
		return false, "not found"
	case rec.Health.Verdict != engine.Current:
		return false, "not ready"
	default:
		return true, ""
	}
}

func (r *Runner) unitMet(u *unit, d engine.Dependency) (bool, string) {
	dep, ok := r.units[d.Unit]
	if !ok && r.cfg.Sharded {
		return r.foreignMet(u, d)
	}
	if !ok {
		return false, "not found"
	}
	if d.Expr != "" {
		return r.exprMet(u, d)
	}
	if !r.unitReady(dep) && !r.keeps(dep) {
		return false, "not ready"
	}
	if judge, judges := dep.driver.(Judge); judges {
		rec, _ := r.home.cluster.Objects.Get(dep.ID.Object())
		if h := judge.Judge(dep.ID, rec); h.Verdict != engine.Current {
			return false, strings.TrimSuffix("not healthy: "+h.Message, ": ")
		}
	}
	if dep.Source == u.Source && u.Sourced() {
		fact, _ := r.sources.Source(u.Source)
		switch late := r.late(dep, fact, map[*unit]bool{}); late {
		case nil:
		case dep:
			return false, fmt.Sprintf("has not applied %q yet", fact.Revision)
		default:
			return false, fmt.Sprintf("%s, on which it depends, has not applied %q yet", late.ID, fact.Revision)
		}
	}
	return true, ""
}

// late is the unit that has not applied what their source has, of one and those of the same source on which it depends; nil when each has. One
// that has applied a revision which came back may not have come to the one between, which those on which it depends have applied.
func (r *Runner) late(u *unit, fact engine.SourceFact, seen map[*unit]bool) *unit {
	if (u.applied != fact.Revision || !u.Suspended && !fact.In(u.last.Key)) && !r.keeps(u) {
		return u
	}
	seen[u] = true
	if u.Suspended {
		return nil
	}
	for _, d := range u.Dependencies {
		dep := r.units[d.Unit]
		if dep == nil || d.Expr != "" || dep.Source != u.Source || seen[dep] {
			continue
		}
		if late := r.late(dep, fact, seen); late != nil {
			return late
		}
	}
	return nil
}

// objectSeen reports whether a unit can see an object, and else why not.
func (r *Runner) objectSeen(u *unit, id engine.ObjectID) (bool, string) {
	objects := r.eyes(u).cluster.Objects
	if _, ok := objects.Get(id); ok {
		return true, ""
	}
	if objects.Unreadable(id) {
		return false, "its account may not read it"
	}
	return false, "not read yet"
}

func (r *Runner) exprMet(u *unit, d engine.Dependency) (bool, string) {
	dep, self := r.dialects.Object(d.Unit), r.dialects.Object(u.ID)
	if id := d.Unit.Object(); r.looksInto(u, d) {
		// The account has to be able to see what it asks about.
		if met, why := r.objectSeen(u, id); !met {
			return false, why
		}
	}
	if dep == nil || self == nil {
		return false, "not found"
	}
	return exprHolds(u, d, dep, self)
}

// foreignMet reports whether a unit that another engine serves is ready, by what its object says.
func (r *Runner) foreignMet(u *unit, d engine.Dependency) (bool, string) {
	id := d.Unit.Object()
	rec, ok := r.home.cluster.Objects.Get(id)
	self := r.dialects.Object(u.ID)
	if !ok || d.Expr == "" || rec.Full == nil || self == nil {
		return objectMet(r.home, id)
	}
	if r.looksInto(u, d) {
		if met, why := r.objectSeen(u, id); !met {
			return false, why
		}
	}
	return exprHolds(u, d, rec.Full.Object, self)
}

// exprHolds reports whether the expression of a unit holds of another one.
func exprHolds(u *unit, d engine.Dependency, dep, self map[string]any) (bool, string) {
	return u.answers.answer(d, question{versionOf(dep, self), u.ready[exprKey(d)], map[string]any{"dep": dep, "self": self}})
}
