package flux

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// imageRounds make passes over objects: for each object one after the other, in a goroutine of its own that sleeps
// until it is woken or until the pass before said. It is safe for concurrent use.
type imageRounds struct {
	// pass does what is due, and returns how long to wait for the next.
	pass func(ctx context.Context, id engine.UnitID, last *lastPass) time.Duration
	wg   sync.WaitGroup

	mu      sync.Mutex
	running map[engine.UnitID]*round
}

type round struct {
	wake chan struct{}
	stop context.CancelFunc
}

// lastPass is what the passes of one object remember; it belongs to their goroutine.
type lastPass struct {
	// made is what the last pass had read; nil before the first one.
	made *looked
	// due is when the next one is to be made.
	due      time.Time
	failures int
	// artifact is the revision of the source that was seen last.
	artifact string
	// named are the policies that the files of the last run name, seen what the repository had then.
	named map[string]bool
	seen  string
	notes string
}

// looked is what a pass reads.
type looked struct {
	uid        types.UID
	generation int64
	requested  string
	// inputs are those that are not in the object.
	inputs string
}

func lookAt(o metav1.Object, inputs string) looked {
	return looked{o.GetUID(), o.GetGeneration(), o.GetAnnotations()[requestedAt], inputs}
}

func newRounds(pass func(ctx context.Context, id engine.UnitID, last *lastPass) time.Duration) *imageRounds {
	return &imageRounds{pass: pass, running: map[engine.UnitID]*round{}}
}

// wake reconciles an object.
func (r *imageRounds) wake(ctx context.Context, id engine.UnitID) {
	r.mu.Lock()
	one, known := r.running[id]
	if !known && ctx.Err() == nil {
		one = &round{wake: make(chan struct{}, 1)}
		var own context.Context
		own, one.stop = context.WithCancel(ctx)
		r.running[id] = one
		r.wg.Go(func() { r.run(own, id, one) })
	}
	r.mu.Unlock()
	if one == nil {
		return
	}
	select {
	case one.wake <- struct{}{}:
	default:
	}
}

// end stops the passes of an object that is gone.
func (r *imageRounds) end(id engine.UnitID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, known := r.running[id]; known {
		one.stop()
		delete(r.running, id)
	}
}

func (r *imageRounds) run(ctx context.Context, id engine.UnitID, one *round) {
	timer := time.NewTimer(forever)
	defer timer.Stop()
	var last lastPass
	for {
		select {
		case <-ctx.Done():
			return
		case <-one.wake:
		case <-timer.C:
		}
		timer.Reset(r.pass(ctx, id, &last))
	}
}

// rest is how long an object may rest: zero when there is something to do.
func (l *lastPass) rest(now looked) time.Duration {
	if l.made == nil || *l.made != now {
		return 0
	}
	return max(0, time.Until(l.due))
}

// passed notes a pass that succeeded, and returns how long to wait for the next.
func (l *lastPass) passed(now looked, interval time.Duration) time.Duration {
	l.made, l.failures = &now, 0
	return l.wait(time.Duration(float64(max(interval, minInterval)) * (0.95 + 0.1*rand.Float64())))
}

// failed notes a pass that did not; one that waits is made again when something changes.
func (l *lastPass) failed(now looked, waits bool) time.Duration {
	l.made = &now
	l.failures++
	if waits {
		return l.wait(forever)
	}
	return l.wait(min(fetchRetryMin<<min(l.failures-1, 12), fetchRetryMax))
}

func (l *lastPass) wait(d time.Duration) time.Duration {
	l.due = time.Now().Add(d)
	return d
}
