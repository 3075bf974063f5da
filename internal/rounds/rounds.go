// Package rounds repeats work for keys: a pass for a key is made when something wakes it, when its time has come, and
// again after a while when it failed.
//
// It holds the loop that does so, one pass at a time for each key and no wake-up lost; slots, which bound what is done at
// a time and share it fairly among namespaces, hosts or whatever else a group of keys is; the waits after failures; and
// the memory of what a pass was made for. It refuses to know what a key stands for: it has no client, reads and writes
// nothing, and decides nothing but when.
package rounds

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Work is what a Loop does for its keys.
type Work[K comparable] interface {
	// Pass does what is due for a key, and says when it is due again. It is called once at a time for a key, and by
	// several goroutines for several keys. The context ends with the loop, and when the key is forgotten.
	Pass(ctx context.Context, key K) Next
	// Share names the group that a key belongs to: groups share the slots of a loop fairly. It must not block.
	Share(key K) string
}

// Next says when the pass comes that follows one, unless something wakes the key before. The zero value waits for that.
type Next struct {
	wait   time.Duration
	failed bool
	err    error
	// panicked is set where the pass has no say in when the next one comes.
	panicked bool
}

// Rest waits until something wakes the key.
func Rest() Next { return Next{} }

// After has the next pass made after a while; at once when that is not positive.
func After(wait time.Duration) Next { return Next{wait: max(wait, 1)} }

// Retry has the next pass made after a wait that grows with each failure in a row.
func Retry(err error) Next { return Next{failed: true, err: err} }

// Done rests after a pass that went well, and has one that failed made again.
func Done(err error) Next {
	if err != nil {
		return Retry(err)
	}
	return Rest()
}

// Options say how a Loop works.
type Options struct {
	// Slots bound the passes that are made at a time; several loops may share them. Without them there is no bound.
	Slots *Slots
	// Backoff is how long a pass waits that failed.
	Backoff Backoff
	// Log gets failures, at level 1.
	Log logr.Logger
	// Guard logs and counts passes that panic: they failed.
	Guard guard.Guard
}

// Loop makes passes for keys. It is safe for concurrent use.
type Loop[K comparable] struct {
	work Work[K]
	o    Options
	wg   sync.WaitGroup

	mu sync.Mutex
	// ctx is nil until the loop starts; over is set once no pass begins any more.
	ctx  context.Context
	over bool
	// rounds has an entry for each key that waits for a pass or has one in progress; there is nothing to know of others.
	rounds map[K]*round
}

// round is how one key stands.
type round struct {
	// due is set while a pass waits for a slot, or for the start of the loop; running while it is in progress; again when
	// something woke the key meanwhile.
	due, running, again bool
	// stop ends the pass, forgotten is set when that happened to it.
	stop      context.CancelFunc
	forgotten bool
	// timer is what wakes the key, at a time.
	timer    *time.Timer
	at       time.Time
	failures int
}

// New returns a Loop that makes its first pass once it is started.
func New[K comparable](work Work[K], o Options) *Loop[K] {
	return &Loop[K]{work: work, o: o, rounds: map[K]*round{}}
}

// Start starts with the passes that were requested until now, and makes passes until ctx ends.
func (l *Loop[K]) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
	for key, r := range l.rounds {
		if r.due {
			l.begin(key, r)
		}
	}
}

// Wait waits until the context of Start has ended, and with it every pass.
func (l *Loop[K]) Wait() {
	l.mu.Lock()
	ctx := l.ctx
	l.mu.Unlock()
	if ctx == nil {
		return
	}
	<-ctx.Done()
	l.mu.Lock()
	l.over = true
	for _, r := range l.rounds {
		r.quiet()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// Wake has a pass made for a key as soon as it can be: one that begins after this call.
func (l *Loop[K]) Wake(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake(key, l.round(key))
}

// WakeAt has a pass made for a key at a time at the latest.
func (l *Loop[K]) WakeAt(key K, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.round(key)
	if r.due || r.again || r.timer != nil && !r.at.After(at) {
		return
	}
	l.later(key, r, at)
}

// Forget ends the pass of a key that is gone, and everything that would have woken it. It waits for nothing. A key that
// is woken after that starts from nothing, once its last pass has ended.
func (l *Loop[K]) Forget(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, known := l.rounds[key]
	if !known {
		return
	}
	r.quiet()
	r.again, r.failures = false, 0
	if r.stop != nil {
		r.stop()
	}
	if r.forgotten = r.running; !r.running {
		delete(l.rounds, key)
	}
}

// round is that of a key. The caller holds the lock, here and in what follows.
func (l *Loop[K]) round(key K) *round {
	r, known := l.rounds[key]
	if !known {
		r = &round{}
		l.rounds[key] = r
	}
	return r
}

func (l *Loop[K]) wake(key K, r *round) {
	r.quiet()
	switch {
	case r.running:
		r.again = true
	case r.due:
	default:
		r.due = true
		if l.ctx != nil {
			l.begin(key, r)
		}
	}
}

// begin has a pass made once there is a slot. The place in the queue is taken at once, so that keys come in the order in
// which they were woken.
func (l *Loop[K]) begin(key K, r *round) {
	if l.over || l.ctx.Err() != nil {
		return
	}
	ctx, stop := context.WithCancel(l.ctx)
	r.stop = stop
	turn := l.o.Slots.join(l.work.Share(key), "")
	l.wg.Go(func() {
		defer stop()
		l.run(ctx, key, r, turn)
	})
}

// run makes a pass. It is called without the lock.
func (l *Loop[K]) run(ctx context.Context, key K, r *round, turn *Turn) {
	if !turn.wait(ctx) {
		return
	}
	l.mu.Lock()
	if ctx.Err() != nil {
		l.mu.Unlock()
		turn.End()
		return
	}
	r.due, r.running = false, true
	l.mu.Unlock()
	next := l.pass(ctx, key)
	turn.End()
	l.ended(key, r, next)
}

// pass makes a pass. One that panics is made again later.
func (l *Loop[K]) pass(ctx context.Context, key K) (next Next) {
	err := l.o.Guard.Call(fmt.Sprint(key), func() error {
		next = l.work.Pass(ctx, key)
		return nil
	})
	if err != nil {
		return Next{failed: true, err: err, panicked: true}
	}
	return next
}

// ended does what comes after a pass.
func (l *Loop[K]) ended(key K, r *round, next Next) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again, forgotten, at := r.again, r.forgotten, r.at
	planned := r.timer != nil
	r.running, r.again, r.forgotten, r.stop = false, false, false, nil
	wait := next.wait
	switch {
	case forgotten:
		wait = 0
	case next.failed:
		r.failures++
		wait = l.o.Backoff.After(r.failures)
		if next.panicked {
			wait = max(wait, afterPanic(r.failures))
		}
		if next.err != nil && l.ctx.Err() == nil {
			l.o.Log.V(1).Info("a pass failed and is tried again", "key", fmt.Sprint(key), "after", wait.String(), "error", next.err.Error())
		}
	default:
		r.failures = 0
	}
	switch {
	case again:
		l.wake(key, r)
	case wait > 0 && (!planned || time.Now().Add(wait).Before(at)):
		l.later(key, r, time.Now().Add(wait))
	case !planned:
		delete(l.rounds, key)
	}
}

// later wakes a key at a time.
func (l *Loop[K]) later(key K, r *round, at time.Time) {
	r.quiet()
	if l.over {
		return
	}
	r.at = at
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(at), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if r.timer == timer {
			l.wake(key, r)
		}
	})
	r.timer = timer
}

// quiet has no timer wake a key any more.
func (r *round) quiet() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}
