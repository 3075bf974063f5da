package takeover

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/runner"
)

// surveyBackoff is how long a survey waits that could not ask for everything.
var surveyBackoff = wait.Backoff{Duration: time.Second, Factor: 2, Steps: 8, Cap: time.Minute}

// Recovery looks in each cluster once for what an earlier process applied and was killed before it
// could write it down. A cluster that this engine begins with has nothing of the kind.
type Recovery struct {
	ctx     context.Context
	runner  *runner.Runner
	log     logr.Logger
	guard   guard.Guard
	since   map[engine.UnitID]Watermark
	Running sync.WaitGroup

	mu     sync.Mutex
	looked map[string]bool
}

// Begin has clusters searched for what the units of these watermarks may have applied later.
func (r *Recovery) Begin(ctx context.Context, host *dialect.Host, since map[engine.UnitID]Watermark) {
	r.ctx, r.runner, r.log, r.guard, r.since, r.looked = ctx, host.Runner, host.Log, host.Guard, since, map[string]bool{}
}

// Look begins the search in a cluster, if there has not been one.
func (r *Recovery) Look(c *cluster.Cluster) {
	r.mu.Lock()
	known := r.looked[c.Name]
	r.looked[c.Name] = true
	r.mu.Unlock()
	if known || len(r.since) == 0 {
		return
	}
	r.Running.Go(func() { r.guard.Run("the search for what an earlier run applied", func() { r.search(c) }) })
}

func (r *Recovery) search(c *cluster.Cluster) {
	backoff := surveyBackoff
	for r.ctx.Err() == nil {
		managed, err := c.Survey(r.ctx)
		found := map[engine.UnitID][]engine.Entry{}
		for _, m := range managed {
			id := toolkit.KustomizationID(m.Unit.Namespace, m.Unit.Name)
			if from, known := r.since[id]; known && from.before(m.Applied) {
				found[id] = append(found[id], m.Entry)
			}
		}
		r.runner.Recover(found)
		if err == nil || backoff.Steps == 0 {
			return
		}
		r.log.Info("not every kind could be searched for objects of an earlier run", "cluster", c.Name, "error", err.Error())
		select {
		case <-r.ctx.Done():
		case <-time.After(backoff.Step()):
		}
	}
}

// Watermarks returns when the status of each Kustomization was written last that an engine has had in
// its hands before: those have its finalizer.
func Watermarks(all []*kustomizev1.Kustomization) map[engine.UnitID]Watermark {
	marks := make(map[engine.UnitID]Watermark, len(all))
	for _, ks := range all {
		if toolkit.HasFinalizer(ks) {
			marks[toolkit.KustomizationID(ks.Namespace, ks.Name)] = watermarkOf(ks)
		}
	}
	return marks
}

// Watermark is when the status of a unit was written last: what was applied before that is in it.
// All times are to the second.
type Watermark struct {
	at time.Time
	// open is set when a pass was in progress then, or when no status was written yet and the time is
	// that of the unit itself: what was applied in that second came after it.
	open bool
}

// before reports whether what was applied at a time may be missing in the status. Within the second
// in which a pass ended it counts as written: forgetting is the smaller evil than deleting.
func (w Watermark) before(applied time.Time) bool {
	return applied.After(w.at) || (w.open && applied.Equal(w.at))
}

// watermarkOf reads when the status of a unit was written from its managed fields.
func watermarkOf(ks *kustomizev1.Kustomization) Watermark {
	w := Watermark{at: ks.CreationTimestamp.Time, open: true}
	reconciling := apimeta.FindStatusCondition(ks.Status.Conditions, toolkit.ConditionReconciling)
	for _, f := range ks.ManagedFields {
		if f.Subresource == "status" && f.Time != nil && !f.Time.Time.Before(w.at) {
			w = Watermark{at: f.Time.Time, open: reconciling != nil && reconciling.Reason == meta.ProgressingReason}
		}
	}
	return w
}
