package cloud

import (
	"sync"
	"time"
)

// Clock tells a cloud the time, by which everything proceeds that takes time there.
type Clock interface{ Now() time.Time }

// Running is the clock of the machine.
type Running struct{}

// Now is the current time.
func (Running) Now() time.Time { return time.Now() }

// Manual is a clock that only moves when it is moved. It is safe for concurrent use.
type Manual struct {
	mu  sync.Mutex
	now time.Time
}

// At makes a clock that shows a time.
func At(t time.Time) *Manual { return &Manual{now: t} }

// Now is the time that the clock shows.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Advance moves the clock forward.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// Timing is how long things take. A zero field is its default, which suits a trial: the real ones are minutes.
type Timing struct {
	// Create is how long a Droplet is new, Act how long any other action takes, Destroy how long a deleted Droplet is
	// still there.
	Create, Act, Destroy time.Duration
	// Queue is how long an image is NEW, Import how long until it is available, if the transfer takes no longer.
	Queue, Import time.Duration
}

func (t Timing) orDefaults() Timing {
	for field, standard := range map[*time.Duration]time.Duration{
		&t.Create: 2 * time.Second, &t.Act: time.Second, &t.Destroy: time.Second, &t.Queue: time.Second, &t.Import: 3 * time.Second,
	} {
		if *field == 0 {
			*field = standard
		}
	}
	return t
}
