package runner

import (
	"context"

	"github.com/headgate-dev/headgate/internal/engine"
)

// settled wakes units that may continue now that the unit has progressed.
func (r *Runner) settled(u *unit) {
	r.wakeDependents(u.ID, map[engine.UnitID]bool{})
	if parents := r.byObject[u.ID.Object()]; parents != nil {
		r.markAll(parents)
	}
	r.wakeHolding()
}

// wakeDependents wakes the units that depend on one. Those that depend on one of these which rests may wait for that one, too: it
// does not wake them itself.
func (r *Runner) wakeDependents(id engine.UnitID, seen map[engine.UnitID]bool) {
	for next := range r.dependents[id] {
		if seen[next] {
			continue
		}
		seen[next] = true
		r.mark(next)
		if u := r.units[next]; u != nil && u.pass == nil && u.phase != engine.PhaseWaitingForDependencies {
			r.wakeDependents(next, seen)
		}
	}
}

// wakeHolding wakes the units that hold their deletions back until others have come further, and
// those whose objects belong to others that might have released them.
func (r *Runner) wakeHolding() {
	for id := range r.needy {
		u, ok := r.units[id]
		if !ok || len(u.needs) == 0 {
			delete(r.needy, id)
			continue
		}
		for _, need := range u.needs {
			if u.pass != nil && !u.busy && r.objectCame(u, need) {
				u.stirred = true
				r.resume(u)
			}
		}
	}
	r.markAll(r.holding)
}

// cancelHealthCheck reports that a pass is over which waits for the health of its objects, since something newer is wanted.
func (r *Runner) cancelHealthCheck(u *unit) {
	p, want := u.pass, r.facts(u).Want()
	if p.Progress != engine.Pruned || p.Failure != nil || !p.Waits || !u.Health.Checked() || p.Key == want {
		return
	}
	id, by := u.ID, engine.Subject(u.ID)
	if p.Key.Revision != want.Revision || p.Key.Digest != want.Digest {
		by = u.Source
	}
	r.work(id, func(ctx context.Context) func() {
		r.dialects.HealthCheckCanceled(ctx, id, by)
		return func() {}
	}, func(error) {})
}
