package helm

import (
	"context"
	"sync"
)

// turns lets one action at a time work on a release.
type turns struct {
	mu   sync.Mutex
	held map[string]*turn
}

// turn is whose turn it is on one release: who sends to the channel has it.
type turn struct {
	slot    chan struct{}
	waiting int
}

func newTurns() *turns { return &turns{held: map[string]*turn{}} }

// take waits for its turn, no longer than the context lasts, and returns how it is given back.
func (t *turns) take(ctx context.Context, key string) (func(), error) {
	t.mu.Lock()
	one := t.held[key]
	if one == nil {
		one = &turn{slot: make(chan struct{}, 1)}
		t.held[key] = one
	}
	one.waiting++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(t.held, key)
		}
	}
	select {
	case one.slot <- struct{}{}:
		return func() { <-one.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
