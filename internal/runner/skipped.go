package runner

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// noteSkipped notes which objects an apply has left alone. Those that their own declaration leaves to others are
// not held any more.
func (r *Runner) noteSkipped(u *unit, results []apply.Result) {
	var orphaned []engine.Entry
	for _, result := range results {
		id := result.Entry.ID
		switch {
		case result.Err != nil || result.Wait != nil:
		case result.Action != engine.Skip:
			delete(u.skipped, id)
		case result.Orphaned:
			orphaned = append(orphaned, result.Entry)
		default:
			if u.skipped == nil {
				u.skipped = map[engine.ObjectID]bool{}
			}
			u.skipped[id] = true
		}
	}
	if slices.ContainsFunc(orphaned, func(e engine.Entry) bool { return u.owned[e.ID] }) {
		r.drop(u, orphaned)
	}
}

// leftAlone reports whether an object of the unit is ignored for now: its health is that of something
// that others made of it.
func (r *Runner) leftAlone(u *unit, id engine.ObjectID) bool {
	if u.skipped[id] {
		return true
	}
	rec, known := r.record(u, id)
	return known && rec.Marks.HandsOff
}
