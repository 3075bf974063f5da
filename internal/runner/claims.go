package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// claims say which of the objects that a unit is about to apply others have.
type claims struct {
	// conflicts belong to other units, and of disputes fields do that the unit declares otherwise.
	conflicts map[engine.ObjectID]engine.UnitID
	disputes  map[engine.ObjectID][]engine.Dispute
	// shared are objects that other units own too.
	shared map[engine.Entry]sharing
	// deferred are about to be released, or decided upon.
	deferred map[engine.ObjectID]Deferred
	// contested are in the status of other units: what they are marked as tells whose they are.
	contested map[engine.Entry][]rival
}

// rival is another unit, and how its objects are marked.
type rival struct {
	unit  engine.UnitID
	names apply.Names
}

// reserve has a unit own what it is about to apply, and returns what it may not apply. What it has not applied in the
// end is given back by giveBack.
func (r *Runner) reserve(u *unit, rendering *rendering) claims {
	c := claims{
		conflicts: map[engine.ObjectID]engine.UnitID{}, disputes: map[engine.ObjectID][]engine.Dispute{},
		shared: map[engine.Entry]sharing{}, deferred: map[engine.ObjectID]Deferred{}, contested: map[engine.Entry][]rival{},
	}
	for _, e := range rendering.entries {
		if slices.Contains(rendering.orphaned, e.ID) || u.unpermitted[e.ID] {
			continue
		}
		switch wish := r.contention(u, e.ID); wish.standing {
		case conflicting:
			c.conflicts[e.ID] = wish.owner
		case disputing:
			c.disputes[e.ID] = wish.disputes
		case waiting:
			c.deferred[e.ID] = Deferred{wish.owner, wish.why}
		default:
			r.reserveOne(u, e, wish, c)
		}
	}
	return c
}

// reserveOne has a unit own an object, alone or with others. Those that give it away own it no longer.
func (r *Runner) reserveOne(u *unit, e engine.Entry, wish wish, c claims) {
	for _, owner := range r.owners.Owners(e.ID) {
		if owner != u.ID && !wish.sharing.has(owner) && r.owners.Grip(e.ID, owner) == engine.Held {
			r.owners.Loosen(e.ID, owner, engine.Recorded)
		}
	}
	if wish.standing == contested {
		if rivals := r.rivals(u, e.ID); len(rivals) > 0 {
			c.contested[e] = rivals
		}
	}
	if len(wish.sharing.declared) > 0 {
		c.shared[e] = wish.sharing
	}
	switch {
	case u.refused[e.ID]:
	case len(wish.sharing.declared) > 0:
		r.owners.Join(e.ID, u.ID)
	default:
		r.owners.Reserve(e.ID, u.ID)
	}
}

// rivals are the other units whose status names an object, and that would not own it together with this one.
func (r *Runner) rivals(u *unit, id engine.ObjectID) []rival {
	var rivals []rival
	for _, other := range r.owners.Recorded(id, u.ID) {
		if known := r.units[other]; known != nil && !r.partners(known, u, id) && !r.leaves(known, u, id) && !r.refuted(known, id) {
			rivals = append(rivals, rival{other, r.names[known.Target.Owner]})
		}
	}
	return rivals
}

// seize has a unit hold an object that it has applied. Others that have had it do not hold it any more.
func (r *Runner) seize(u *unit, e engine.Entry) {
	if !r.owners.Hold(e.ID, u.ID) {
		return
	}
	for _, former := range r.owners.Recorded(e.ID, u.ID) {
		if by := r.units[former]; by != nil && !r.partners(by, u, e.ID) {
			r.note(by, by.phase, e.ID.String()+" is handed over to "+u.ID.String(), false)
			r.drop(by, []engine.Entry{e})
		}
	}
}

// giveBack ends the claims of a unit on what it was about to apply, and has not applied. Those that wait for it are
// woken by what is settled then.
func (r *Runner) giveBack(u *unit) {
	for _, id := range r.owners.Of(u.ID) {
		r.owners.Written(id, u.ID)
		if r.owners.Grip(id, u.ID) != engine.Applying {
			continue
		}
		to := engine.Loose
		if u.owned[id] {
			to = engine.Recorded
		}
		r.owners.Loosen(id, u.ID, to)
	}
}

// holdActed has a unit hold what its driver has brought about. Of objects that it declares, that is what was written or
// is marked as its own: a comparison names all that are there.
func (r *Runner) holdActed(u *unit, acted Acted) {
	written := make(map[engine.ObjectID]bool, len(acted.Written))
	for _, o := range acted.Written {
		written[engine.IDOf(o).In(u.Target.Cluster)] = true
	}
	entries := acted.Entries
	if u.declares() {
		// A hook is declared and never held for good.
		entries = engine.Union(entries, u.rendering.entries)
	}
	for _, e := range entries {
		switch {
		case !u.declares() || written[e.ID] || r.marked(u, e.ID):
			r.seize(u, e)
		case !u.owned[e.ID]:
			r.letGo(u, e.ID)
		}
	}
}

// forsake releases what a unit has created and neither declares nor holds any more, such as a hook.
func (r *Runner) forsake(u *unit) {
	for _, id := range r.owners.Of(u.ID) {
		if !u.owned[id] && !r.owners.Declares(id, u.ID) {
			r.letGo(u, id)
		}
	}
}

// marked reports whether a live object is known to be marked as that of a unit.
func (r *Runner) marked(u *unit, id engine.ObjectID) bool {
	t := r.at(u)
	if t == nil {
		return false
	}
	marked, _ := t.applier.Owns(u.ID, id)
	return marked
}

// refuted reports whether a live object is known to be marked otherwise than as that of a unit.
func (r *Runner) refuted(u *unit, id engine.ObjectID) bool {
	t := r.at(u)
	if t == nil {
		return false
	}
	marked, known := t.applier.Owns(u.ID, id)
	return known && !marked
}

// contention is how the wish of a unit to apply an object stands against what others have of it.
type contention int

const (
	// yielded: it has no owner, or the owner gives it away.
	yielded contention = iota
	// together: other units own it too, and declare nothing otherwise.
	together
	// contested: the status of another unit names it.
	contested
	// waiting: it is about to be released, or decided upon.
	waiting
	// disputing: other units own fields of it that the unit declares otherwise.
	disputing
	// conflicting: it belongs to another unit.
	conflicting
)

// wish is how the wish of a unit to apply an object stands, and against whom.
type wish struct {
	standing contention
	owner    engine.UnitID
	why      string
	disputes []engine.Dispute
	sharing  sharing
}

func (r *Runner) contention(u *unit, id engine.ObjectID) wish {
	owners := r.owners.Owners(id)
	for _, ownerID := range owners {
		if ownerID == u.ID {
			// Those that came later have to give way.
			break
		}
		owner := r.units[ownerID]
		if owner == nil || r.partners(owner, u, id) {
			continue
		}
		if w := r.against(u, owner, id); w.standing != yielded {
			return w
		}
	}
	if w := r.beside(u, id); w.standing != yielded {
		return w
	}
	if len(owners) > 0 {
		return wish{}
	}
	rivals := r.rivals(u, id)
	for _, other := range rivals {
		by := r.units[other.unit]
		if u.traits.Shares && by.traits.Shares && r.marked(by, id) && r.awaits(u, by) {
			return wish{standing: waiting, owner: by.ID, why: fmt.Sprintf("it belongs to %s, which has not read this revision yet", by.ID)}
		}
	}
	if len(rivals) > 0 {
		return wish{standing: contested}
	}
	return wish{}
}

// leaves reports whether a unit whose status names an object leaves it to another one, since it declares it no more.
func (r *Runner) leaves(by, u *unit, id engine.ObjectID) bool {
	return by.traits.Shares && u.traits.Shares && by.Target == u.Target && r.yields(by, id)
}

// against is how the wish of a unit stands against an owner that would not share the object with it.
func (r *Runner) against(u, owner *unit, id engine.ObjectID) wish {
	w := wish{standing: waiting, owner: owner.ID}
	applying := r.owners.Grip(id, owner.ID) == engine.Applying
	switch {
	case !u.traits.Shares && applying:
		// Its driver compares again when the object changes.
		w.standing = yielded
	case applying && owner.busy:
		w.why = fmt.Sprintf("%s is applying it", owner.ID)
	case r.yields(owner, id) && owner.busy:
		w.why = fmt.Sprintf("it belongs to %s, which is about to release it", owner.ID)
	case r.yields(owner, id):
		w.standing = yielded
	case r.condemned(u), owner.Deleting:
		w.why = fmt.Sprintf("it belongs to %s", owner.ID)
	case r.awaits(u, owner):
		w.why = fmt.Sprintf("it belongs to %s, which has not read this revision yet", owner.ID)
	default:
		w.standing = conflicting
	}
	return w
}

// yields reports whether the owner of an object gives it to the unit that applies it: it is being deleted, or about to be, or it
// does not declare the object any more in the revision that its source has now.
func (r *Runner) yields(owner *unit, id engine.ObjectID) bool {
	switch {
	case owner.Suspended:
		return false
	case owner.Deleting:
		// What a driver takes away is not told by what we know of it.
		return owner.traits.Prunes
	case r.condemned(owner):
		return true
	default:
		return r.current(owner) && (owner.rendering.absent() || owner.rendering.err == nil && r.unsettled(owner) == "" &&
			!r.owners.Declares(id, owner.ID) && (owner.rendering.declared || r.hasClaimed(owner)))
	}
}

// letGo takes an object from a unit, and wakes the next one that declares it.
func (r *Runner) letGo(u *unit, id engine.ObjectID) {
	owner, _ := r.owners.Owner(id)
	by, owned := r.units[owner]
	if t := r.at(u); t != nil && (!owned || by == u || by.Target != u.Target) {
		// Otherwise what is remembered is what the other one has applied.
		t.applier.Forget(id)
	}
	owns := r.owners.Grip(id, u.ID) >= engine.Applying
	heir, changed := r.owners.Loosen(id, u.ID, engine.Loose)
	switch first, left := r.owners.Owner(id); {
	case changed:
		r.bequeath(u, id, heir)
	case owns && left:
		// What only this unit declared of it goes with its next apply.
		r.revise(first, id)
	}
}

// bequeath notifies a unit that it may apply an object which another one has released.
func (r *Runner) bequeath(u *unit, id engine.ObjectID, heir engine.UnitID) {
	r.note(u, u.phase, id.String()+" is handed over to "+heir.String(), false)
	to, ok := r.units[heir]
	if !ok {
		return
	}
	if to.pass != nil && !to.busy {
		r.resume(to)
	}
	if to.last.Failure != nil {
		to.last.Failure.RetryAt = time.Now()
	}
	if !to.traits.Shares {
		// Its driver has not checked the object since it became its own.
		to.stirred = true
	}
	if !to.traits.Shares || r.owners.Grip(id, heir) >= engine.Recorded {
		r.revise(heir, id)
	}
	r.mark(heir)
}
