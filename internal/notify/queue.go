package notify

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// The ways in which a delivery ends, or an attempt of one, for the counters.
const (
	outcomeDelivered = "delivered"
	outcomeRetried   = "retried"
	outcomeRejected  = "rejected"
	outcomeExpired   = "expired"
	outcomeDropped   = "dropped"
	outcomeRepeated  = "repeated"
)

// Limits bound the queue.
type Limits struct {
	// Deliveries and Bytes are the most that waits.
	Deliveries, Bytes int
	// Retry and MaxRetry are the first wait after a failure and the longest one.
	Retry, MaxRetry time.Duration
}

// giveUp is how old a delivery gets.
const giveUp = 24 * time.Hour

func (l Limits) orDefaults() Limits {
	if l.Deliveries == 0 {
		l.Deliveries = 2000
	}
	if l.Bytes == 0 {
		l.Bytes = 16 << 20
	}
	if l.Retry == 0 {
		l.Retry = time.Second
	}
	if l.MaxRetry == 0 {
		l.MaxRetry = 5 * time.Minute
	}
	return l
}

// queue holds what is to be delivered, a line for each Provider. It is safe for concurrent use.
type queue struct {
	spool  *spool
	limits Limits
	log    logr.Logger
	count  func(kind, outcome string)
	// lost is called with a delivery that is dropped because the queue is full.
	lost func(d Delivery)
	// serve works a line off, until it is empty.
	serve func(ctx context.Context, l *line)
	wg    sync.WaitGroup

	mu     sync.Mutex
	lines  map[Ref]*line
	size   int
	bytes  int
	number int
	// dropped counts what was not logged yet, loggedAt is when it was last logged.
	dropped  int
	loggedAt time.Time
}

// line is what waits for one Provider.
type line struct {
	provider Ref
	wake     chan struct{}
	// Below, the lock of the queue holds.
	items    []*item
	failures int
	paused   time.Time
}

// load puts into the queue what an earlier process left.
func (q *queue) load(ctx context.Context) error {
	names, err := q.spool.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == ledgerName {
			continue
		}
		data, err := q.spool.read(name)
		var it *item
		if err == nil {
			it, err = parseItem(name, data)
		}
		if err != nil {
			q.log.Info("a queued notification is lost: its file cannot be read", "error", err.Error())
			_ = q.spool.remove(name)
			continue
		}
		q.mu.Lock()
		q.enter(ctx, it)
		q.mu.Unlock()
	}
	return nil
}

// add writes a delivery down and has it delivered.
func (q *queue) add(ctx context.Context, d Delivery) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.number++
	it := &item{Delivery: d, size: len(data), created: time.Now()}
	it.name = fileName(it.created, q.number%1000000)
	gone, room := q.makeRoom(it)
	q.mu.Unlock()
	for _, old := range gone {
		q.drop(old)
	}
	if !room {
		q.drop(it)
		return nil
	}
	// It is delivered though it could not be stored.
	err = q.spool.put(it.name, data)
	q.mu.Lock()
	q.enter(ctx, it)
	q.mu.Unlock()
	return err
}

// enter puts an item at the end of its line. The lock is held.
func (q *queue) enter(ctx context.Context, it *item) {
	l := q.lines[it.Provider]
	if l == nil {
		l = &line{provider: it.Provider, wake: make(chan struct{}, 1)}
		q.lines[it.Provider] = l
		q.wg.Go(func() { q.serve(ctx, l) })
	}
	l.items = append(l.items, it)
	q.size++
	q.bytes += it.size
	l.rouse()
}

func (l *line) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// makeRoom takes out what has to go so that an item fits: the oldest that only informs, and errors only for
// other errors. The lock is held.
func (q *queue) makeRoom(it *item) (gone []*item, room bool) {
	for q.size+1 > q.limits.Deliveries || q.bytes+it.size > q.limits.Bytes {
		victim := q.oldest(true)
		if victim == nil && !it.informs() {
			victim = q.oldest(false)
		}
		if victim == nil {
			return gone, false
		}
		q.take(victim)
		gone = append(gone, victim)
	}
	return gone, true
}

// oldest is the oldest item that is not being delivered. The lock is held.
func (q *queue) oldest(informs bool) *item {
	var found *item
	for _, l := range q.lines {
		for _, it := range l.items {
			if !it.flying && (it.informs() || !informs) && (found == nil || it.name < found.name) {
				found = it
			}
		}
	}
	return found
}

// take takes an item out of its line. The lock is held.
func (q *queue) take(it *item) {
	l := q.lines[it.Provider]
	at := slices.Index(l.items, it)
	if at < 0 {
		return
	}
	l.items = slices.Delete(l.items, at, at+1)
	q.size--
	q.bytes -= it.size
}

// logEvery is how often dropped events are logged.
const logEvery = time.Minute

// drop gives an item up because the queue is full.
func (q *queue) drop(it *item) {
	if err := q.spool.remove(it.name); err != nil {
		q.log.Info("a file of the queue could not be deleted", "error", err.Error())
	}
	q.count(it.Kind, outcomeDropped)
	q.lost(it.Delivery)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped++
	if now := time.Now(); now.Sub(q.loggedAt) >= logEvery {
		q.log.Info("the queue of notifications is full; dropping the oldest", "dropped", q.dropped, "provider", it.Provider.String())
		q.dropped, q.loggedAt = 0, now
	}
}

// finish takes an item out that is delivered, or given up.
func (q *queue) finish(it *item) {
	q.mu.Lock()
	q.take(it)
	q.mu.Unlock()
	if err := q.spool.remove(it.name); err != nil {
		q.log.Info("a file of the queue could not be deleted; its notification may be sent again", "error", err.Error())
	}
}

// wake has a line tried at once, whatever it waits for.
func (q *queue) wakeLine(provider Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[provider]
	if l == nil {
		return
	}
	l.paused, l.failures = time.Time{}, 0
	for _, it := range l.items {
		it.due = time.Time{}
	}
	l.rouse()
}

// next returns the item whose turn it is, or how long to wait. A line that is empty is closed. Of the items of
// one object the first goes first; of the rest one that failed does not hold up others.
func (q *queue) next(l *line, now time.Time) (it *item, wait time.Duration, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(l.items) == 0 {
		delete(q.lines, l.provider)
		return nil, 0, false
	}
	if l.paused.After(now) {
		return nil, l.paused.Sub(now), true
	}
	taken := map[sequence]bool{}
	soonest := now.Add(q.limits.MaxRetry)
	for _, one := range l.items {
		if taken[one.sequence()] {
			continue
		}
		taken[one.sequence()] = true
		switch {
		case one.due.After(now):
			if one.due.Before(soonest) {
				soonest = one.due
			}
		case it == nil || one.attempts < it.attempts:
			it = one
		}
	}
	if it == nil {
		return nil, soonest.Sub(now), true
	}
	it.flying = true
	return it, 0, true
}
