package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// leftover is what the unit holds and does not declare any more.
func (r *Runner) leftover(u *unit) []engine.Entry {
	if !u.traits.Prunes {
		return slices.DeleteFunc(slices.Clone(u.deferred), func(e engine.Entry) bool { return !u.owned[e.ID] })
	}
	if u.rendering.failed() {
		return nil
	}
	left := engine.Leftover(u.inventory, u.rendering.entries)
	for _, one := range u.rendering.replaced {
		// What is not applied may have been applied by another manager before.
		left = engine.Leftover(left, []engine.Entry{one.entry})
	}
	return left
}

// startPrune deletes what the unit no longer declares.
func (r *Runner) startPrune(u *unit) {
	left := slices.DeleteFunc(r.leftover(u), func(e engine.Entry) bool { return u.Prune && u.held[e.ID] })
	p := u.pass
	if !u.Prune {
		r.drop(u, left)
		left = nil
	}
	left, doubts := r.unclaimed(u, left)
	if len(left) == 0 {
		r.prunedAll(u)
		r.mark(u.ID)
		return
	}
	u.busy, u.pruning = true, true
	id, target, former := u.ID, u.Target, r.former(u, left)
	r.work(id, func(ctx context.Context) func() {
		t, err := r.reach(ctx, id, target)
		if err != nil {
			return func() { r.stepFailed(id, p, err) }
		}
		others, err := doubts.settle(ctx, t)
		if err != nil {
			return func() { r.stepFailed(id, p, err) }
		}
		left, released := without(left, others)
		results := t.applier.Delete(ctx, apply.Deletion{Unit: id, Entries: left, Former: former})
		return func() { r.pruned(id, p, append(released, results...)) }
	}, func(err error) { r.stepFailed(id, p, err) })
}

func (r *Runner) stepFailed(id engine.UnitID, p *engine.Pass, err error) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy, u.pruning = false, false
	r.giveBack(u)
	if u.pass == p {
		r.fail(u, buildFailure(err), false)
	}
	r.mark(id)
}

// unclaimed returns the entries that no other unit is known to want and releases the others to the units that do. Of some, only the
// cluster can tell.
func (r *Runner) unclaimed(u *unit, entries []engine.Entry) ([]engine.Entry, doubts) {
	var mine []engine.Entry
	d := r.doubts(u)
	for _, e := range entries {
		wanted, doubts := r.wanted(e.ID, u.ID)
		if wanted {
			r.drop(u, []engine.Entry{e})
			continue
		}
		if len(doubts) > 0 {
			d.of[e] = doubts
		}
		mine = append(mine, e)
	}
	return mine, d
}

// without are the entries that other units do not have, and the results for those that they do: they are left alone.
func without(entries []engine.Entry, others map[engine.ObjectID]engine.UnitID) (left []engine.Entry, released []apply.Result) {
	for _, e := range entries {
		if _, other := others[e.ID]; other {
			released = append(released, apply.Result{Entry: e, Action: engine.Skip})
			continue
		}
		left = append(left, e)
	}
	return left, released
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
	u.busy, u.pruning = false, false
	failure := r.takeDeletions(u, results)
	r.reconsider(u)
	r.wakeHolding()
	r.mark(id)
	if u.pass != p {
		return
	}
	if failure != nil {
		failure.Reason = engine.ReasonPruneFailed
		r.fail(u, *failure, false)
		return
	}
	r.prunedAll(u)
}

// prunedAll brings a pass past its deletions, unless some are held.
func (r *Runner) prunedAll(u *unit) {
	if len(u.held) == 0 || len(r.leftover(u)) == 0 {
		u.pass.Progress = engine.Pruned
	}
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
				r.razes(u, result.Entry.ID)
			}
		}
	}
	r.drop(u, gone)
	return failureOf(results)
}

// deletes reports whether the deletion policy of the unit takes its objects along.
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
	r.startDestroy(u)
}

// startDestroy has the driver take away what a deleted unit holds.
func (r *Runner) startDestroy(u *unit) {
	d, id, target := u.driver, u.ID, u.Target
	// What others claim goes over to them.
	_, doubts := r.unclaimed(u, u.inventory)
	w := Work{
		Unit: id, Declared: u.Unit, Key: engine.Key{Generation: u.Generation}, Held: u.inventory, Former: r.former(u, u.inventory),
		Superseded: func() bool { return false }, Peers: Peers{r, id},
	}
	w.Follow = func(object engine.ObjectID) {
		r.mail.post(func() {
			if u, ok := r.units[id]; ok {
				u.deletion.followed = append(u.deletion.followed, object)
				r.byObject.add(object, id)
			}
		})
	}
	u.busy, u.stirred, u.deletion.waits = true, false, nil
	r.work(id, func(ctx context.Context) func() {
		if may, is := d.(Abandoner); is {
			if err := may.Orphaned(ctx, id); err != nil {
				return func() { r.abandoned(id, w.Held, err) }
			}
		}
		t, err := r.reach(ctx, id, target)
		var gone Destroyed
		var others map[engine.ObjectID]engine.UnitID
		if err == nil {
			others, err = doubts.settle(ctx, t)
		}
		if err == nil {
			w.Held, _ = without(w.Held, others)
			w.reach(t)
			gone, err = d.Destroy(ctx, w)
		}
		if err != nil {
			return func() { r.deletionFailed(id, err.Error()) }
		}
		return func() { r.destroyed(id, gone) }
	}, func(err error) { r.deletionFailed(id, err.Error()) })
}

// destroyed takes what a driver took away. Where it does not say what became of each object, all of them are gone.
func (r *Runner) destroyed(id engine.UnitID, gone Destroyed) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	defer r.mark(id)
	if len(gone.Waits) > 0 {
		u.deletion.waits = gone.Waits
		r.report(u, Report{Observed: true})
		return
	}
	failure := r.takeDeletions(u, gone.Results)
	if u.Deletion == engine.DeletionWaitForTermination {
		// Also what an attempt deleted that failed for others.
		u.terminating = engine.Union(u.terminating, deletedEntries(gone.Results))
		for _, e := range u.terminating {
			r.byObject.add(e.ID, id)
		}
	}
	if failure != nil {
		r.deletionFailed(id, failure.Message)
		return
	}
	r.drop(u, u.inventory)
	u.deletion.pruned, u.deletion.deadline = true, time.Now().Add(u.Timeout)
}

// abandoned leaves the objects of a deleted unit where they are, since they cannot be deleted.
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
	message += "; to delete it without deleting its objects, " + cmp.Or(u.LetGo, "set spec.suspend")
	r.note(u, engine.PhaseDeleting, message, true)
	r.report(u, Report{Reason: engine.ReasonPruneFailed, Message: message})
	r.mark(id)
}

// retryDeletion says when the deletion of a unit is tried again.
func (r *Runner) retryDeletion(u *unit) {
	backoff := rounds.Backoff{Min: retryMin, Max: retryDeletionMax}
	u.deletion.retry = time.Now().Add(backoff.After(u.attempts + 1))
	fact, _ := r.sources.Source(u.Source)
	u.deletion.failedAt = fact.Revision + fact.Digest
	u.attempts++
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
	r.work(id, func(ctx context.Context) func() {
		err := r.dialects.Release(ctx, id)
		return func() { r.released(id, err) }
	}, func(err error) { r.released(id, err) })
}

// released takes whether the object of a deleted unit was released.
func (r *Runner) released(id engine.UnitID, err error) {
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
