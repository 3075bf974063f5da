package runner

import "time"

// Bounds of what the expressions of one unit may cost: so long at once, and a small share of the time since. An expression has its own
// bound, so that one evaluation may exceed them, and is paid for later.
const (
	evaluationBudget = time.Second
	evaluationShare  = 20
	// evaluateAgain is how long a unit waits that has used its budget up.
	evaluateAgain = 5 * time.Second
)

// budget is what the evaluations of one unit have cost and has not been forgotten yet. The zero value has spent nothing.
type budget struct {
	spent time.Duration
	at    time.Time
}

// left is how long the unit may evaluate now.
func (b *budget) left(now time.Time) time.Duration { return evaluationBudget - b.owed(now) }

// spend adds what an evaluation has cost.
func (b *budget) spend(now time.Time, cost time.Duration) {
	b.spent, b.at = b.owed(now)+cost, now
}

func (b *budget) owed(now time.Time) time.Duration {
	return max(0, b.spent-now.Sub(b.at)/evaluationShare)
}
