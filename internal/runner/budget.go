package runner

import (
	"context"
	"time"
)

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

// cost is what evaluations took of a budget, and whether it was used up before all were done.
type cost struct {
	spent     time.Duration
	exhausted bool
}

// within evaluates one after the other until a budget is used up, or ctx ends. One evaluation may exceed it.
func within[T any](ctx context.Context, budget time.Duration, all []T, one func(T)) cost {
	var c cost
	began := time.Now()
	for _, item := range all {
		if ctx.Err() != nil {
			return c
		}
		if c.spent >= budget {
			c.exhausted = true
			return c
		}
		one(item)
		c.spent = time.Since(began)
	}
	return c
}
