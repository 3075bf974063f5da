package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// Driver brings units to what they declare that are more than objects to apply, such as Helm releases.
// Its methods are called by workers, one at a time for each unit. None of them waits for health: that is
// the runner's.
type Driver interface {
	// Prepare reads what the unit declares beside its source. Options are not used. Objects that it returns are
	// claimed for the unit, and handed to Act.
	Prepare(ctx context.Context, id engine.UnitID) (Inputs, error)
	// Act brings the unit on as far as it can be without waiting. It is called again when something that Acted.Waiting
	// may be about has changed.
	Act(ctx context.Context, w Work) Acted
	// Verify is called when the objects that Act returned are healthy. It may take its time.
	Verify(ctx context.Context, w Work) Acted
	// Remedy is called when they are not, with the reason; the failure that it returns ends the pass.
	Remedy(ctx context.Context, w Work, message string) Acted
	// Destroy takes away what a deleted unit holds. It is called again when something changed that it waits for.
	Destroy(ctx context.Context, w Work) (waits []engine.Wait, err error)
}

// Judge is a driver that says how well a unit is that has reached what it declares, as the object of another one.
// The record is that of the object; the answer costs no request.
type Judge interface {
	Judge(id engine.UnitID, rec cluster.Record) engine.ObjectHealth
}

// Work is what a driver works on.
type Work struct {
	Unit engine.UnitID
	// Key is the desired state. Fresh is set when a user requested a pass.
	Key   engine.Key
	Fresh bool
	// Config is how the unit's cluster is reached, as whom the unit works there.
	Config *rest.Config
	// Ended has something done when Config is no longer used.
	Ended func(func())
	// Kinds changes when the cluster comes to serve other kinds.
	Kinds uint64
	// Versions changes when one of the objects does; it is not ok while they are not all known. It costs no
	// request.
	Versions func([]engine.Entry) (versions string, ok bool)
	// Kind tells how a kind is reached in that cluster.
	Kind func(schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced, ok bool)

	// Objects are those that Prepare gave, in their order and scoped as the cluster has them; Held is what the
	// unit holds.
	Objects []*unstructured.Unstructured
	Held    []engine.Entry
	// Repeated are objects that were there several times, by how many there were; the last one is among Objects.
	Repeated map[engine.ObjectID]int
	// Conflicts are objects that belong to another unit.
	Conflicts map[engine.ObjectID]engine.UnitID
	// Cluster is that of the unit, as whom the unit works there, and Applier writes to it.
	Cluster *cluster.Cluster
	Applier *apply.Applier
	// Superseded tells that something else is wanted by now.
	Superseded func() bool
	// Peers tell what other units have to do with objects, before these are written or deleted.
	Peers Peers
	// Follow has Destroy called again when an object changes that the unit does not hold.
	Follow func(engine.ObjectID)
}

// Acted is what a driver did.
type Acted struct {
	// Entries are what the unit holds from now on; they count when Failure is nil, or when Held is set.
	Entries []engine.Entry
	Held    bool
	// Deferred are objects that the unit holds no longer for its own sake: they are deleted when no other unit may claim them.
	Deferred []engine.Entry
	// Written are objects as they were after they were written: the watches may not have brought that yet.
	Written []*unstructured.Unstructured
	// Waits has the health of the entries waited for, when the unit has any.
	Waits bool
	// Waiting has Act called again when something changed, or at Again when that is not zero.
	Waiting []engine.Wait
	Again   time.Time
	// Needs are what objects need before they can be written; what failed for want of them is tried again when
	// they come.
	Needs   []apply.Need
	Changes []apply.Result
	// Failure ends the pass. A terminal one is not tried again without a change.
	Failure  *engine.Failure
	Terminal bool
}

// driven returns the driver of a unit, nil when its objects are applied.
func (r *Runner) driven(id engine.UnitID) Driver { return r.drivers[id.GroupKind()] }

// prepare is the render of a unit that is driven.
func (r *Runner) prepare(ctx context.Context, j job, d Driver) (*rendering, *Inputs) {
	out := &rendering{key: j.key, entries: j.held}
	inputs := j.cached
	if inputs == nil {
		got, err := d.Prepare(ctx, j.id)
		out.versions = got.Versions
		if err != nil {
			out.err = err
			return out, nil
		}
		inputs = &got
	}
	out.inputs, out.versions = inputs.Digest, inputs.Versions
	out.result = &render.Result{Digest: inputs.Digest}
	if p := j.previous; p != nil && p.result != nil && p.result.Digest == inputs.Digest && p.declared == (inputs.Objects != nil) {
		out.result = p.result
	}
	t, err := r.reach(ctx, j.id, j.target)
	if err != nil {
		out.err = err
		return out, inputs
	}
	if inputs.Objects != nil {
		out.declared, out.entries = true, nil
		if out.result.Objects == nil {
			out.result.Objects = inputs.Objects
		}
		out.err = r.finish(out, t, inputs)
	}
	return out, inputs
}

// startAct has the driver act, and begins to follow what the unit holds then.
func (r *Runner) startAct(u *unit) {
	p, d := u.pass, r.driven(u.ID)
	if u.declares() {
		u.drift, u.driftAt = nil, time.Time{}
	} else {
		r.countLooks(u)
	}
	u.stirred, u.barred, u.paces.act.at = false, false, time.Now()
	r.drive(u, func(ctx context.Context, w Work, t *target) Acted {
		acted := d.Act(ctx, w)
		r.followAll(ctx, t, acted.Entries)
		t.enter(acted)
		return acted
	}, func(u *unit, acted Acted) {
		if u.pass != p {
			return
		}
		p.Waits, p.Waiting, p.Again = acted.Waits, acted.Waiting, acted.Again
		if len(acted.Waiting) == 0 {
			p.Progress = engine.Applied
		}
	})
}

// enter enters what a driver wrote of the objects that the unit holds, so that they are not judged by what
// they were before.
func (t *target) enter(acted Acted) {
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
	p, d := u.pass, r.driven(u.ID)
	r.drive(u, func(ctx context.Context, w Work, _ *target) Acted { return d.Verify(ctx, w) }, func(u *unit, _ Acted) {
		if u.pass == p {
			p.Progress = engine.Verified
		}
	})
}

// startRemedy has the driver deal with what is not healthy. The pass ends with its failure.
func (r *Runner) startRemedy(u *unit, message string) {
	d := r.driven(u.ID)
	r.drive(u, func(ctx context.Context, w Work, _ *target) Acted {
		acted := d.Remedy(ctx, w, message)
		if acted.Failure == nil {
			acted.Failure = &engine.Failure{Reason: engine.ReasonHealthCheckFailed, Message: message}
		}
		return acted
	}, func(*unit, Acted) {})
}

// drive runs a step of a driver; then is run in the loop when it ended without a failure.
func (r *Runner) drive(u *unit, step func(context.Context, Work, *target) Acted, then func(*unit, Acted)) {
	p, id := u.pass, u.ID
	w := Work{Unit: id, Key: p.Key, Fresh: u.fresh(), Held: u.inventory}
	var claims claims
	if u.declares() {
		w.Objects, w.Repeated = u.rendering.objects, u.rendering.repeated
		claims = r.reserve(u, u.rendering)
	}
	source, sources := u.Source, r.sources
	w.Superseded = func() bool {
		fact, _ := sources.Source(source)
		return !fact.In(w.Key)
	}
	w.Peers = Peers{r, id}
	target := u.Target
	u.busy = true
	r.work(func(ctx context.Context) func() {
		t, err := r.reach(ctx, id, target)
		if err != nil {
			return func() { r.stepFailed(id, p, err) }
		}
		w.reach(t)
		claims.settle(ctx, t)
		w.Conflicts = claims.conflicts
		acted := step(ctx, w, t)
		return func() { r.acted(id, p, acted, then) }
	})
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
	defer r.giveBack(u)
	if acted.Held || acted.Failure == nil && acted.Entries != nil {
		r.takeDeferred(u, p, &acted)
		r.drop(u, engine.Leftover(u.inventory, acted.Entries))
		r.setInventory(u, acted.Entries)
		r.holdActed(u, acted)
		if u.rendering != nil && !u.declares() {
			u.rendering.entries = acted.Entries
		}
	}
	r.rescope(u)
	for _, change := range acted.Changes {
		r.count(u, change)
	}
	if u.declares() {
		r.countDrift(u, apply.Outcome{Results: acted.Changes})
		r.reconsider(u)
	}
	u.needs = acted.Needs
	came := r.awaitNeeds(u)
	u.stirred = came || u.stirred
	if acted.Failure != nil {
		if came && u.pass == p {
			// What was missing exists by now, and sends no more events.
			acted.Failure.Transient, acted.Failure.After, acted.Terminal = true, 0, false
		}
		if u.pass == p {
			r.fail(u, *acted.Failure, acted.Terminal)
		}
		return
	}
	then(u, acted)
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

// startDestroy takes away what a deleted unit holds, and lets its object go.
func (r *Runner) startDestroy(u *unit) {
	d, id, target := r.driven(u.ID), u.ID, u.Target
	// What others claim goes over to them.
	r.unclaimed(u, u.inventory)
	w := Work{Unit: id, Key: engine.Key{Generation: u.Generation}, Held: u.inventory, Superseded: func() bool { return false }}
	w.Follow = func(object engine.ObjectID) {
		r.mail.post(func() {
			if u, ok := r.units[id]; ok {
				u.deletion.followed = append(u.deletion.followed, object)
				r.byObject.add(object, id)
			}
		})
	}
	w.Peers = Peers{r, id}
	u.busy, u.stirred, u.deletion.waits = true, false, nil
	r.work(func(ctx context.Context) func() {
		t, err := r.reach(ctx, id, target)
		var waits []engine.Wait
		if err == nil {
			w.reach(t)
			waits, err = d.Destroy(ctx, w)
		}
		if err != nil {
			return func() { r.deletionFailed(id, err.Error()) }
		}
		return func() { r.destroyed(id, waits) }
	})
}

func (r *Runner) destroyed(id engine.UnitID, waits []engine.Wait) {
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.busy = false
	if len(waits) > 0 {
		u.deletion.waits = waits
		r.report(u, Report{Observed: true})
		r.mark(id)
		return
	}
	r.drop(u, u.inventory)
	u.deletion.pruned = true
	r.mark(id)
}
