package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// work delivers what is in a line, one after the other, until the line is empty or ctx ends.
func (n *Notifier) work(ctx context.Context, l *line) {
	for ctx.Err() == nil {
		it, wait, open := n.queue.next(l, time.Now())
		switch {
		case !open:
			return
		case it != nil:
			n.attempt(ctx, l, it)
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// resolveTimeout bounds the reading of a Provider and its Secrets.
const resolveTimeout = 15 * time.Second

// attempt tries one delivery.
func (n *Notifier) attempt(ctx context.Context, l *line, it *item) {
	if time.Since(it.created) > giveUp {
		n.queue.finish(it)
		n.count(it.Kind, outcomeExpired)
		n.lost(it.Delivery)
		n.config.Failed(it.Delivery, errors.New("expired after a day"))
		return
	}
	err := n.config.Guard.Call("notification for "+it.Provider.String(), func() error { return n.deliver(ctx, it.Delivery) })
	if ctx.Err() != nil {
		return
	}
	var f *failure
	switch {
	case err == nil:
		n.queue.finish(it)
		n.queue.succeeded(l)
		n.count(it.Kind, outcomeDelivered)
		n.config.Failed(it.Delivery, nil)
	case errors.Is(err, ErrGone):
		n.queue.finish(it)
		n.count(it.Kind, outcomeRejected)
		n.lost(it.Delivery)
	case errors.Is(err, ErrSuspended):
		n.queue.held(l, it)
	case errors.As(err, &f) && f.final:
		n.queue.finish(it)
		n.count(it.Kind, outcomeRejected)
		n.lost(it.Delivery)
		n.config.Failed(it.Delivery, err)
	default:
		var after time.Duration
		if f != nil {
			after = f.after
		}
		n.queue.failed(l, it, after)
		n.count(it.Kind, outcomeRetried)
		n.config.Failed(it.Delivery, err)
	}
}

func (n *Notifier) deliver(ctx context.Context, d Delivery) error {
	resolving, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	settings, err := n.config.Resolve(resolving, d)
	if err != nil {
		return err
	}
	settings.Egress = n.config.Egress
	return Send(ctx, settings, d.Event)
}

// lost makes the status of a commit news again that was not written.
func (n *Notifier) lost(d Delivery) {
	if Forge(d.Kind) {
		n.ledger.retract(d.Alert, d.Event.InvolvedObject)
	}
}

// backoff is the wait after so many failures, a little more or less, so that many do not come back at once.
func (l Limits) backoff(failures int) time.Duration {
	wait := rounds.Backoff{Min: l.Retry, Max: l.MaxRetry}.After(failures)
	return wait*3/4 + rand.N(wait/2+1) //nolint:gosec // it spreads load, and protects nothing
}

// succeeded has what waits in a line tried at once: its receiver is there again. What fails all the same waits for its own time from then on, so that
// a message which its receiver refuses is not sent with each of the others.
func (q *queue) succeeded(l *line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.failures, l.paused = 0, time.Time{}
	for _, it := range l.items {
		if !it.due.IsZero() && !it.woken {
			it.due, it.woken = time.Time{}, true
		}
	}
}

// failed has an item tried again later, and its whole line rest for a while.
func (q *queue) failed(l *line, it *item, after time.Duration) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	it.flying = false
	it.attempts++
	it.woken = it.woken && it.due.IsZero()
	l.failures++
	it.due = now.Add(max(q.limits.backoff(it.attempts), after))
	l.paused = now.Add(max(q.limits.backoff(l.failures), after))
}

// held has a line wait for a change of its Provider.
func (q *queue) held(l *line, it *item) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.flying = false
	l.paused = time.Now().Add(q.limits.MaxRetry)
}
