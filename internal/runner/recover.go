package runner

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Recover reports objects that an earlier run applied for a unit and did not record before it
// was killed. They are held from now on, so that they are deleted if nothing declares them any more.
func (r *Runner) Recover(found map[engine.UnitID][]engine.Entry) {
	r.mail.post(func() {
		for id, entries := range found {
			if u, ok := r.units[id]; ok {
				r.recover(u, entries)
			}
		}
	})
}

func (r *Runner) recover(u *unit, entries []engine.Entry) {
	entries = slices.DeleteFunc(entries, func(e engine.Entry) bool { return e.ID.Cluster != u.Target.Cluster })
	n := r.takeUp(u, entries, engine.Held)
	if n == 0 {
		return
	}
	r.note(u, u.phase, fmt.Sprintf("%d objects that an earlier run applied but did not record were added to the inventory", n), false)
	if (u.pass == nil || u.pass.Progress >= engine.Applied) && len(r.leftover(u)) > 0 {
		// What it holds has been checked already.
		u.inputs++
	}
	r.mark(u.ID)
}

// takeUp adds objects without another owner to the inventory of a unit, and returns how many. They are held
// where their marks say so, and else recorded.
func (r *Runner) takeUp(u *unit, entries []engine.Entry, grip engine.Grip) int {
	var mine []engine.Entry
	for _, e := range engine.Leftover(entries, u.inventory) {
		if owner, owned := r.owners.Owner(e.ID); owned && owner != u.ID {
			continue
		}
		if r.owners.Record(e.ID, u.ID); grip == engine.Held {
			r.owners.Hold(e.ID, u.ID)
		}
		mine = append(mine, e)
	}
	r.setInventory(u, engine.Union(mine, u.inventory))
	r.rescope(u)
	return len(mine)
}
