package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// current tells whether a unit has been rendered as it is declared, from what its source has now.
func (r *Runner) current(u *unit) bool {
	if u.rendering == nil || u.rendering.key.Generation != u.Generation {
		return false
	}
	fact, _ := r.sources.Source(u.Source)
	return !u.Sourced() && !u.Driven || fact.In(u.rendering.key)
}

// absent tells whether what a unit renders is not there in the revision: it declares nothing of it.
func (r *rendering) absent() bool { return r != nil && errors.Is(r.err, render.ErrPathNotFound) }

// unsettled says why it is unknown yet what a unit claims of the revision that its source has
// now; it is empty when that is known, or when the unit is about to be deleted and claims nothing more.
func (r *Runner) unsettled(u *unit) string { return r.unsettledBelow(u, maxDepth) }

// unsettledBelow is unsettled, with a bound on how far down a family is looked.
func (r *Runner) unsettledBelow(u *unit, depth int) string {
	why := r.unread(u)
	if why == "" && !u.Suspended && !u.Deleting && !u.rendering.absent() {
		why, _ = r.expecting(u, depth)
	}
	if why == "" || r.condemned(u) {
		return ""
	}
	return why
}

// unread says why it is unknown what a unit itself declares.
func (r *Runner) unread(u *unit) string {
	switch {
	case u.Suspended, u.Deleting:
		return ""
	case !r.current(u) && !u.Sourced() && !u.Driven:
		return fmt.Sprintf("%s has not been rendered yet as declared", u.ID)
	case !r.current(u):
		fact, _ := r.sources.Source(u.Source)
		why := fmt.Sprintf("%s has not read revision %q yet", u.ID, fact.Revision)
		if u.underway() {
			return why
		}
		return why + because(u.message)
	case u.rendering.err != nil && !u.rendering.absent():
		return fmt.Sprintf("%s cannot be rendered at this revision and may claim what would be deleted", u.ID) + because(u.rendering.err.Error())
	}
	return ""
}

// becauseLength bounds how much of the cause of another unit a message quotes.
const becauseLength = 200

// because adds a cause to a message, in one line.
func because(cause string) string {
	cause = strings.Join(strings.Fields(cause), " ")
	if runes := []rune(cause); len(runes) > becauseLength {
		cause = string(runes[:becauseLength]) + "…"
	}
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// expecting says which unit, of those that a unit declares, is not known here as declared.
func (r *Runner) expecting(u *unit, depth int) (why string, child engine.UnitID) {
	if u.rendering == nil {
		return "", engine.UnitID{}
	}
	for _, child := range u.rendering.children {
		if why := r.unborn(u, child, depth); why != "" {
			return why, child
		}
	}
	return "", engine.UnitID{}
}

// unborn says whether a unit that another one declares is not known here as declared.
func (r *Runner) unborn(parent *unit, child engine.UnitID, depth int) string {
	id := child.Object()
	rec, exists := r.record(parent, id)
	c, known := r.units[child]
	switch {
	case !exists && parent.last.Failure != nil && parent.pass == nil:
		// The parent tried and could not make it; what it would claim cannot be known, and
		// holding on for it would hold for ever.
		return ""
	case !exists || !known || c.Generation < rec.Generation:
		return fmt.Sprintf("%s declares %s, which has not started yet", parent.ID, child)
	case !c.Sourced() && !c.Driven && parent.pass != nil && parent.pass.Progress < engine.Applied:
		return fmt.Sprintf("%s has not applied %s yet", parent.ID, child)
	case !c.Sourced() && !c.Driven && depth > 0:
		// What it claims follows from its declaration, which has been read.
		return r.unsettledBelow(c, depth-1)
	default:
		return ""
	}
}

// condemned tells whether a unit is about to be deleted, since what declared it declares it no more: it claims
// nothing that it has not got already.
func (r *Runner) condemned(u *unit) bool { return r.condemnedBelow(u, maxDepth) }

func (r *Runner) condemnedBelow(u *unit, depth int) bool {
	id := u.ID.Object()
	parent := r.parentOf(u)
	if parent == nil || parent == u || parent.Suspended || parent.Driven || depth == 0 {
		return false
	}
	holds := func(entries []engine.Entry) bool {
		return slices.ContainsFunc(entries, func(e engine.Entry) bool { return e.ID == id })
	}
	switch {
	case parent.Deleting || r.condemnedBelow(parent, depth-1):
		if !parent.deletes() || !holds(parent.inventory) {
			return false
		}
	case !parent.Prune || !r.current(parent) || parent.rendering.key.Inputs != parent.inputs || !holds(r.leftover(parent)):
		return false
	}
	return !r.wantedBelow(id, parent.ID, depth-1) && r.takesAlong(parent, u)
}

// takesAlong tells whether a unit deletes the object of another one, by how that is marked.
func (r *Runner) takesAlong(parent, u *unit) bool {
	t, object := r.at(parent), r.dialects.Object(u.ID)
	return t != nil && object != nil && t.applier.Deletes(parent.ID, &unstructured.Unstructured{Object: object})
}

// wanted tells whether another unit declares an object or has it, and will still be there. What a status says alone
// counts unless the object is known to have other marks.
func (r *Runner) wanted(id engine.ObjectID, but engine.UnitID) bool {
	return r.wantedBelow(id, but, maxDepth)
}

func (r *Runner) wantedBelow(id engine.ObjectID, but engine.UnitID, depth int) bool {
	return slices.ContainsFunc(r.owners.Others(id, but), func(by engine.UnitID) bool {
		u, known := r.units[by]
		if !known || u.Deleting {
			return false
		}
		if r.owners.Grip(id, by) < engine.Applying && !r.owners.Declares(id, by) && r.refuted(u, id) && !r.mayShare(u, id, but) {
			return false
		}
		return !r.condemnedBelow(u, depth)
	})
}

// holders are the units for which one has to wait with its deletions, and why: they are of the same source, and
// may be about to claim what would be deleted.
func (r *Runner) holders(u *unit) []engine.Wait {
	if u.Driven || !u.Prune || len(r.leftover(u)) == 0 {
		return nil
	}
	return r.holdersOf(u)
}

// holdersOfDeletion is holders for a unit that is itself deleted.
func (r *Runner) holdersOfDeletion(u *unit) []engine.Wait {
	if u.Driven || u.deletion.pruned || u.Suspended || !u.deletes() || len(u.inventory) == 0 {
		return nil
	}
	if fact, _ := r.sources.Source(r.kin(u)); fact.Revision == "" {
		// Without a source no unit can be about to claim anything.
		return nil
	}
	return r.holdersOf(u)
}

func (r *Runner) holdersOf(u *unit) []engine.Wait {
	var waits []engine.Wait
	stuck := true
	if why := r.unsettledChildren(u); why != "" && !u.Deleting {
		waits = append(waits, engine.Wait{On: u.ID.String(), Reason: why})
	}
	for peer := range r.bySource[r.kin(u)] {
		other := r.units[peer]
		if peer == u.ID || elsewhere(other, u) {
			continue
		}
		if why := r.unsettled(other); why != "" && !r.waitsFor(other, u.ID) {
			waits = append(waits, engine.Wait{On: peer.String(), Reason: why})
			stuck = stuck && !other.underway()
		}
	}
	u.stuck = stuck && len(waits) > 0
	slices.SortFunc(waits, func(a, b engine.Wait) int { return strings.Compare(a.Reason, b.Reason) })
	return waits
}

// elsewhere tells whether a unit can claim nothing of what another one holds: it works in a cluster of
// its own, to which nothing else can lead. A unit of the engine's own cluster may declare units that
// work anywhere.
func elsewhere(peer, u *unit) bool {
	return peer.Target.Cluster != "" && peer.Target.Cluster != u.Target.Cluster
}

// waitsFor tells whether a unit that has been read itself cannot bring about what it declares before another one has
// come to its end: if that waited for it, both would wait for ever.
func (r *Runner) waitsFor(u *unit, other engine.UnitID) bool {
	return r.unread(u) == "" && u.pass == nil && r.leadsTo(u, other, map[engine.UnitID]bool{})
}

// leadsTo follows what a unit waits for: its dependencies, and the units whose health is its own.
func (r *Runner) leadsTo(u *unit, to engine.UnitID, seen map[engine.UnitID]bool) bool {
	if seen[u.ID] {
		return false
	}
	seen[u.ID] = true
	for _, next := range r.awaitedBy(u) {
		if n, known := r.units[next]; next == to || known && r.leadsTo(n, to, seen) {
			return true
		}
	}
	return false
}

// awaitedBy are the units that a unit may wait for.
func (r *Runner) awaitedBy(u *unit) []engine.UnitID {
	var units []engine.UnitID
	for _, d := range u.Dependencies {
		if d.Unit != (engine.UnitID{}) {
			units = append(units, d.Unit)
		}
	}
	for _, e := range r.counted(u) {
		if child := r.childOf(u, e.ID); child != nil {
			units = append(units, child.ID)
		}
	}
	return units
}
