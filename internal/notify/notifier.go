package notify

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Config is what a Notifier needs. None of the functions may be nil, but Count.
type Config struct {
	// Dir keeps the queue; when it is empty nothing outlives the process.
	Dir string
	// Alerts are those that select objects of a kind in a namespace. It must not block.
	Alerts func(kind, namespace string) []*Alert
	// Resolve reads the Provider of a delivery and its Secrets. It returns ErrGone or ErrSuspended when
	// there is no Alert to deliver to.
	Resolve func(ctx context.Context, d Delivery) (Settings, error)
	// Failed is called with the result of each attempt; the error is nil if it succeeded.
	Failed func(d Delivery, err error)
	// Count, when set, is called with the outcomes by type of Provider.
	Count  func(kind, outcome string)
	Limits Limits
	// Egress is where receivers may be: anywhere by default.
	Egress egress.Rules
	Log    logr.Logger
	// Guard logs and counts panics: the event or the delivery is lost, the others are not.
	Guard guard.Guard
}

// Notifier takes events and delivers them. It is safe for concurrent use.
type Notifier struct {
	config Config
	queue  *queue
	ledger *ledger
	spool  *spool
	wg     sync.WaitGroup
	wake   chan struct{}

	mu    sync.Mutex
	inbox []taken
	// dropped counts the events that arrived faster than they could be stored.
	dropped int
}

// taken is an event in the inbox; it is not fresh when it was seen a moment ago.
type taken struct {
	Fact
	fresh bool
}

const (
	// maxInbox bounds the events that are not stored yet.
	maxInbox = 2000
	// ledgerName is the file of the ledger, saveEvery how often it is written.
	ledgerName = "told.json"
	saveEvery  = time.Second
)

// Start begins to deliver: first what an earlier process left. It goes on until ctx ends.
func Start(ctx context.Context, c Config) (*Notifier, error) {
	if c.Count == nil {
		c.Count = func(string, string) {}
	}
	keep, err := newSpool(c.Dir)
	if err != nil {
		return nil, err
	}
	n := &Notifier{config: c, ledger: newLedger(), spool: keep, wake: make(chan struct{}, 1)}
	data, err := keep.read(ledgerName)
	if err == nil {
		err = n.ledger.load(data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Log.Info("the record of sent notifications cannot be read; some may be sent again", "error", err.Error())
	}
	n.queue = &queue{
		spool: keep, limits: c.Limits.orDefaults(), log: c.Log, count: n.count, lost: n.lost, serve: n.work, lines: map[Ref]*line{},
	}
	if err := n.queue.load(ctx); err != nil {
		return nil, err
	}
	dispatched := make(chan struct{})
	n.wg.Go(func() {
		defer close(dispatched)
		n.dispatch(ctx)
	})
	n.wg.Go(func() { c.Guard.Run("the record of sent notifications", func() { n.save(ctx, dispatched) }) })
	return n, nil
}

// Wait waits until everything has ended that Start began.
func (n *Notifier) Wait() {
	n.wg.Wait()
	n.queue.wg.Wait()
}

func (n *Notifier) count(kind, outcome string) { n.config.Count(kind, outcome) }

// Changed has what waits for a Provider tried at once.
func (n *Notifier) Changed(provider Ref) { n.queue.wakeLine(provider) }

// Publish takes an event, without waiting for anything. It returns false for one that was taken a moment ago.
func (n *Notifier) Publish(f Fact) bool {
	fresh := n.ledger.first(&f.Event, time.Now())
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.inbox) >= maxInbox {
		oldest := slices.IndexFunc(n.inbox, func(t taken) bool { return t.Event.Severity != SeverityError && !t.Ready })
		n.inbox = slices.Delete(n.inbox, max(oldest, 0), max(oldest, 0)+1)
		n.dropped++
	}
	n.inbox = append(n.inbox, taken{f, fresh})
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return fresh
}

// dispatch hands events to the Alerts that they concern.
func (n *Notifier) dispatch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			// Accepted events are stored before the end.
			n.route(context.WithoutCancel(ctx), ctx)
			return
		case <-n.wake:
			n.route(ctx, ctx)
		}
	}
}

func (n *Notifier) route(ctx, work context.Context) {
	n.mu.Lock()
	batch, dropped := n.inbox, n.dropped
	n.inbox, n.dropped = nil, 0
	n.mu.Unlock()
	if dropped > 0 {
		n.config.Log.Info("events arrive faster than they can be stored; the oldest were dropped", "dropped", dropped)
	}
	for i := range batch {
		one := &batch[i]
		n.config.Guard.Run("event of "+one.Event.InvolvedObject.String(), func() { n.tell(ctx, work, one) })
	}
}

// tell has one event delivered to whom it concerns.
func (n *Notifier) tell(ctx, work context.Context, t *taken) {
	o := t.Event.InvolvedObject
	for _, a := range n.config.Alerts(o.Kind, o.Namespace) {
		selected, err := a.selects(ctx, &t.Fact)
		if err != nil {
			n.config.Log.Info("labels of an object are unknown; its event is not sent to Alerts that select by labels", "alert", a.Ref.String(), "object", o.String(), "error", err.Error())
			continue
		}
		if !selected {
			continue
		}
		e, news := n.ledger.word(a, &t.Fact, time.Now(), t.fresh)
		if !news {
			if !t.fresh {
				n.count(a.Kind, outcomeRepeated)
			}
			continue
		}
		if err := n.queue.add(work, Delivery{Provider: a.Provider, Alert: a.Ref, Kind: a.Kind, Event: e}); err != nil {
			n.config.Log.Info("a notification could not be stored, and will be lost if this process ends", "error", err.Error())
		}
	}
}

// save writes the ledger down when it changed, not too often, and at the end.
func (n *Notifier) save(ctx context.Context, dispatched <-chan struct{}) {
	for ended := false; !ended; {
		select {
		case <-dispatched:
			ended = true
		case <-n.ledger.changed:
			timer := time.NewTimer(saveEvery)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
		data, err := n.ledger.encode()
		if err == nil {
			err = n.spool.put(ledgerName, data)
		}
		if err != nil {
			n.config.Log.Info("the record of sent notifications could not be written", "error", err.Error())
		}
	}
}
