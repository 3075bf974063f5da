package digitalocean

import (
	"context"
	"sync"
	"time"
)

// lately remembers for a while what was fetched, so that passes that are made at the same time share one request. It is safe
// for concurrent use.
type lately[K comparable, V any] struct {
	clock Clock
	while time.Duration
	// turn is held by whichever pass fetches.
	turn chan struct{}

	mu    sync.Mutex
	known map[K]dated[V]
}

type dated[V any] struct {
	value V
	at    time.Time
}

func newLately[K comparable, V any](c Clock, while time.Duration) *lately[K, V] {
	return &lately[K, V]{clock: c, while: while, turn: make(chan struct{}, 1), known: map[K]dated[V]{}}
}

// get returns what was fetched lately, or fetches it.
func (l *lately[K, V]) get(ctx context.Context, key K, fetch func(context.Context, K) (V, error)) (V, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		var nothing V
		return nothing, ctx.Err()
	}
	now := l.clock.Now()
	if one, known := l.look(key); known && now.Sub(one.at) < l.while {
		return one.value, nil
	}
	value, err := fetch(ctx, key)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.known[key] = dated[V]{value, now}
	}
	return value, err
}

func (l *lately[K, V]) look(key K) (dated[V], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, known := l.known[key]
	return one, known
}

// forget has a key fetched again: something was requested about it.
func (l *lately[K, V]) forget(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, key)
}
