package runner

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// sharing is what several units declare of one object that they own together.
type sharing struct {
	// declared is in the order in which they own it. One that is unknown to this run, since its unit has not been rendered,
	// has no object: what was applied stands for it.
	declared []engine.Declaration
	// asks is set when the live object has to be read: only its marks report which of the units comes first.
	asks bool
}

// has reports whether a unit is one of those that share.
func (s sharing) has(unit engine.UnitID) bool {
	return slices.ContainsFunc(s.declared, func(d engine.Declaration) bool { return d.Unit == unit })
}

// partners reports whether a unit that has an object owns it together with another one that wants to apply it: both work as
// the same account in the same cluster, mark objects alike and leave the same fields to others, and have drivers that share.
func (r *Runner) partners(other, u *unit, id engine.ObjectID) bool {
	if !other.traits.Shares || !u.traits.Shares || other.Target != u.Target || other.Deleting || r.yields(other, id) {
		return false
	}
	if !r.owners.Declares(id, other.ID) {
		// The status of one that has never come to its end with anything is no evidence.
		return !other.known() && other.applied != ""
	}
	theirs, ours := other.rendering.object(id), u.rendering.object(id)
	return theirs == nil || ours == nil || slices.EqualFunc(
		engine.Ignored(other.Ignore, theirs), engine.Ignored(u.Ignore, ours), slices.Equal[engine.Pointer])
}

// mayShare reports whether a unit of which this run does not know what it declares may own an object together with another one,
// by whose name the object goes.
func (r *Runner) mayShare(u *unit, id engine.ObjectID, with engine.UnitID) bool {
	other := r.units[with]
	return other != nil && !u.known() && r.partners(u, other, id) && r.marked(other, id)
}

// known reports whether it is known what a unit declares, or declared before it could no longer be read.
func (u *unit) known() bool {
	return u.rendering != nil && (u.rendering.err == nil || u.rendering.objects != nil)
}

// object is the declaration of an object, nil when it is not among what was rendered.
func (r *rendering) object(id engine.ObjectID) *unstructured.Unstructured {
	if r == nil {
		return nil
	}
	for _, o := range r.objects {
		if engine.IDOf(o).In(id.Cluster) == id {
			return o
		}
	}
	return nil
}

// beside is how the wish of a unit stands beside those that own the object together with it.
func (r *Runner) beside(u *unit, id engine.ObjectID) wish {
	s := r.sharingOf(u, id)
	if len(s.declared) == 0 {
		return wish{}
	}
	w := wish{standing: waiting}
	for _, other := range r.owners.Writers(id, u.ID) {
		if by := r.units[other]; by != nil && by.busy && s.has(other) {
			w.owner, w.why = other, fmt.Sprintf("%s is applying it", other)
			return w
		}
	}
	if late, found := r.lateOf(u, id, s); found {
		w.owner, w.why = late, fmt.Sprintf("it belongs to %s, which has not read this revision yet", late)
		return w
	}
	w.standing, w.sharing = together, s
	if s.asks {
		w.standing = contested
		return w
	}
	if _, disputes := s.join(r.names[u.Target.Owner]); len(disputes[u.ID]) > 0 {
		return wish{standing: disputing, owner: disputes[u.ID][0].Owner, disputes: disputes[u.ID]}
	}
	return w
}

// sharingOf gathers what a unit and its partners declare of an object; nothing when it has none.
func (r *Runner) sharingOf(u *unit, id engine.ObjectID) sharing {
	var s sharing
	owners := slices.DeleteFunc(append(r.owners.Owners(id), r.owners.Recorded(id, engine.UnitID{})...), func(other engine.UnitID) bool {
		by := r.units[other]
		return other != u.ID && (by == nil || !r.partners(by, u, id))
	})
	// Most objects have one owner: nothing is searched for them.
	if !slices.ContainsFunc(owners, func(other engine.UnitID) bool { return other != u.ID }) {
		return s
	}
	for _, other := range owners {
		s.asks = s.asks || r.owners.Grip(id, other) == engine.Recorded
		s.declared = append(s.declared, engine.Declaration{Unit: other, Object: r.units[other].rendering.object(id)})
	}
	if !s.has(u.ID) {
		s.declared = append(s.declared, engine.Declaration{Unit: u.ID, Object: u.rendering.object(id)})
	}
	s.asks = s.asks || s.unknown()
	return s
}

// unknown reports whether it is unknown of one of the units what it declares.
func (s sharing) unknown() bool {
	return slices.ContainsFunc(s.declared, func(d engine.Declaration) bool { return d.Object == nil })
}

// lateOf names a unit of those before another one that is about to report what it declares at this revision, where that
// matters: the other one is new to the object, which may be about to move; nothing is known of the unit yet; or what it
// declared is disputed.
func (r *Runner) lateOf(u *unit, id engine.ObjectID, s sharing) (engine.UnitID, bool) {
	at := slices.IndexFunc(s.declared, func(d engine.Declaration) bool { return d.Unit == u.ID })
	own := s.declared[at]
	for i, d := range s.declared {
		other := r.units[d.Unit]
		if i == at || i > at && !s.asks || r.kin(other) != r.kin(u) || r.unread(other) == "" {
			continue
		}
		if d.Object == nil {
			if other.rendering == nil && other.Invalid == (engine.Invalid{}) && len(r.cycles[d.Unit]) == 0 {
				return d.Unit, true
			}
			continue
		}
		if r.owners.Grip(id, u.ID) < engine.Recorded {
			return d.Unit, true
		}
		if _, disputes := engine.Share([]engine.Declaration{d, own}, r.names[u.Target.Owner].Marking()...); len(disputes) > 0 {
			return d.Unit, true
		}
	}
	return engine.UnitID{}, false
}

// join puts together what the units declare.
func (s sharing) join(names apply.Names) (*unstructured.Unstructured, map[engine.UnitID][]engine.Dispute) {
	return engine.Share(s.declared, names.Marking()...)
}

// joined is what a worker found out of the objects that a unit shares.
type joined struct {
	shared map[engine.ObjectID]apply.Shared
	// first are the units that own them before all others.
	first map[engine.ObjectID]engine.UnitID
}

// join puts together what is to be applied of the objects that a unit shares. What the unit disputes, and what would have to
// be read and cannot be, belongs to the others.
func (c claims) join(ctx context.Context, t *target, unit engine.UnitID, names apply.Names) joined {
	j := joined{map[engine.ObjectID]apply.Shared{}, map[engine.ObjectID]engine.UnitID{}}
	for e, s := range c.shared {
		if _, conflict := c.conflicts[e.ID]; conflict {
			continue
		}
		with := slices.DeleteFunc(s.units(), func(id engine.UnitID) bool { return id == unit })
		if s.asks {
			live, err := t.applier.Live(ctx, e)
			if err == nil && live != nil {
				s, err = s.asLive(live, names)
			}
			if err != nil && s.unknown() {
				c.conflicts[e.ID] = with[0]
				continue
			}
		}
		s.declared = slices.DeleteFunc(slices.Clone(s.declared), func(d engine.Declaration) bool { return d.Object == nil })
		whole, disputes := s.join(names)
		if len(disputes[unit]) > 0 {
			c.disputes[e.ID] = disputes[unit]
			continue
		}
		j.shared[e.ID] = apply.Shared{Object: whole, With: with}
		j.first[e.ID] = s.declared[0].Unit
	}
	return j
}

// units are those that share.
func (s sharing) units() []engine.UnitID {
	units := make([]engine.UnitID, len(s.declared))
	for i, d := range s.declared {
		units[i] = d.Unit
	}
	return units
}

// asLive puts the unit first by whose name the live object goes, and has what was applied stand for what is unknown.
func (s sharing) asLive(live *unstructured.Unstructured, names apply.Names) (sharing, error) {
	applied, err := names.Applied(live)
	if err != nil {
		return s, fmt.Errorf("reading what was applied of %s: %w", engine.IDOf(live), err)
	}
	var first, rest []engine.Declaration
	for _, d := range s.declared {
		if d.Object == nil {
			d.Object = applied
		}
		if names.Marks(live, d.Unit) {
			first = append(first, d)
			continue
		}
		rest = append(rest, d)
	}
	return sharing{declared: append(first, rest...)}, nil
}

// found enters what a worker found of the objects that a unit shares: which it disputes, and which units own them before all
// others.
func (r *Runner) found(id engine.UnitID, c claims, first map[engine.ObjectID]engine.UnitID) {
	u, ok := r.units[id]
	if !ok || !u.traits.Shares {
		return
	}
	u.disputed = make(map[engine.ObjectID]bool, len(c.disputes))
	for id := range c.disputes {
		u.disputed[id] = true
	}
	for id, unit := range first {
		leads, _ := r.owners.Owner(id)
		if grip := r.owners.Grip(id, unit); unit != leads && grip >= engine.Recorded && (unit != u.ID || grip == engine.Held) {
			r.owners.Lead(id, unit)
		}
	}
}

// revise has a unit apply an object again, since what is applied of it is another content now, or another owner's.
func (r *Runner) revise(id engine.UnitID, object engine.ObjectID) {
	u, known := r.units[id]
	if !known {
		return
	}
	if u.drift == nil {
		u.drift = map[engine.ObjectID]bool{}
	}
	u.drift[object] = true
	r.mark(id)
}

// reviseOthers has the units look again that share what a unit has applied, or would: one that disputes now has to say so,
// and one that did may own it now.
func (r *Runner) reviseOthers(u *unit, results []apply.Result) {
	for _, result := range results {
		if result.Err != nil || result.Wait != nil {
			continue
		}
		id := result.Entry.ID
		for _, other := range r.owners.Others(id, u.ID) {
			by := r.units[other]
			if by == nil || !by.traits.Shares || by.Suspended || by.Deleting || by.rendering == nil || !r.owners.Declares(id, other) {
				continue
			}
			standing := r.contention(by, id).standing
			if by.disputed[id] && standing < waiting || !by.disputed[id] && standing == disputing && r.owners.Grip(id, other) >= engine.Applying {
				r.revise(other, id)
			}
		}
	}
}

// corrector is the owner of an object that reverts what others change of it: the first that is not suspended.
func (r *Runner) corrector(id engine.ObjectID) (engine.UnitID, bool) {
	owners := r.owners.Owners(id)
	for _, owner := range owners {
		if u := r.units[owner]; u != nil && !u.Suspended && !u.Deleting {
			return owner, true
		}
	}
	return r.owners.Owner(id)
}

// former are the units that left objects to another one which owned them too, and whose names these may carry yet.
func (r *Runner) former(u *unit, entries []engine.Entry) map[engine.ObjectID]engine.UnitID {
	former := map[engine.ObjectID]engine.UnitID{}
	for _, e := range entries {
		if by, known := r.owners.Marked(e.ID); known && by != u.ID && r.owners.Grip(e.ID, u.ID) == engine.Held {
			former[e.ID] = by
		}
	}
	return former
}
