package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// unsettled tells why it is not known yet what a unit claims of the revision that its source has
// now; it is empty when that is known.
func (r *Runner) unsettled(u *unit) string { return r.unsettledBelow(u, maxDepth) }

// unsettledBelow is unsettled, with a bound on how far down a family is looked.
func (r *Runner) unsettledBelow(u *unit, depth int) string {
	fact, _ := r.cfg.Sources.Source(u.Source)
	switch {
	case u.Suspended, u.Deleting:
		return ""
	case !u.Sourced() && !u.Driven && (u.rendering == nil || u.rendering.key.Generation != u.Generation):
		return fmt.Sprintf("%s has not been rendered yet as it is declared", u.ID)
	case u.rendering == nil || !fact.In(u.rendering.key) || u.rendering.key.Generation != u.Generation:
		return fmt.Sprintf("%s has not read revision %q yet", u.ID, fact.Revision)
	case u.rendering.err != nil:
		return fmt.Sprintf("%s cannot be rendered at this revision and may claim what would be deleted", u.ID)
	}
	for _, child := range u.rendering.children {
		if why := r.unborn(u, child, depth); why != "" {
			return why
		}
	}
	return ""
}

// unborn tells whether a unit that another one declares is not known here as it is declared.
func (r *Runner) unborn(parent *unit, child engine.UnitID, depth int) string {
	id := r.objectOf(child)
	rec, exists := r.record(parent, id)
	c, known := r.units[child]
	switch {
	case !exists && parent.last.Failure != nil && parent.pass == nil:
		// The parent tried and could not make it; what it would claim cannot be known, and
		// holding on for it would hold for ever.
		return ""
	case !exists || !known || c.Generation < rec.Generation:
		return fmt.Sprintf("%s declares %s, which has not begun yet", parent.ID, child)
	case !c.Sourced() && !c.Driven && parent.pass != nil && parent.pass.Progress < engine.Applied:
		return fmt.Sprintf("%s has not applied %s yet", parent.ID, child)
	case !c.Sourced() && !c.Driven && depth > 0:
		// What it claims is told by its declaration, which has been read.
		return r.unsettledBelow(c, depth-1)
	default:
		return ""
	}
}

// hold tells why a unit has to wait with its deletions: someone of the same source may be about to
// claim what would be deleted.
func (r *Runner) hold(u *unit) string {
	if u.Driven || !u.Prune || len(r.leftover(u)) == 0 {
		return ""
	}
	return r.holdFor(u)
}

func (r *Runner) holdFor(u *unit) string {
	var reasons []string
	if why := r.unsettledChildren(u); why != "" && !u.Deleting {
		reasons = append(reasons, why)
	}
	for peer := range r.bySource[r.kin(u)] {
		other := r.units[peer]
		if peer == u.ID || elsewhere(other, u) {
			continue
		}
		if why := r.unsettled(other); why != "" {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	slices.Sort(reasons)
	return "deletions wait: " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
}

// elsewhere tells whether a unit can claim nothing of what another one holds: it works in a cluster of
// its own, to which nothing else can lead. A unit of the engine's own cluster may declare units that
// work anywhere.
func elsewhere(peer, u *unit) bool {
	return peer.Target.Cluster != "" && peer.Target.Cluster != u.Target.Cluster
}

// holdDeletion is hold for a unit that is itself deleted.
func (r *Runner) holdDeletion(u *unit) string {
	if u.Driven || u.deletion.pruned || u.Suspended || !u.deletes() || len(u.inventory) == 0 {
		return ""
	}
	if fact, _ := r.cfg.Sources.Source(r.kin(u)); fact.Revision == "" {
		// Without a source nobody can be about to claim anything.
		return ""
	}
	return r.holdFor(u)
}

// leftover is what the unit holds and does not declare any more.
func (r *Runner) leftover(u *unit) []engine.Entry {
	if u.rendering.failed() {
		return nil
	}
	left := engine.Leftover(u.inventory, u.rendering.entries)
	for _, one := range u.rendering.replaced {
		// What is left as it is may have been applied by someone else before.
		left = engine.Leftover(left, []engine.Entry{one.entry})
	}
	return left
}

// startPrune deletes what the unit no longer declares.
func (r *Runner) startPrune(u *unit) {
	left := r.leftover(u)
	p := u.pass
	if u.Driven {
		p.Progress = engine.Pruned
		r.mark(u.ID)
		return
	}
	if !u.Prune {
		r.drop(u, left)
		left = nil
	}
	left = r.unclaimed(u, left)
	if len(left) == 0 {
		p.Progress = engine.Pruned
		r.mark(u.ID)
		return
	}
	u.busy = true
	id, target := u.ID, u.Target
	r.work(func(ctx context.Context) func() {
		t, err := r.reach(ctx, id, target)
		if err != nil {
			return func() { r.stepFailed(id, p, err) }
		}
		results := t.applier.Delete(ctx, id, left)
		return func() { r.pruned(id, p, results) }
	})
}

func (r *Runner) stepFailed(id engine.UnitID, p *engine.Pass, err error) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	if u.pass == p {
		r.fail(u, buildFailure(err), false)
	}
	r.mark(id)
}

// unclaimed returns the entries that no other unit wants and lets the others go to whoever does.
func (r *Runner) unclaimed(u *unit, entries []engine.Entry) []engine.Entry {
	var mine []engine.Entry
	for _, e := range entries {
		if r.owners.ClaimedByOther(e.ID, u.ID) {
			r.drop(u, []engine.Entry{e})
			continue
		}
		mine = append(mine, e)
	}
	return mine
}

// drop takes entries out of the inventory without deleting them.
func (r *Runner) drop(u *unit, entries []engine.Entry) {
	r.setInventory(u, engine.Leftover(u.inventory, entries))
	slices.SortFunc(u.inventory, func(a, b engine.Entry) int { return engine.CompareOrder(a.ID, b.ID) })
	for _, e := range entries {
		r.letGo(u, e.ID)
	}
}

func (r *Runner) pruned(id engine.UnitID, p *engine.Pass, results []apply.Result) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	failure := r.takeDeletions(u, results)
	r.reconsider(u)
	r.mark(id)
	if u.pass != p {
		return
	}
	if failure != nil {
		failure.Reason = engine.ReasonPruneFailed
		r.fail(u, *failure, false)
		return
	}
	p.Progress = engine.Pruned
}

// takeDeletions takes what was deleted out of the inventory; what could not be deleted stays.
func (r *Runner) takeDeletions(u *unit, results []apply.Result) *engine.Failure {
	var gone []engine.Entry
	for _, result := range results {
		if result.Err == nil {
			gone = append(gone, result.Entry)
			r.stats.Deleted++
			if result.Action == engine.Delete {
				u.changes = append(u.changes, result)
			}
		}
	}
	r.drop(u, gone)
	return failureOf(results)
}

// deletes tells whether the deletion policy of the unit takes its objects along.
func (u *unit) deletes() bool {
	switch u.Deletion {
	case engine.DeletionOrphan:
		return false
	case engine.DeletionDelete, engine.DeletionWaitForTermination:
		return true
	default:
		return u.Prune
	}
}

// startFinalize carries the deletion policy of a deleted unit out, and lets its object go.
func (r *Runner) startFinalize(u *unit) {
	u.pass = nil
	if u.Suspended || !u.deletes() || u.deletion.pruned {
		r.release(u)
		return
	}
	if u.Driven {
		r.startDestroy(u)
		return
	}
	entries := r.unclaimed(u, engine.Leftover(u.inventory, nil))
	u.busy = true
	id, target := u.ID, u.Target
	r.work(func(ctx context.Context) func() {
		if err := r.cfg.Dialect.Orphaned(ctx, id); err != nil {
			return func() { r.abandoned(id, entries, err) }
		}
		t, err := r.reach(ctx, id, target)
		if err != nil {
			return func() { r.deletionFailed(id, err.Error()) }
		}
		results := t.applier.Delete(ctx, id, entries)
		return func() { r.finalized(id, results) }
	})
}

// abandoned lets the objects of a deleted unit stay where they are, since nobody can delete them.
func (r *Runner) abandoned(id engine.UnitID, entries []engine.Entry, why error) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	r.note(u, engine.PhaseDeleting, fmt.Sprintf("%d objects stay: %s", len(entries), why), true)
	u.deletion.pruned = true
	r.mark(id)
}

// deletionFailed has the deletion of a unit tried again, ever later.
func (r *Runner) deletionFailed(id engine.UnitID, message string) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	r.retryDeletion(u)
	message += "; to let it go without deleting its objects, " + cmp.Or(u.LetGo, "set spec.suspend")
	r.note(u, engine.PhaseDeleting, message, true)
	r.report(u, Report{Reason: engine.ReasonPruneFailed, Message: message})
	r.mark(id)
}

// retryDeletion says when the deletion of a unit is tried again.
func (r *Runner) retryDeletion(u *unit) {
	u.deletion.retry = time.Now().Add(retryMin << min(u.attempts, 6))
	fact, _ := r.cfg.Sources.Source(u.Source)
	u.deletion.failedAt = fact.Revision + fact.Digest
	u.attempts++
}

func (r *Runner) finalized(id engine.UnitID, results []apply.Result) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	deleted := deletedEntries(results)
	failure := r.takeDeletions(u, results)
	r.mark(id)
	if failure != nil {
		r.deletionFailed(id, failure.Message)
		return
	}
	u.deletion.pruned = true
	if u.Deletion == engine.DeletionWaitForTermination {
		u.terminating = deleted
		u.deletion.deadline = time.Now().Add(u.Timeout)
		for _, e := range deleted {
			r.byObject.add(e.ID, id)
		}
	}
}

func deletedEntries(results []apply.Result) []engine.Entry {
	var entries []engine.Entry
	for _, result := range results {
		if result.Action == engine.Delete && result.Err == nil {
			entries = append(entries, result.Entry)
		}
	}
	return entries
}

// terminating are the objects of a deleted unit that are still there.
func (r *Runner) terminating(u *unit) []engine.ObjectHealth {
	var there []engine.ObjectHealth
	for _, e := range u.terminating {
		if rec, ok := r.record(u, e.ID); ok {
			there = append(there, engine.ObjectHealth{ID: rec.ID, Verdict: engine.Terminating})
		}
	}
	return there
}

// release lets the object of a deleted unit go; the unit itself is forgotten when its watch says
// that the object went.
func (r *Runner) release(u *unit) {
	u.busy = true
	id := u.ID
	r.work(func(ctx context.Context) func() {
		err := r.cfg.Dialect.Release(ctx, id)
		return func() {
			u, ok := r.units[id]
			if !ok {
				return
			}
			u.busy = false
			if err == nil {
				// Nothing is left to do; the watch brings the end.
				u.busy = true
				return
			}
			r.note(u, engine.PhaseDeleting, err.Error(), true)
			r.retryDeletion(u)
			r.mark(id)
		}
	})
}
