package toolkit

import (
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// RetryDesk is how long a piece of work waits that failed.
const RetryDesk = time.Second

// Desk does one thing for each object that changed, one object after the other, and again when it failed.
type Desk = rounds.Loop[engine.UnitID]

// NewDesk returns a desk that has not started.
func NewDesk(log logr.Logger, g guard.Guard, work rounds.Work[engine.UnitID]) *Desk {
	return rounds.New(work, rounds.Options{
		Slots: rounds.NewSlots(1), Backoff: rounds.Backoff{Min: RetryDesk, Max: RetryDesk}, Log: log, Guard: g,
	})
}

// ByNamespace shares what a loop does among the namespaces of its objects.
type ByNamespace struct{}

// Share is the namespace of an object.
func (ByNamespace) Share(id engine.UnitID) string { return id.Namespace }
