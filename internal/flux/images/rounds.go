package images

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// lastPass is what the passes of one object remember; it belongs to them.
type lastPass struct {
	rounds.Memory[looked]

	// artifact is the revision of the source that was seen last.
	artifact string
	// named are the policies that the files of the last run name, seen what the repository had then.
	named map[string]bool
	seen  string
	notes string
}

// looked is what a pass has read.
type looked struct {
	uid        types.UID
	generation int64
	requested  string
	// inputs are those that are not in the object.
	inputs string
}

func lookAt(o metav1.Object, inputs string) looked {
	return looked{o.GetUID(), o.GetGeneration(), o.GetAnnotations()[toolkit.RequestedAt], inputs}
}

// scanning, choosing and updating are the passes over the three kinds.
type (
	scanning struct {
		toolkit.ByNamespace
		*Keeper
	}
	choosing struct {
		toolkit.ByNamespace
		*Keeper
	}
	updating struct {
		toolkit.ByNamespace
		*Keeper
	}
)

// Pass lists the tags of a repository when that is due.
func (p scanning) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return p.scan(ctx, id, p.memory(id))
}

// Pass selects the image of a policy when that is due.
func (p choosing) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return p.choose(ctx, id, p.memory(id))
}

// Pass has the images put into the files of a repository when that is due.
func (p updating) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return p.update(ctx, id, p.memory(id))
}

// memory is what the passes of an object remember.
func (k *Keeper) memory(id engine.UnitID) *lastPass {
	k.mu.Lock()
	defer k.mu.Unlock()
	last, known := k.memories[id]
	if !known {
		last = &lastPass{}
		k.memories[id] = last
	}
	return last
}

// end stops the passes of an object that is gone.
func (k *Keeper) end(passes *rounds.Loop[engine.UnitID], id engine.UnitID) {
	passes.Forget(id)
	k.mu.Lock()
	delete(k.memories, id)
	k.mu.Unlock()
}

// passed notes a pass that succeeded.
func (l *lastPass) passed(now looked, interval time.Duration) rounds.Next {
	return rounds.After(l.Passed(now, rounds.About(max(interval, sources.MinInterval))))
}

// failed notes a pass that did not; one that waits is made again when something changes.
func (l *lastPass) failed(now looked, waits bool) rounds.Next {
	if waits {
		l.Waits(now, sources.Forever)
		return rounds.Rest()
	}
	return rounds.After(l.Failed(now, sources.FetchBackoff))
}
