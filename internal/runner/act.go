package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// startAct has the driver act, and begins to follow what the unit holds then.
func (r *Runner) startAct(u *unit) {
	p, d := u.pass, u.driver
	if u.declares() {
		u.drift, u.driftAt = nil, time.Time{}
	} else {
		r.countLooks(u)
	}
	u.stirred, u.barred, u.paces.act.at = false, false, time.Now()
	r.drive(u, func(ctx context.Context, w Work, t *target) Acted {
		acted := d.Act(ctx, w)
		if !acted.Watched {
			r.followAll(ctx, t, acted.Entries)
		}
		t.enter(acted)
		return acted
	}, func(u *unit, acted Acted) {
		p.Waits, p.Waiting, p.Again = acted.Waits, acted.Waiting, acted.Again
		_, p.Attended = d.(Attendant)
		if len(acted.Waiting) == 0 {
			p.Progress = engine.Applied
		}
	})
}

// enter enters what a driver wrote of the objects that the unit holds, so that they are not judged by what
// they were before.
func (t *target) enter(acted Acted) {
	if len(acted.Written) == 0 {
		return
	}
	held := make(map[engine.ObjectID]bool, len(acted.Entries))
	for _, e := range acted.Entries {
		held[e.ID] = true
	}
	for _, o := range acted.Written {
		if held[engine.IDOf(o).In(t.cluster.Name)] {
			t.cluster.Objects.Put(o)
		}
	}
}

// startVerify lets the driver check what is healthy.
func (r *Runner) startVerify(u *unit) {
	p, d := u.pass, u.driver.(Attendant)
	r.drive(u, func(ctx context.Context, w Work, _ *target) Acted { return d.Verify(ctx, w) }, func(*unit, Acted) {
		p.Progress = engine.Verified
	})
}

// startRemedy has the driver deal with what is not healthy. The pass ends with its failure.
func (r *Runner) startRemedy(u *unit, message string) {
	d := u.driver.(Attendant)
	r.drive(u, func(ctx context.Context, w Work, _ *target) Acted {
		acted := d.Remedy(ctx, w, message)
		if acted.Failure == nil {
			acted.Failure = &engine.Failure{Reason: engine.ReasonHealthCheckFailed, Message: message}
		}
		return acted
	}, func(*unit, Acted) {})
}

// drive runs a step of a driver; then is run in the loop when it ended without a failure, and the pass is still the same.
// The worker has a copy of what it needs of the unit.
func (r *Runner) drive(u *unit, step func(context.Context, Work, *target) Acted, then func(*unit, Acted)) {
	p, id := u.pass, u.ID
	w := Work{Unit: id, Declared: u.Unit, Key: p.Key, Fresh: u.fresh(), Held: u.inventory, Peers: Peers{r, id}}
	var claims claims
	declares := u.declares()
	if declares {
		w.Objects, w.Repeated = u.rendering.objects, u.rendering.repeated
		claims = r.reserve(u, u.rendering)
	}
	source, sources := u.Source, r.sources
	w.Superseded = func() bool {
		fact, _ := sources.Source(source)
		return !fact.In(w.Key)
	}
	target, names := u.Target, r.names[u.Target.Owner]
	u.busy = true
	r.work(id, func(ctx context.Context) func() {
		t, err := r.reach(ctx, id, target)
		if err != nil {
			return func() { r.stepFailed(id, p, err) }
		}
		if !declares {
			// Which kinds it needs is unknown before it acts.
			if err := t.cluster.Kinds.AwaitAll(ctx); err != nil {
				return func() { r.stepFailed(id, p, err) }
			}
		}
		w.reach(t)
		verdicts := claims.settle(ctx, r, t)
		joined := claims.join(ctx, t, id, names)
		w.Conflicts, w.Deferred, w.Disputes, w.Shared = claims.conflicts, claims.deferred, claims.disputes, joined.shared
		acted := step(ctx, w, t)
		return func() {
			r.believe(id, verdicts)
			r.acted(id, p, acted, then)
			r.found(id, claims, joined.first)
		}
	}, func(err error) { r.stepFailed(id, p, err) })
}

func (w *Work) reach(t *target) {
	w.Config, w.Ended, w.Kinds = t.config, t.ended, t.cluster.Kinds.Revision()
	w.Versions, w.Cluster, w.Applier = t.versions, t.cluster, t.applier
	w.Kind = func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, bool, bool) {
		res, ok := t.cluster.Kinds.Find(gvk)
		return res.GroupVersionResource, res.Namespaced, ok
	}
}

// versions are those of the objects, as the watches have them.
func (t *target) versions(entries []engine.Entry) (string, bool) {
	var all strings.Builder
	for _, e := range entries {
		r, known := t.cluster.Objects.Get(e.ID)
		if !known {
			return "", false
		}
		fmt.Fprintf(&all, "%s@%d ", r.UID, r.ResourceVersion)
	}
	return all.String(), true
}

// acted takes what a driver did.
func (r *Runner) acted(id engine.UnitID, p *engine.Pass, acted Acted, then func(*unit, Acted)) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	defer r.mark(id)
	defer r.wakeHolding()
	r.takeHeld(u, p, &acted)
	if u.declares() {
		r.countDrift(u, acted.Results)
		r.countDrift(u, acted.Changes)
		r.reconsider(u)
	}
	if u.pass != p {
		return
	}
	if acted.Superseded {
		u.part()
		return
	}
	r.takeResults(u, acted)
	r.noteMarks(u, acted.Results)
	came := r.awaitNeeds(u)
	u.stirred = came || u.stirred
	failure := acted.Failure
	if failure == nil {
		failure = failureOf(acted.Results)
	}
	if failure != nil {
		if came {
			// What was missing exists by now, and sends no more events.
			failure.Transient, failure.After, acted.Terminal = true, 0, false
		}
		r.nameRazers(u, acted.Results, failure)
		r.fail(u, *failure, acted.Terminal)
		return
	}
	r.nameRazers(u, acted.Results, nil)
	then(u, acted)
	if came {
		r.resume(u)
	}
}

// takeHeld takes what a unit holds from now on, and gives the rest back that it was about to apply.
func (r *Runner) takeHeld(u *unit, p *engine.Pass, acted *Acted) {
	switch {
	case u.traits.Prunes:
		r.rescope(u)
		r.setInventory(u, engine.Union(acted.Entries, u.inventory))
		r.noteSkipped(u, acted.Results)
		r.settleClaims(u, acted.Results)
	default:
		if acted.Held || acted.Failure == nil && acted.Entries != nil {
			r.replaceHeld(u, p, acted)
		}
		r.rescope(u)
	}
	r.giveBack(u)
	r.reviseOthers(u, acted.Results)
}

// replaceHeld has a unit hold what its driver says, and nothing else.
func (r *Runner) replaceHeld(u *unit, p *engine.Pass, acted *Acted) {
	r.takeDeferred(u, p, acted)
	r.drop(u, engine.Leftover(u.inventory, acted.Entries))
	fresh := slices.ContainsFunc(acted.Entries, func(e engine.Entry) bool { return !u.owned[e.ID] })
	r.setInventory(u, acted.Entries)
	// What happened to an object before it was known to be of the unit has woken no one.
	u.stirred = u.stirred || fresh && len(acted.Waiting) > 0
	r.holdActed(u, *acted)
	if u.rendering != nil && !u.declares() {
		held := *u.rendering
		held.entries = acted.Entries
		u.rendering = &held
	}
}

// takeResults takes what became of each object in the current pass, and what is waited for.
func (r *Runner) takeResults(u *unit, acted Acted) {
	u.needs, u.pass.Pending = acted.Needs, nil
	r.clearConflicts(u, acted.Results)
	for _, result := range acted.Changes {
		r.count(u, result)
	}
	for _, result := range acted.Results {
		r.count(u, result)
		if result.Wait != nil {
			u.needs = append(u.needs, *result.Wait)
			u.pass.Pending = append(u.pass.Pending, result.Wait.Wait)
		}
	}
}

// followAll watches the kinds of what a unit holds, so that its health can be judged.
func (r *Runner) followAll(ctx context.Context, t *target, entries []engine.Entry) {
	namespaces := map[schema.GroupVersionKind][]string{}
	for _, e := range entries {
		gvk := e.GroupVersionKind()
		namespaces[gvk] = append(namespaces[gvk], e.ID.Namespace)
	}
	for gvk, where := range namespaces {
		// What cannot be watched is read while it is waited for.
		_ = t.cluster.Objects.WatchManaged(ctx, gvk, where)
	}
	t.cluster.Objects.Read(ctx, t.cluster.Objects.Unwatched(entries))
}
