package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// holdOfPrune says which of the objects that a unit no longer declares have to wait for other units, and for which; free is
// set where some need not.
func (r *Runner) holdOfPrune(u *unit) (h engine.Hold, free bool) {
	left := r.leftover(u)
	if !u.Prune || len(left) == 0 {
		return engine.Hold{}, false
	}
	h = r.hold(u, left)
	return h, len(h.Objects) < len(left)
}

// holdOfDeletion is what the deletion of a unit waits for. What a person deletes waits for nothing.
func (r *Runner) holdOfDeletion(u *unit) engine.Hold {
	if u.deletion.person || u.deletion.pruned || u.Suspended || !u.deletes() || len(u.inventory) == 0 {
		return engine.Hold{}
	}
	if fact, _ := r.sources.Source(r.kin(u)); fact.Revision == "" {
		// Without a source no unit can be about to claim anything.
		return engine.Hold{}
	}
	return r.hold(u, u.inventory)
}

// hold says for which other units one has to wait with its deletions, and has their sources fetched where these may be
// behind.
func (r *Runner) hold(u *unit, entries []engine.Entry) engine.Hold {
	self := r.reader(u)
	self.Reads, self.Expects, self.Whole, self.Tenant = r.readsForDeletion(u), r.unsettledChildren(u), u.holdsAll(), r.tenantOf(u)
	readers := r.readersOf(self.Reads)
	doomed := r.doomed(u, entries)
	var others []engine.Reader
	for _, other := range readers {
		others = append(others, r.peerOf(self, other, doomed))
	}
	for _, other := range r.declaredUnder(readers) {
		if !r.claimedAsDeclared(other) {
			others = append(others, r.peerDeclared(self, other, doomed))
		}
	}
	if slices.ContainsFunc(others, self.LosesTo) {
		doomed.Files = r.filesOf(u)
	}
	h := engine.Barrier(self, others, doomed)
	u.hold(h, entries)
	for _, late := range h.Late {
		r.fetchFor(self, r.units[late])
	}
	return h
}

// doomed are the objects that a unit would delete, and how long each waits at most.
func (r *Runner) doomed(u *unit, entries []engine.Entry) engine.Doomed {
	// A malformed bound is none.
	bound, _ := engine.HoldBound(u.DeletionHold, cmp.Or(r.cfg.DeletionHold, engine.HoldFor))
	d := engine.Doomed{
		Objects: make([]engine.ObjectID, len(entries)), Along: map[engine.ObjectID][]engine.ObjectID{},
		Since: u.heldSince, Now: time.Now(), Bound: bound, Occupants: r.occupantsOf(u, entries),
	}
	for i, e := range entries {
		d.Objects[i] = e.ID
		if along := r.along(u, e.ID, maxDepth); len(along) > 0 {
			d.Along[e.ID] = along
		}
	}
	return d
}

// along are the objects that go with one that a unit deletes, since that declares a unit.
func (r *Runner) along(u *unit, id engine.ObjectID, depth int) []engine.ObjectID {
	child := r.units[engine.UnitOf(id)]
	if id.Cluster != "" || child == nil || child == u || depth == 0 || child.Suspended || !child.deletes() {
		return nil
	}
	var along []engine.ObjectID
	for _, e := range child.inventory {
		along = append(append(along, e.ID), r.along(child, e.ID, depth-1)...)
	}
	return along
}

// filesOf is what the files mention that the source of a unit has, nil until a worker has read them.
func (r *Runner) filesOf(u *unit) *engine.Mentions {
	fact, artifact := r.sources.Source(r.kin(u))
	if u.files.revision == fact.Revision || artifact == nil {
		return u.files.mentions
	}
	u.files = files{revision: fact.Revision}
	id, revision := u.ID, fact.Revision
	r.work(id, func(context.Context) func() {
		tree, err := artifact.Open()
		if err != nil {
			// It is a chart: what the rest of the repository mentions is unknown.
			return func() {}
		}
		m := &engine.Mentions{}
		for _, text := range render.Texts(tree) {
			m.Read(text)
		}
		return func() {
			if u := r.units[id]; u != nil && u.files.revision == revision {
				u.files.mentions = m
				r.mark(id)
			}
		}
	}, func(error) {})
	return nil
}

// hold remembers what of some entries is held, and since when.
func (u *unit) hold(h engine.Hold, entries []engine.Entry) {
	u.stuck, u.held, u.occupied = h.Stuck, h.Objects, h.Occupied
	since := maps.Clone(u.heldSince)
	for _, e := range entries {
		delete(since, e.ID)
	}
	if since == nil {
		since = map[engine.ObjectID]time.Time{}
	}
	maps.Copy(since, h.Since)
	u.heldSince = since
}

// peerOf is a unit as one sees it that is about to delete. What takes long to find out is asked only where it matters.
func (r *Runner) peerOf(self engine.Reader, other *unit, doomed engine.Doomed) engine.Reader {
	x := r.peer(other, maxDepth)
	x.Reads = r.reads(other)
	return r.weigh(self, x, other, doomed)
}

// peerDeclared is peerOf for a unit that comes to claim something by its declaration, which is what the other one has read.
func (r *Runner) peerDeclared(self engine.Reader, other *unit, doomed engine.Doomed) engine.Reader {
	x := r.peer(other, maxDepth)
	x.Reads = self.Reads
	if fact, _ := r.sources.Source(other.Source); !x.Current && fact.Revision == "" && !fact.Pending {
		x.Broken = fact.Message
	}
	return r.weigh(self, x, other, doomed)
}

// weigh completes what one unit has to know of another.
func (r *Runner) weigh(self, x engine.Reader, other *unit, doomed engine.Doomed) engine.Reader {
	if self.Awaits(x) == "" {
		return x
	}
	x.Condemned, x.Stands, x.Tenant = r.condemned(other), r.stands(other, x), r.tenantOf(other)
	// Two that wait with everything that they do, for what the other one makes, would wait for ever.
	x.Follows = other.pass == nil && r.leadsTo(other, self.ID, map[engine.UnitID]bool{}) || self.Whole && other.barred && other.holdsAll()
	x.Had, x.Mentions = r.hadBy(other, doomed), r.mentionedBy(other)
	return x
}

// stands reports whether what is unknown of a unit does not become known without a change: it cannot be rendered, has failed
// before it could say what it claims, or its source has never had anything.
func (r *Runner) stands(u *unit, x engine.Reader) bool {
	fact, _ := r.sources.Source(u.Source)
	switch {
	case x.Current && x.Broken != "":
		return true
	case x.Current && !u.traits.Declares:
		return !r.hasClaimed(u) && (u.last.Failure != nil && u.pass == nil || u.pass != nil && u.pass.Failure != nil)
	case !x.Current && u.Sourced() && fact.Revision == "":
		return !fact.Pending
	default:
		return !x.Current && len(r.cycles[u.ID]) > 0
	}
}

// awaitsObject reports whether a unit cannot be rendered for want of an object that another one is about to apply.
func (r *Runner) awaitsObject(u *unit) bool {
	return slices.ContainsFunc(u.Reads, func(id engine.ObjectID) bool {
		if _, there := r.home.cluster.Objects.Get(id); there {
			return false
		}
		return slices.ContainsFunc(r.owners.Others(id, u.ID), func(other engine.UnitID) bool {
			by := r.units[other]
			return by != nil && r.owners.Declares(id, other) && r.applies(by) &&
				(by.underway() || by.pass != nil && by.pass.Progress < engine.Applied && by.pass.Failure == nil)
		})
	})
}

// hadBy are those of the objects that a unit has, or had.
func (r *Runner) hadBy(u *unit, doomed engine.Doomed) map[engine.ObjectID]bool {
	had := map[engine.ObjectID]bool{}
	enter := func(id engine.ObjectID) {
		if u.owned[id] || r.owners.Declares(id, u.ID) || r.owners.Grip(id, u.ID) >= engine.Recorded {
			had[id] = true
		}
	}
	for _, id := range doomed.Objects {
		enter(id)
		for _, along := range doomed.Along[id] {
			enter(along)
		}
	}
	return had
}

// mentionedBy is what the files and the declaration of a unit mention.
func (r *Runner) mentionedBy(u *unit) engine.Mentions {
	if u.mentionedAt != u.Generation {
		u.mentions, u.mentionedAt = engine.Mentions{}, u.Generation
		if spec := r.dialects.Object(u.ID)["spec"]; spec != nil {
			if text, err := yaml.Marshal(spec); err == nil {
				u.mentions.Read(string(text))
			}
		}
	}
	var all engine.Mentions
	all.Add(u.mentions)
	if u.rendering != nil {
		all.Add(u.rendering.mentions)
	}
	if u.Sourced() && (u.rendering == nil || u.rendering.mentions.Empty()) {
		all.Unread()
		if !u.traits.Prunes {
			all.Chart("kind: {{}}", u.ID.Name)
		}
	}
	return all
}

// tenantOf is on whose behalf a unit works.
func (r *Runner) tenantOf(u *unit) engine.Tenant {
	t := engine.Tenant{
		Account: u.Target.User, Project: u.Project, Namespace: u.ID.Namespace, Refers: []string{r.kin(u).Namespace}, Confined: u.Confined,
	}
	for parent := r.parentOf(u); parent != nil && parent != u && len(t.Refers) < maxDepth; parent = r.parentOf(parent) {
		t.Refers = append(t.Refers, parent.ID.Namespace)
	}
	return t
}

// byPerson reports whether a person deleted a unit, and no unit that declared it: one that is there declares it yet, or has it and
// is deleting nothing, or there is none.
func (r *Runner) byPerson(u *unit, seen bool) bool {
	object := r.dialects.Object(u.ID)
	if meta, _ := object["metadata"].(map[string]any); meta["ownerReferences"] != nil {
		return false
	}
	parent := r.declarerOf(u)
	switch {
	case parent == nil:
		// Of a unit that is marked as an object of one which is gone, that one may have been deleted for it.
		return !r.isMarked(u)
	case parent.Deleting:
		return parent.deletion.person
	case r.owners.Declares(u.ID.Object(), parent.ID):
		return true
	default:
		deletes := parent.pruning || parent.busy && !parent.traits.Prunes
		return seen && parent.owned[u.ID.Object()] && !deletes
	}
}

// declarerOf is the unit that declares another one, or that it is marked as an object of; nil when there is none.
func (r *Runner) declarerOf(u *unit) *unit {
	if parent := r.parentOf(u); parent != nil && parent != u {
		return parent
	}
	for _, by := range r.units {
		if by != u && by.Target.Cluster == "" && r.bears(u, by) {
			return by
		}
	}
	return nil
}

// isMarked reports whether the object of a unit is marked as that of another one.
func (r *Runner) isMarked(u *unit) bool {
	object := &unstructured.Unstructured{Object: r.dialects.Object(u.ID)}
	if object.Object == nil || r.bears(u, u) {
		return false
	}
	for _, n := range r.names {
		if n.Judge == nil && object.GetLabels()[n.Name] != "" || n.Judge != nil && n.Judge.Owner(object).Name != "" {
			return true
		}
	}
	return false
}
