package rounds

import "time"

// Memory is what the passes of a key remember that is woken more often than there is something to do: what the last pass
// was made for, and when the next one is due though that stays the same. It belongs to the passes of its key; the zero
// value has nothing behind it.
type Memory[T comparable] struct {
	made     bool
	of       T
	due      time.Time
	failures int
}

// Made reports whether the last pass was made for the same.
func (m *Memory[T]) Made(now T) bool { return m.made && m.of == now }

// Last is what the last pass was made for, if there was one.
func (m *Memory[T]) Last() (of T, made bool) { return m.of, m.made }

// Rest is how long there is nothing to do: zero when the next pass is due.
func (m *Memory[T]) Rest(now T) time.Duration {
	if !m.Made(now) {
		return 0
	}
	return max(0, time.Until(m.due))
}

// Passed notes a pass that went well, and when the next one is due.
func (m *Memory[T]) Passed(now T, wait time.Duration) time.Duration {
	m.failures = 0
	return m.note(now, wait)
}

// Failed notes a pass that failed, and how long it is until it is tried again.
func (m *Memory[T]) Failed(now T, b Backoff) time.Duration {
	m.failures++
	return m.note(now, b.After(m.failures))
}

// Waits notes a pass that failed for as long as nothing changes.
func (m *Memory[T]) Waits(now T, most time.Duration) time.Duration {
	m.failures++
	return m.note(now, most)
}

// Forget has the next pass made whatever it is for. How often one failed in a row is kept.
func (m *Memory[T]) Forget() { m.made = false }

func (m *Memory[T]) note(now T, wait time.Duration) time.Duration {
	m.made, m.of, m.due = true, now, time.Now().Add(wait)
	return wait
}
