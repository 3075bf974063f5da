package rounds

import (
	"math/rand/v2"
	"time"
)

// Backoff is how long something waits that failed: Min after the first failure, twice as long after each that follows, and
// Max at most.
type Backoff struct{ Min, Max time.Duration }

// After is the wait after so many failures in a row.
func (b Backoff) After(failures int) time.Duration {
	wait := b.Min
	for range failures - 1 {
		if wait >= b.Max/2 {
			return b.Max
		}
		wait *= 2
	}
	return min(wait, b.Max)
}

// afterPanic is how long a pass waits at least that panicked, whatever others wait.
func afterPanic(failures int) time.Duration {
	return Backoff{Min: time.Second, Max: 5 * time.Minute}.After(failures)
}

// About is a time that is five percent more or less: what began together does not come back together.
func About(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.95 + 0.1*rand.Float64())) //nolint:gosec // it spreads load, and protects nothing
}
