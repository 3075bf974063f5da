package flux

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/engine"
)

// retryDesk is how long a piece of work waits that failed.
const retryDesk = time.Second

// desk does one thing for each object that changed, one object after the other, and again when it failed.
// It is safe for concurrent use.
type desk struct {
	do  func(ctx context.Context, id engine.UnitID) error
	log logr.Logger

	mu      sync.Mutex
	waiting map[engine.UnitID]bool
	wake    chan struct{}
}

func newDesk(log logr.Logger, do func(ctx context.Context, id engine.UnitID) error) *desk {
	return &desk{do: do, log: log, waiting: map[engine.UnitID]bool{}, wake: make(chan struct{}, 1)}
}

// add has the work done for an object.
func (d *desk) add(id engine.UnitID) {
	d.mu.Lock()
	d.waiting[id] = true
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// take returns what waits.
func (d *desk) take() []engine.UnitID {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ids []engine.UnitID
	for id := range d.waiting {
		ids = append(ids, id)
	}
	clear(d.waiting)
	return ids
}

// run does the work until ctx ends.
func (d *desk) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		for _, id := range d.take() {
			err := d.do(ctx, id)
			if err == nil || ctx.Err() != nil {
				continue
			}
			d.log.V(1).Info("retrying", "object", id.String(), "error", err.Error())
			time.AfterFunc(retryDesk, func() { d.add(id) })
		}
	}
}
