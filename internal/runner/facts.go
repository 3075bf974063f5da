package runner

import (
	"fmt"
	"time"

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
	f.Source, _ = r.cfg.Sources.Source(u.Source)
	if u.busy {
		return f
	}
	if u.pass == nil {
		f.Dependencies = r.dependencies(u)
	}
	if u.Deleting {
		f.Hold = r.holdDeletion(u)
		f.Terminating = r.terminating(u)
		f.DeletionDeadline, f.DeletionRetry = u.deletion.deadline, u.deletion.retry
		return f
	}
	if u.pass != nil && u.pass.Progress == engine.Applied {
		f.Hold = r.hold(u)
	}
	if u.Health.Checked() && (u.pass == nil || u.pass.Progress == engine.Pruned) {
		f.Health = r.health(u)
	}
	return f
}

// health judges the objects that count for a unit, from the records that the watches keep.
func (r *Runner) health(u *unit) engine.UnitHealth {
	entries := u.Health.Checks
	if u.Health.Wait {
		entries = u.inventory
	}
	judged := make([]engine.ObjectHealth, 0, len(entries))
	for _, e := range entries {
		judged = append(judged, r.judge(u, e))
	}
	return engine.RollUp(judged)
}

func (r *Runner) judge(u *unit, e engine.Entry) engine.ObjectHealth {
	if child, ok := r.units[engine.UnitID{Kind: e.ID.Kind, Namespace: e.ID.Namespace, Name: e.ID.Name}]; ok &&
		r.cfg.UnitKinds[e.ID.GroupKind()] && !u.rules.Has(e.ID.GroupKind()) {
		return r.judgeUnit(e.ID, child)
	}
	rec, ok := r.cluster.Objects.Get(e.ID)
	switch {
	case !ok:
		return engine.ObjectHealth{ID: e.ID, Verdict: engine.NotFound}
	case !u.rules.Has(e.ID.GroupKind()):
		return rec.Health
	case rec.Full == nil:
		return engine.ObjectHealth{ID: e.ID, Verdict: engine.InProgress, Message: "being read"}
	default:
		return u.rules.Assess(rec.Full)
	}
}

// judgeUnit is the health of a unit as an object of its parent: known here before it is written.
func (r *Runner) judgeUnit(id engine.ObjectID, u *unit) engine.ObjectHealth {
	// A failed unit is retried, so its parent goes on waiting, up to its own timeout.
	h := engine.ObjectHealth{ID: id, Verdict: engine.InProgress, Message: u.message}
	switch {
	case u.Suspended:
		h.Verdict, h.Message = engine.Current, ""
	case r.unitReady(u):
		h.Verdict, h.Message = engine.Current, ""
	}
	return h
}

// unitReady tells whether the unit reached what is wanted of it now.
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
			facts[i].Met, facts[i].Message = r.objectMet(d.Object)
			continue
		}
		facts[i].Met, facts[i].Message = r.unitMet(u, d)
	}
	return facts
}

func (r *Runner) objectMet(id engine.ObjectID) (bool, string) {
	rec, ok := r.cluster.Objects.Get(id)
	switch {
	case !ok:
		return false, "it does not exist"
	case rec.Health.Verdict != engine.Current:
		return false, "it is not ready"
	default:
		return true, ""
	}
}

func (r *Runner) unitMet(u *unit, d engine.Dependency) (bool, string) {
	dep, ok := r.units[d.Unit]
	if !ok {
		return false, "it does not exist"
	}
	if d.Expr != "" {
		return r.exprMet(u, d)
	}
	if !r.unitReady(dep) {
		return false, "it is not ready"
	}
	if dep.Source == u.Source {
		fact, _ := r.cfg.Sources.Source(u.Source)
		if dep.applied != fact.Revision || !dep.Suspended && !fact.In(dep.last.Key) {
			return false, fmt.Sprintf("it has not applied %q yet", fact.Revision)
		}
	}
	return true, ""
}

func (r *Runner) exprMet(u *unit, d engine.Dependency) (bool, string) {
	dep, self := r.cfg.Dialect.Object(d.Unit), r.cfg.Dialect.Object(u.ID)
	if dep == nil || self == nil {
		return false, "it does not exist"
	}
	met, err := u.ready[d.Expr].Ready(dep, self)
	switch {
	case err != nil:
		return false, "readyExpr: " + err.Error()
	case !met:
		return false, "readyExpr is false"
	default:
		return true, ""
	}
}
