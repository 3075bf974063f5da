package argo

import (
	"sync"

	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// news is what others hear of an Application.
type news struct {
	unit engine.Unit
	keys []feeds.Key
	// follow is set when the keys are others than before, stir when an operation may wait for what was read.
	follow, stir bool
}

// audience hears what Applications declare: the feeds which repositories, the runner which units.
type audience interface {
	Want(owner string, keys []feeds.Key)
	Upsert(unit engine.Unit)
	Stir(id engine.UnitID)
	Remove(id engine.UnitID)
}

// everybody is the audience of an engine.
type everybody struct {
	*feeds.Feeds
	*runner.Runner
}

// relay reports Applications in the order in which they were read. The watch reads them, and so does everything that
// writes to them or to what they depend on: the lock is held from when one is taken until it has been notified of, or an
// older state would be told last.
type relay struct {
	mu sync.Mutex
	audience
}

// tell reports one Application. The caller holds the lock.
func (r *relay) tell(id engine.UnitID, n news) {
	if n.follow {
		r.Want(id.String(), n.keys)
	}
	r.Upsert(n.unit)
	if n.stir {
		r.Stir(id)
	}
}
