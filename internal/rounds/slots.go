package rounds

import (
	"context"
	"runtime"
	"slices"
	"sync"
)

// Slots bound what is done at a time. Each request for one waits in the queue of its share, and a slot that comes free goes
// to the share that has the fewest: a namespace with a thousand objects does not keep others from being served. They are safe
// for concurrent use.
//
// Each share, and each place where slots are spent, keeps to a part of them: a host that takes
// requests and never answers is not waited for in all slots. A quarter of what a share has at most is not for one place, so
// that one such host leaves something to its neighbours in the namespace too.
type Slots struct {
	mu   sync.Mutex
	free int
	// kept are for shares that have none.
	kept   int
	shares map[string]*share
	// most is what a share or a place has at most; places have an entry where slots are spent.
	most   int
	places map[string]int
	// events counts shares that came and slots that were given.
	events uint64
}

// share is a group of those that want slots. There is one while it has a slot or waits for one.
type share struct {
	taken   int
	waiting []*Turn
	// places are where its slots are spent.
	places map[string]int
	// came and served are the numbers of its coming and of its last slot; the latter is zero before the first one.
	came, served uint64
}

// Turn is a slot, or a place in the queue for one.
type Turn struct {
	slots        *Slots
	share, place string
	// given is closed when it has become a slot.
	given chan struct{}
}

// NewSlots returns a number of slots. A quarter of them, and one at least where there are several, is not for one share: what never ends in
// one namespace is not waited for in all slots.
func NewSlots(n int) *Slots {
	const kept = 4
	return NewBoundedSlots(n, max(1, n-max(1, n/kept)))
}

// PerProcessor returns a slot for each processor, which one share may have all, and one more for other shares.
func PerProcessor() *Slots {
	n := runtime.GOMAXPROCS(0)
	return NewBoundedSlots(n+1, n)
}

// NewBoundedSlots returns a number of slots, of which one share, or one place, has so many at most.
func NewBoundedSlots(n, most int) *Slots {
	return &Slots{free: n, most: most, shares: map[string]*share{}, places: map[string]int{}}
}

// Keep has so many of the slots go to shares that have none: however long a few shares keep the others, a further one is served. It is for before the
// first Take.
func (s *Slots) Keep(n int) *Slots {
	s.kept = n
	return s
}

// Take waits for a slot, which has to be given back by End. There is none, and ok is false, when ctx ends before.
func (s *Slots) Take(ctx context.Context, share string) (turn *Turn, ok bool) {
	return s.TakeAt(ctx, share, "")
}

// TakeAt is Take for a slot that is spent at a place, such as a host.
func (s *Slots) TakeAt(ctx context.Context, share, place string) (turn *Turn, ok bool) {
	turn = s.join(share, place)
	return turn, turn.wait(ctx)
}

// join queues for a slot. Where there are no Slots there is no bound.
func (s *Slots) join(name, place string) *Turn {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, known := s.shares[name]
	if !known {
		s.events++
		one = &share{came: s.events, places: map[string]int{}}
		s.shares[name] = one
	}
	turn := &Turn{slots: s, share: name, place: place, given: make(chan struct{})}
	one.waiting = append(one.waiting, turn)
	s.give()
	return turn
}

// give gives away what is free. The caller holds the lock.
func (s *Slots) give() {
	for s.free > 0 {
		var next *share
		at := 0
		for _, one := range s.shares {
			if first := s.first(one); first >= 0 && (next == nil || one.before(next)) {
				next, at = one, first
			}
		}
		if next == nil {
			return
		}
		turn := next.waiting[at]
		s.free--
		s.events++
		next.taken++
		next.served = s.events
		s.places[turn.place]++
		next.places[turn.place]++
		close(turn.given)
		next.waiting = append(next.waiting[:at:at], next.waiting[at+1:]...)
	}
}

// first is the first turn in the queue of a share that may have a slot, less than zero when there is none.
func (s *Slots) first(one *share) int {
	if one.taken >= s.most || one.taken > 0 && s.free <= s.kept {
		return -1
	}
	return slices.IndexFunc(one.waiting, func(t *Turn) bool {
		return t.place == "" || s.places[t.place] < s.most && one.places[t.place] < s.most-s.most/4
	})
}

// before reports whether a share is served before another one: that which has fewer slots, was served longer ago, or came
// first.
func (s *share) before(other *share) bool {
	switch {
	case s.taken != other.taken:
		return s.taken < other.taken
	case s.served != other.served:
		return s.served < other.served
	}
	return s.came < other.came
}

// wait waits until a turn has come; when ctx ends before, it gives its place up.
func (t *Turn) wait(ctx context.Context) bool {
	if t == nil {
		return ctx.Err() == nil
	}
	select {
	case <-t.given:
		return true
	case <-ctx.Done():
	}
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	select {
	case <-t.given:
		t.back()
	default:
		one := t.slots.shares[t.share]
		for i, other := range one.waiting {
			if other == t {
				one.waiting = append(one.waiting[:i:i], one.waiting[i+1:]...)
				break
			}
		}
		t.slots.tidy(t.share)
	}
	return false
}

// End gives a slot back.
func (t *Turn) End() {
	if t == nil {
		return
	}
	t.slots.mu.Lock()
	defer t.slots.mu.Unlock()
	t.back()
}

// back is End for a caller that holds the lock.
func (t *Turn) back() {
	t.slots.free++
	one := t.slots.shares[t.share]
	one.taken--
	if one.places[t.place]--; one.places[t.place] == 0 {
		delete(one.places, t.place)
	}
	if t.slots.places[t.place]--; t.slots.places[t.place] == 0 {
		delete(t.slots.places, t.place)
	}
	t.slots.give()
	t.slots.tidy(t.share)
}

// tidy forgets a share that has nothing and wants nothing. The caller holds the lock.
func (s *Slots) tidy(name string) {
	if one := s.shares[name]; one.taken == 0 && len(one.waiting) == 0 {
		delete(s.shares, name)
	}
}
