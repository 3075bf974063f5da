package runner

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Upsert reports whether a unit is declared, or declared differently.
func (r *Runner) Upsert(declared engine.Unit) {
	r.mail.post(func() { r.guarded(declared.ID, func() { r.upsert(declared) }) })
}

func (r *Runner) upsert(declared engine.Unit) {
	driver := r.drivers[declared.ID.GroupKind()]
	if driver == nil {
		r.cfg.Log.Info("no driver serves the kind of a unit; it is ignored", "unit", declared.ID.String())
		return
	}
	r.scope(&declared)
	declared.Dependencies = r.resolve(declared.Dependencies)
	u, known := r.units[declared.ID]
	if known && u.UID != declared.UID {
		r.remove(declared.ID)
		known = false
	}
	if !known {
		u = &unit{since: time.Now(), driver: driver, traits: driver.Traits(), verdicts: newVerdicts(), answers: newAnswers()}
		r.units[declared.ID], r.ordered = u, nil
		r.adopt(u, declared)
	}
	u.Version, u.Inventory = declared.Version, declared.Inventory
	if !known || u.differs(declared) {
		r.unlink(u)
		r.retarget(u, declared.Target)
		if u.Suspended && !declared.Suspended {
			// Another engine may have served it in the meantime.
			r.takeUp(u, declared.Inventory, engine.Recorded)
		}
		if known && u.refusal != declared.Invalid {
			// How it ended was about another declaration.
			u.last = engine.Outcome{}
		}
		if declared.Deleting && (!known || !u.Deleting) {
			u.deletion.person = r.byPerson(u, known)
		}
		u.Unit, u.refusal = declared, declared.Invalid
		r.compile(u)
		r.link(u)
		r.attach(u)
		r.regraph = true
		r.mark(u.ID)
		r.wakeHolding()
	}
	// A dependent may read the status of the object itself.
	r.markAll(r.dependents[declared.ID])
}

// differs reports whether a declaration asks for another thing than the one before it.
func (u *unit) differs(declared engine.Unit) bool {
	return u.Generation != declared.Generation || u.Requested != declared.Requested ||
		u.Suspended != declared.Suspended || u.Source != declared.Source || u.Target != declared.Target || u.Deleting != declared.Deleting ||
		u.refusal != declared.Invalid || u.DeletionHold != declared.DeletionHold || u.Steered != declared.Steered || !slices.Equal(u.Dependencies, declared.Dependencies)
}

// resolve has dependencies on objects that declare units be dependencies on these.
func (r *Runner) resolve(dependencies []engine.Dependency) []engine.Dependency {
	resolved := slices.Clone(dependencies)
	for i, d := range resolved {
		if d.Unit == (engine.UnitID{}) && d.Object.Cluster == "" && r.unitKinds[d.Object.GroupKind()] {
			resolved[i].Unit, resolved[i].Object = engine.UnitOf(d.Object), engine.ObjectID{}
		}
	}
	return resolved
}

// retarget records that a unit is about to work elsewhere. What it holds in the previous cluster stays
// there: it is unknown how to reach that from now on.
func (r *Runner) retarget(u *unit, to engine.Target) {
	if u.Target == to {
		return
	}
	if u.Target.Cluster != to.Cluster && len(u.inventory) > 0 {
		r.note(u, u.phase, fmt.Sprintf("%d objects stay in the previous cluster", len(u.inventory)), false)
		r.drop(u, u.inventory)
		u.rendering, u.looked = nil, engine.Key{}
		r.owners.Declare(u.ID, nil)
	}
	u.Target, u.attached = to, nil
	r.retire()
}

// adopt takes over what the declaration says was applied before this process began.
func (r *Runner) adopt(u *unit, declared engine.Unit) {
	u.Unit = declared
	u.applied = declared.Applied
	r.setInventory(u, declared.Inventory)
	for _, e := range declared.Inventory {
		r.owners.Record(e.ID, declared.ID)
	}
}

func (r *Runner) compile(u *unit) {
	rules, ready, err := rulesOf(&u.Unit)
	if err != nil && u.Invalid == (engine.Invalid{}) {
		u.Invalid = engine.Invalid{Reason: engine.ReasonInvalid, Message: err.Error()}
	}
	u.rules, u.ready, u.verdicts, u.answers = rules, ready, newVerdicts(), newAnswers()
}

// link enters the unit into the indexes.
func (r *Runner) link(u *unit) {
	r.readers = nil
	if u.Sourced() {
		r.bySource.add(u.Source, u.ID)
	}
	for _, d := range u.Dependencies {
		if d.Unit != (engine.UnitID{}) {
			r.dependents.add(d.Unit, u.ID)
		}
	}
	for _, d := range u.Dependencies {
		if d.Expr != "" && d.Unit == (engine.UnitID{}) {
			r.eyes(u).cluster.Objects.KeepFull(d.Object.GroupKind())
		}
	}
	for _, id := range r.seen(u) {
		r.follow(r.eyes(u), u, id, "")
	}
	for _, id := range r.elsewhereServed(u) {
		r.follow(r.home, u, id, "")
	}
	for _, check := range u.Health.Checks {
		r.follow(r.at(u), u, check.ID, check.Version)
	}
	for _, read := range u.Reads {
		r.follow(r.home, u, read, "v1")
	}
}

// follow keeps the record of an object current that the unit checks, as soon as there is a connection.
func (r *Runner) follow(t *target, u *unit, id engine.ObjectID, version string) {
	r.byObject.add(id, u.ID)
	if t != nil && !t.cluster.Objects.Follow(id, version) {
		r.byKind.add(kindIn{id.GroupKind(), id.Cluster}, u.ID)
	}
}

func (r *Runner) unlink(u *unit) {
	r.readers = nil
	r.bySource.remove(u.Source, u.ID)
	for _, d := range u.Dependencies {
		r.dependents.remove(d.Unit, u.ID)
	}
	for _, id := range append(r.seen(u), r.elsewhereServed(u)...) {
		if !u.owned[id] {
			r.byObject.remove(id, u.ID)
		}
	}
	for _, check := range u.Health.Checks {
		if !u.owned[check.ID] {
			r.byObject.remove(check.ID, u.ID)
		}
	}
	for _, read := range u.Reads {
		r.byObject.remove(read, u.ID)
	}
}

// Remove reports whether a unit's object is gone.
func (r *Runner) Remove(id engine.UnitID) {
	r.mail.post(func() { r.guarded(id, func() { r.remove(id) }) })
}

func (r *Runner) remove(id engine.UnitID) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	r.note(u, engine.PhaseDeleting, "deleted", false)
	r.setTimer(u, time.Time{})
	r.unlink(u)
	r.owners.Declare(id, nil)
	for _, object := range r.owners.Of(id) {
		r.letGo(u, object)
	}
	r.setInventory(u, nil)
	for _, object := range u.deletion.followed {
		r.byObject.remove(object, id)
	}
	delete(r.units, id)
	r.ordered = nil
	delete(r.holding, id)
	r.retire()
	r.regraph = true
	r.markAll(r.dependents[id])
	r.wakeHolding()
}

// SourceChanged reports whether a source has something new to say.
func (r *Runner) SourceChanged(id engine.SourceID) {
	r.mail.post(func() {
		r.readers = nil
		r.markAll(r.bySource[id])
		r.wakeHolding()
	})
}

// ObjectChanged reports whether an object of the cluster changed, came or went.
func (r *Runner) ObjectChanged(id engine.ObjectID) {
	for _, of := range r.reading {
		of.ObjectChanged(id)
	}
	r.mail.post(func() {
		for unitID := range r.byObject[id] {
			if u, ok := r.units[unitID]; ok {
				r.guarded(unitID, func() { r.objectChanged(u, id) })
			}
		}
	})
}

func (r *Runner) objectChanged(u *unit, id engine.ObjectID) {
	if slices.Contains(u.Reads, id) {
		r.readChanged(u, id)
	}
	for _, need := range u.needs {
		if need.Object == id && u.pass != nil && !u.busy && r.objectCame(u, need) {
			r.resume(u)
		}
	}
	r.steer(u, id)
	if _, there := r.record(u, id); !there {
		// A Namespace that another unit would delete may be empty by now.
		r.markAll(r.holding)
	}
	u.stirred = true
	r.observed(u)
	if u.owned[id] {
		if u.busy {
			if u.suspect == nil {
				u.suspect = map[engine.ObjectID]bool{}
			}
			u.suspect[id] = true
			return
		}
		r.consider(u, id)
	}
	r.mark(u.ID)
}

// observed writes the state of a unit again, and wakes the units it is an object of. A pass that
// has just begun says how it is itself.
func (r *Runner) observed(u *unit) {
	if !u.Observed || u.busy || u.pass != nil && !u.pass.Recheck && time.Since(u.pass.Started) < slow {
		return
	}
	r.markAll(r.byObject[u.ID.Object()])
	r.markAll(r.dependents[u.ID])
	if wait := u.paces.observe.wait(len(u.inventory)); wait > 0 {
		r.later(&u.paces.observe, wait, func() { r.observed(u) })
		return
	}
	u.paces.observe.at = time.Now()
	r.report(u, Report{Observed: true})
}

// Stir reports whether something changed that a driver may wait for, or that its status may be different.
func (r *Runner) Stir(id engine.UnitID) {
	r.mail.post(func() {
		if u, ok := r.units[id]; ok {
			u.stirred = true
			r.observed(u)
			r.mark(id)
		}
	})
}

// Reconnected reports whether the cluster answers again: what failed because it did not is tried at once.
func (r *Runner) Reconnected() { r.reconnected("") }

func (r *Runner) reconnected(cluster string) {
	r.mail.post(func() {
		now := time.Now()
		for id, u := range r.units {
			if f := u.last.Failure; u.Target.Cluster == cluster && f != nil && (f.Transient || f.Refused) && f.RetryAt.After(now) {
				f.RetryAt, u.attempts = now, 0
				r.mark(id)
			}
		}
	})
}

// KindChanged reports whether a kind has become served, or is no longer.
func (r *Runner) KindChanged(gk schema.GroupKind) {
	r.mail.post(func() { r.kindChanged(kindIn{gk, ""}) })
}

func (r *Runner) kindChanged(kind kindIn) {
	for _, t := range r.targets.all(kind.cluster) {
		if _, served := t.cluster.Kinds.Lookup(kind.WithVersion("")); !served {
			t.cluster.Objects.StopKind(kind.GroupKind)
		}
	}
	base := r.targets.get(engine.Target{Cluster: kind.cluster})
	if base == nil {
		return
	}
	if _, served := base.cluster.Kinds.Lookup(kind.WithVersion("")); !served {
		return
	}
	r.rescopeAll(kind.cluster)
	waiting := r.byKind[kind]
	delete(r.byKind, kind)
	for id := range waiting {
		u, ok := r.units[id]
		if !ok {
			continue
		}
		r.refollow(u)
		u.stirred = true
		switch {
		case u.pass != nil && !u.busy:
			r.resume(u)
		case u.last.Failure != nil && u.last.Failure.Reason == engine.ReasonFailed:
			u.last.Failure.RetryAt = time.Now()
		}
		r.mark(id)
	}
}

// refollow follows the objects of a unit again, when a kind is served that was not before.
func (r *Runner) refollow(u *unit) {
	r.unlink(u)
	r.scope(&u.Unit)
	r.link(u)
}
