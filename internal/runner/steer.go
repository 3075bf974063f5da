package runner

import (
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// noteMarks notes how objects are marked with which something failed: a message may ask for another mark.
func (r *Runner) noteMarks(u *unit, results []apply.Result) {
	u.steered = nil
	for _, result := range results {
		rec, there := r.record(u, result.Entry.ID)
		if result.Err == nil || !there {
			continue
		}
		if u.steered == nil {
			u.steered = map[engine.ObjectID]engine.Marks{}
		}
		u.steered[result.Entry.ID] = rec.Marks
	}
}

// steer tries again what has failed with an object that is marked otherwise by now.
func (r *Runner) steer(u *unit, id engine.ObjectID) {
	was, failed := u.steered[id]
	rec, there := r.record(u, id)
	if !failed || !there || rec.Marks == was {
		return
	}
	delete(u.steered, id)
	if u.last.Failure != nil {
		u.last.Failure.RetryAt = time.Now()
	}
}
