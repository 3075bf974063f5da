package runner

import (
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
)

// tug counts how often an object had to be reverted lately, for each field and the manager that changed it: who sets one field again and
// again is in a tug-of-war, three who set a field each are not.
type tug map[contest]*round

// contest is a field of an object and the manager that changed it. Both are empty for an object that was deleted, and where it is
// unknown what was changed.
type contest struct{ manager, field string }

// round is how often a contest came to a correction, and when it last did.
type round struct {
	count int
	last  time.Time
}

// Bounds of a tug-of-war: so many corrections within a window are made at once, further ones wait
// ever longer.
const (
	tugFree   = 3
	tugWindow = 5 * time.Minute
	tugDelay  = 2 * time.Second
	tugMax    = 5 * time.Minute
)

// count enters a correction, and returns how often the most contested of its fields was corrected lately.
func (t tug) count(drift apply.Drift, now time.Time) int {
	fields := drift.Fields
	if len(fields) == 0 {
		fields = []string{""}
	}
	for of, r := range t {
		if now.Sub(r.last) > tugWindow {
			delete(t, of)
		}
	}
	times := 0
	for _, field := range fields {
		of := contest{drift.Manager, field}
		if t[of] == nil {
			t[of] = &round{}
		}
		t[of].count, t[of].last = t[of].count+1, now
		times = max(times, t[of].count)
	}
	return times
}

// delay is how long the next correction of the object has to wait: whatever it corrects, it writes the most contested field as well.
func (t tug) delay(now time.Time) time.Duration {
	var wait time.Duration
	for _, r := range t {
		if r.count >= tugFree && now.Sub(r.last) <= tugWindow {
			next := min(tugDelay<<min(r.count-tugFree, 10), tugMax)
			wait = max(wait, r.last.Add(next).Sub(now))
		}
	}
	return wait
}
