package argo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// lack is something in a cluster without which objects of an Application cannot be written, and that others have to bring.
type lack struct {
	cluster string
	need    apply.Need
}

// maxGenerations bounds how far down a family of Applications is followed: one may be among its own descendants.
const maxGenerations = 16

// lack takes what the objects of an operation need, where that is all that it waits for, or failed for.
func (d *driver) lack(a *app, op *running, all bool) {
	var needs []apply.Need
	if all {
		needs = op.lacks()
	}
	a.mu.Lock()
	comes := len(a.view.lacks) == 0 && len(needs) > 0
	a.view.lacks = needs
	a.mu.Unlock()
	if comes {
		// What waits for the Application reads its status; what waits for a set does not.
		d.sets.Stalled(a.now())
	}
}

// failedForLack reports whether an operation failed for nothing but what objects need that others have to bring.
func (r *running) failedForLack() bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	return !slices.ContainsFunc(r.sync.Tasks, func(t *operation.Task) bool { return t.State == operation.Failed && len(r.needs[t.ID]) == 0 })
}

// lacking are what an Application needs of others to become healthy, where it waits for nothing else, however far down its family; none
// where it may become healthy without them.
func (e *Engine) lacking(id engine.UnitID, generations int) []lack {
	a := e.apps.get(id)
	if a == nil || generations == 0 {
		return nil
	}
	fact, _ := sources{e}.Source(a.source())
	if _, unsettled := a.unsettled(fact); unsettled {
		return a.lacking(fact)
	}
	standing := a.standing()
	if standing.Records == nil {
		return nil
	}
	var all []lack
	for _, object := range standing.Counted {
		rec, there := standing.Records.Get(object)
		if !there {
			continue
		}
		if h := e.healthOf(rec); h.Status == live.Healthy || h.Status == "" {
			continue
		}
		lacks := e.lackingChild(object, generations-1)
		if len(lacks) == 0 {
			return nil
		}
		all = append(all, lacks...)
	}
	return all
}

// lacking are what the operation of an Application that is as it is declared now needs of others.
func (a *app) lacking(fact engine.SourceFact) []lack {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	if len(a.invalid) > 0 || v.broken != nil || v.generation != a.generation || v.content != fact.Digest {
		return nil
	}
	all := make([]lack, len(v.lacks))
	for i, need := range v.lacks {
		all[i] = lack{a.target(), need}
	}
	return all
}

// lackingChild is lacking for an object of an Application: another Application, or a set of them.
func (e *Engine) lackingChild(id engine.ObjectID, generations int) []lack {
	switch {
	case id.Cluster != "":
	case id.GroupKind() == applicationKind:
		return e.lacking(engine.UnitOf(id), generations)
	case id.GroupKind() == applicationSetKind:
		var all []lack
		for name := range e.sets.Moving(types.NamespacedName{Namespace: id.Namespace, Name: id.Name}) {
			lacks := e.lacking(UnitID(id.Namespace, name), generations)
			if len(lacks) == 0 {
				return nil
			}
			all = append(all, lacks...)
		}
		return all
	}
	return nil
}

// broughtAgain is how soon it is evaluated again whether others bring what a child lacks: no event says that they do not.
const broughtAgain = 5 * time.Second

// lackTime is how long children lack something before an operation continues without them: a simulation brings what nothing else does once all rests.
const lackTime = 15 * time.Second

// leave has an operation continue where all that it waits for are children that lack what nothing brings which has been applied: only what it
// does next can. It reports whether the operation continues, and when to evaluate that again.
func (d *driver) leave(ctx context.Context, a *app, w runner.Work, tasks []*operation.Task) (left bool, again time.Time) {
	lacks := make([][]lack, len(tasks))
	for i, t := range tasks {
		if lacks[i] = d.lackingChild(t.ID, maxGenerations); len(lacks[i]) == 0 {
			a.job.op.lackingSince = time.Time{}
			return false, time.Time{}
		}
	}
	if a.job.op.lackingSince.IsZero() {
		a.job.op.lackingSince = time.Now()
	}
	if until := a.job.op.lackingSince.Add(lackTime); time.Now().Before(until) {
		return false, until
	}
	for _, l := range slices.Concat(lacks...) {
		brings, err := w.Peers.Brings(ctx, l.cluster, l.need)
		if err != nil || brings || d.creates(a, l) {
			return false, time.Now().Add(broughtAgain)
		}
	}
	for i, t := range tasks {
		why := fmt.Sprintf("continued without waiting for %s: %s, and nothing that has been applied brings it", t.ID, lacks[i][0].need.Reason)
		a.job.op.sync.Leave(t, why)
		d.events.left(a.now(), why)
	}
	return len(tasks) > 0, time.Time{}
}

// creates reports whether an Application other than the one that asks creates a namespace that is lacking.
func (e *Engine) creates(asks *app, l lack) bool {
	found := false
	e.apps.each(func(a *app) {
		a.mu.Lock()
		defer a.mu.Unlock()
		failed := a.view.operation != nil && failedForGood(a.view.operation)
		found = found || a != asks && a.target() == l.cluster && asksFor(a.obj, l.need.Object) && !failed
	})
	return found
}
