package hooks

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// keep bounds the records of one hook.
const keep = 10

// Delivery is the record of a delivery that has ended.
type Delivery struct {
	// ID is that of the header X-Gitea-Delivery.
	ID string
	// Event is the type of the event.
	Event string
	// At is when the event was queued; Took is how long the request took.
	At   time.Time
	Took time.Duration
	// Status is that of the answer; zero without one.
	Status int
	// Error says why it failed; empty for an answer with a status from 200 to 299.
	Error string
}

// queue is what waits for one hook, and what became of the last.
type queue struct {
	waiting []delivery
	bytes   int
	sending bool
	forgot  bool
	past    []Delivery
}

var errFull = errors.New("dropped: too many later events waited for the receiver")

// enqueue adds a delivery to the queue of its hook. Where that is full, the oldest yields: the last state of a branch is
// what receivers need.
func (d *Dispatcher) enqueue(one delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[one.hook.ID]
	if q == nil {
		q = &queue{}
		d.queues[one.hook.ID] = q
	}
	for len(q.waiting) > 0 && (len(q.waiting) >= maxQueued || q.bytes+len(one.payload) > maxBytes) {
		dropped := q.next()
		q.record(dropped.ended(identifier(), errFull))
	}
	q.waiting = append(q.waiting, one)
	q.bytes += len(one.payload)
	if !q.sending {
		q.sending = true
		d.cfg.Guard.Go(fmt.Sprintf("deliveries of hook %d", one.hook.ID), func() { d.drain(q) })
	}
}

// next takes the oldest that waits.
func (q *queue) next() delivery {
	one := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	q.bytes -= len(one.payload)
	return one
}

func (q *queue) record(past Delivery) {
	q.past = append(q.past, past)
	if len(q.past) > keep {
		q.past = slices.Delete(q.past, 0, len(q.past)-keep)
	}
}

// drain sends what waits for a hook, one after the other, and ends when nothing does.
func (d *Dispatcher) drain(q *queue) {
	for {
		d.mu.Lock()
		if len(q.waiting) == 0 || q.forgot || d.ctx.Err() != nil {
			q.sending = false
			q.waiting, q.bytes = nil, 0
			d.mu.Unlock()
			return
		}
		one := q.next()
		d.mu.Unlock()

		past := d.attempt(one)
		if past.Error != "" {
			d.cfg.Log.V(1).Info("a delivery of a hook failed", "hook", one.hook.ID, "event", past.Event, "delivery", past.ID, "reason", past.Error)
		}
		d.mu.Lock()
		q.record(past)
		d.mu.Unlock()
	}
}

// attempt sends, and makes a panic the failure of this delivery alone.
func (d *Dispatcher) attempt(one delivery) Delivery {
	var past Delivery
	err := d.cfg.Guard.Call(fmt.Sprintf("a delivery of hook %d", one.hook.ID), func() error {
		past = d.send(one)
		return nil
	})
	if err != nil {
		return one.ended(identifier(), err)
	}
	return past
}

// Deliveries are the last of a hook that have ended, the newest first.
func (d *Dispatcher) Deliveries(hook int64) []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[hook]
	if q == nil {
		return nil
	}
	past := slices.Clone(q.past)
	slices.Reverse(past)
	return past
}

// Forget drops what waits for a hook that was deleted, and its records. A delivery in progress ends as it does.
func (d *Dispatcher) Forget(hook int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q := d.queues[hook]; q != nil {
		q.forgot = true
		delete(d.queues, hook)
	}
}
