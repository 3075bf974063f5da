package runner

import (
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/engine"
)

// occupantsOf are the other units with objects in what a unit would delete, by Namespace and definition.
func (r *Runner) occupantsOf(u *unit, entries []engine.Entry) map[engine.ObjectID][]engine.Occupant {
	occupants := map[engine.ObjectID][]engine.Occupant{}
	for _, e := range entries {
		if !e.ID.Encloses() || !r.goes(u, e.ID) {
			continue
		}
		for _, x := range r.units {
			if x == u || x.Deleting {
				continue
			}
			if stay := r.staying(x, r.inside(x, e.ID)); len(stay) > 0 && !r.departs(x) {
				occupants[e.ID] = append(occupants[e.ID], engine.Occupant{Unit: x.ID, Objects: stay})
			}
		}
		slices.SortFunc(occupants[e.ID], func(a, b engine.Occupant) int { return strings.Compare(a.Unit.String(), b.Unit.String()) })
	}
	return occupants
}

// keeps reports whether all that a unit declares now is applied and healthy, and what it no longer declares is there only since others have objects
// in it: what depends on the unit need not wait for these.
func (r *Runner) keeps(u *unit) bool {
	p := u.pass
	if !u.occupied || u.busy || p == nil || p.Progress != engine.Applied || p.Failure != nil || len(p.Pending) > 0 {
		return false
	}
	fact, _ := r.sources.Source(u.Source)
	return p.Key == u.wants(fact) && (!u.Health.Checked() || r.health(u).Verdict == engine.Current)
}

// goes reports whether an object is there, and is deleted when its unit deletes it: no unit wants it, and it is not marked to stay.
func (r *Runner) goes(u *unit, id engine.ObjectID) bool {
	rec, there := r.record(u, id)
	if !there || rec.Deleting || rec.Marks.Keep || rec.Marks.HandsOff {
		return false
	}
	wanted, _ := r.wanted(id, u.ID)
	return !wanted
}

// inside are the objects of a unit that are deleted with another object, whether they are there or not.
func (r *Runner) inside(u *unit, id engine.ObjectID) []engine.Entry {
	var found []engine.Entry
	for _, e := range u.inventory {
		if (id.Defines() || e.ID.Namespace == id.Name) && id.Contains(e.ID, r.pluralOf(u, id, e)) {
			found = append(found, e)
		}
	}
	return found
}

// pluralOf is what the kind of an object is called in the API, where it matters.
func (r *Runner) pluralOf(u *unit, id engine.ObjectID, e engine.Entry) string {
	t := r.at(u)
	if t == nil || !id.Defines() {
		return ""
	}
	resource, _ := t.cluster.Kinds.Lookup(e.ID.GroupKind().WithVersion(""))
	return resource.Resource
}

// unfollowed reports whether nothing is known of an object, since no watch has it.
func (r *Runner) unfollowed(u *unit, e engine.Entry) bool {
	t := r.at(u)
	return t != nil && len(t.cluster.Objects.Unwatched([]engine.Entry{e})) > 0
}

// staying are those of some objects that are there, and that their unit is not about to delete itself.
func (r *Runner) staying(u *unit, entries []engine.Entry) []engine.ObjectID {
	var left []engine.Entry
	if len(entries) > 0 && u.Prune && u.traits.Prunes && r.applies(u) && r.current(u) {
		left = r.leftover(u)
	}
	var stay []engine.ObjectID
	for _, e := range entries {
		rec, there := r.record(u, e.ID)
		pruned := slices.ContainsFunc(left, func(l engine.Entry) bool { return l.ID == e.ID }) && !u.held[e.ID]
		if !pruned && (there && !rec.Deleting || !there && r.unfollowed(u, e)) {
			stay = append(stay, e.ID)
		}
	}
	return stay
}

// departs reports whether a unit is about to be deleted: the unit that declared it has been rendered as it is now, and declares it no more.
func (r *Runner) departs(u *unit) bool {
	if r.condemned(u) {
		return true
	}
	parent := r.parentOf(u)
	return parent != nil && parent != u && parent.declares() && parent.Prune && r.applies(parent) && r.current(parent) &&
		!r.owners.Declares(u.ID.Object(), parent.ID)
}
