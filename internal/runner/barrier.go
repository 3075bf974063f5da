package runner

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// current reports whether a unit has been rendered as it is declared, from what its source has now.
func (r *Runner) current(u *unit) bool {
	if u.rendering == nil || u.rendering.key.Generation != u.Generation {
		return false
	}
	fact, _ := r.sources.Source(u.Source)
	return u.sourceless() || fact.In(u.rendering.key)
}

// absent reports whether what a unit renders is not there in the revision: it declares nothing of it.
func (r *rendering) absent() bool { return r != nil && errors.Is(r.err, render.ErrPathNotFound) }

// reader is a unit as the prune barrier sees it, without what it reads and what it waits for.
func (r *Runner) reader(u *unit) engine.Reader {
	fact, _ := r.sources.Source(u.Source)
	x := engine.Reader{
		ID: u.ID, Cluster: u.Target.Cluster, Idle: !r.applies(u),
		Absent: u.rendering.absent(), Current: r.current(u), Sourceless: u.sourceless(), Revision: fact.Revision,
		Moving: u.underway(), Message: u.message,
	}
	if u.rendering != nil && u.rendering.err != nil {
		x.Broken = u.rendering.err.Error()
	}
	if x.Current && x.Broken != "" && r.awaitsObject(u) {
		x.Current, x.Moving, x.Broken = false, true, ""
	}
	return x
}

// peer is a unit as another one sees it that is about to delete, or to claim, something; what it reads is left out.
func (r *Runner) peer(u *unit, depth int) engine.Reader {
	x := r.reader(u)
	if x.Unread() != "" || x.Idle || x.Absent {
		return x
	}
	if x.Expects = r.unclaimedYet(u); x.Expects == "" {
		x.Expects, _ = r.expecting(u, depth)
	}
	return x
}

// unread says why it is unknown what a unit itself declares.
func (r *Runner) unread(u *unit) string { return r.reader(u).Unread() }

// unsettled says why it is unknown yet what a unit claims of the revision that its source has
// now; it is empty when that is known, or when the unit is about to be deleted and claims nothing more.
func (r *Runner) unsettled(u *unit) string { return r.unsettledBelow(u, maxDepth) }

// unsettledBelow is unsettled, with a bound on how far down a family is looked.
func (r *Runner) unsettledBelow(u *unit, depth int) string {
	x := r.peer(u, depth)
	if x.Unsettled() != "" {
		x.Condemned = r.condemned(u)
	}
	return x.Unsettled()
}

// expecting says which unit, of those that a unit declares, is unknown here as declared.
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

// unborn says whether a unit that another one declares is unknown here as declared.
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
	case parent.traits.Prunes && parent.pass != nil && parent.pass.Progress < engine.Applied:
		return fmt.Sprintf("%s has not applied %s yet", parent.ID, child)
	case c.sourceless() && depth > 0:
		// What it claims follows from its declaration, which has been read.
		return r.unsettledBelow(c, depth-1)
	default:
		return ""
	}
}

// condemned reports whether a unit is about to be deleted, since what declared it declares it no more: it claims
// nothing that it has not got already.
func (r *Runner) condemned(u *unit) bool { return r.condemnedBelow(u, maxDepth) }

func (r *Runner) condemnedBelow(u *unit, depth int) bool {
	id := u.ID.Object()
	parent := r.parentOf(u)
	if parent == nil || parent == u || parent.Suspended || !parent.traits.Prunes || depth == 0 {
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
	// Its own marks are known here, so that a status alone counts for nothing.
	wanted, _ := r.wantedBelow(id, parent.ID, depth-1)
	return !wanted && r.takesAlong(parent, u)
}

// takesAlong reports whether a unit deletes the object of another one, by how that is marked.
func (r *Runner) takesAlong(parent, u *unit) bool {
	t, object := r.at(parent), r.dialects.Object(u.ID)
	return t != nil && object != nil && t.applier.Deletes(parent.ID, &unstructured.Unstructured{Object: object})
}

// wanted reports whether another unit declares an object or has it, and will still be there. Where only the cluster can tell, the
// doubts are returned.
func (r *Runner) wanted(id engine.ObjectID, but engine.UnitID) (bool, []doubt) {
	return r.wantedBelow(id, but, maxDepth)
}

func (r *Runner) wantedBelow(id engine.ObjectID, but engine.UnitID, depth int) (bool, []doubt) {
	var doubts []doubt
	for _, by := range r.owners.Others(id, but) {
		u, known := r.units[by]
		if !known || u.Deleting {
			continue
		}
		stake, d := r.stakeOf(u, id, r.units[but])
		switch {
		case stake == none, r.condemnedBelow(u, depth):
		case stake == certain:
			return true, nil
		default:
			doubts = append(doubts, d)
		}
	}
	return false, doubts
}

// awaits reports whether a unit that wants an object has to wait for the owner of it, which may be about to release it since
// it has not read the same revision yet.
func (r *Runner) awaits(u, owner *unit) bool {
	self, other := r.reader(u), r.peer(owner, maxDepth)
	self.Reads, other.Reads = r.reads(u), r.reads(owner)
	if self.Late(other) {
		r.fetchFor(self, owner)
	}
	return self.Awaits(other) != ""
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
