package flux

import (
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// retryDesk is how long a piece of work waits that failed.
const retryDesk = time.Second

// desk does one thing for each object that changed, one object after the other, and again when it failed.
type desk = rounds.Loop[engine.UnitID]

func newDesk(log logr.Logger, work rounds.Work[engine.UnitID]) *desk {
	return rounds.New(work, rounds.Options{
		Slots: rounds.NewSlots(1), Backoff: rounds.Backoff{Min: retryDesk, Max: retryDesk}, Log: log,
	})
}

// byNamespace shares what a loop does among the namespaces of its objects.
type byNamespace struct{}

// Share is the namespace of an object.
func (byNamespace) Share(id engine.UnitID) string { return id.Namespace }
