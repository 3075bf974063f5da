package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// job is one preparation, with everything it needs, so that it can run outside the loop.
type job struct {
	id       engine.UnitID
	target   engine.Target
	driver   Driver
	key      engine.Key
	artifact *source.Artifact
	previous *rendering
	cached   *Inputs
	fresh    bool
	sourced  bool
	// held is what the unit holds now.
	held []engine.Entry
}

func (r *Runner) jobOf(u *unit, key engine.Key, fresh bool) job {
	_, artifact := r.sources.Source(u.Source)
	j := job{
		id: u.ID, target: u.Target, driver: u.driver, key: key, artifact: artifact, previous: u.rendering, fresh: fresh, sourced: u.Sourced(),
		held: u.inventory,
	}
	if u.inputsFor == u.inputs && u.cached != nil && !fresh && j.previous != nil && j.previous.key.Generation == key.Generation {
		j.cached = u.cached
	}
	return j
}

// startRender renders in a worker, unless the look ahead has done so already.
func (r *Runner) startRender(u *unit) {
	p := u.pass
	if u.looking {
		// The look ahead wakes the unit when it is done.
		u.busy = true
		return
	}
	j := r.jobOf(u, p.Key, u.fresh())
	u.busy = true
	r.work(j.id, func(ctx context.Context) func() {
		out, inputs := r.render(ctx, j)
		return func() { r.rendered(j, p, out, inputs) }
	}, func(err error) { r.rendered(j, p, j.failed(err), nil) })
}

// lookAhead renders a unit that waits for its dependencies, so that it is known in time what it
// will claim, and so that nothing is left to render when the dependencies are met.
func (r *Runner) lookAhead(u *unit) {
	fact, _ := r.sources.Source(u.Source)
	key := u.wants(fact)
	if u.looking || u.looked == key || fact.Revision == "" && u.Sourced() {
		return
	}
	u.looking, u.looked = true, key
	j := r.jobOf(u, key, false)
	r.work(j.id, func(ctx context.Context) func() {
		out, inputs := r.render(ctx, j)
		return func() { r.lookedAhead(j, out, inputs) }
	}, func(err error) { r.lookedAhead(j, j.failed(err), nil) })
}

// lookedAhead takes the result of a render that belongs to no pass.
func (r *Runner) lookedAhead(j job, out *rendering, inputs *Inputs) {
	u, ok := r.units[j.id]
	if !ok {
		return
	}
	u.looking = false
	r.accept(u, out, inputs)
	if u.busy && u.pass != nil && u.pass.Progress == engine.Begun {
		u.busy = false
	}
	r.mark(u.ID)
	r.wakeHolding()
}

// failed is the result of a render that panicked.
func (j job) failed(err error) *rendering { return &rendering{key: j.key, entries: j.held, err: err} }

// render runs in a worker.
func (r *Runner) render(ctx context.Context, j job) (*rendering, *Inputs) {
	out := &rendering{key: j.key, entries: j.held}
	got, err := j.prepare(ctx)
	out.versions = got.Versions
	if err != nil {
		out.err, out.mentions = err, got.Mentions
		if got.Digest == "" {
			return out, nil
		}
		return out, &got.Inputs
	}
	out.inputs, out.tree, out.result = got.Digest, got.Tree, j.resultOf(got)
	out.declared = got.Result != nil || got.Objects != nil
	if got.Same && r.targets.get(j.target) != nil {
		out.repeat(j.previous, &got.Inputs)
		return out, &got.Inputs
	}
	t, err := r.reach(ctx, j.id, j.target)
	if err != nil {
		out.err = err
		return out, &got.Inputs
	}
	if out.declared {
		out.entries = nil
		if out.err = t.cluster.Kinds.Await(ctx, out.result.Objects); out.err == nil {
			out.err = r.finish(out, t, &got.Inputs)
		}
	}
	return out, &got.Inputs
}

// prepare has the driver prepare the unit, unless that would give the same again.
func (j job) prepare(ctx context.Context) (Prepared, error) {
	before := j.before()
	if before != nil && j.cached != nil && j.previous.key.Revision == j.key.Revision && j.previous.key.Digest == j.key.Digest && !before.Result.Volatile {
		same := *before
		same.Inputs, same.Same = *j.cached, true
		if !j.previous.declared {
			same.Result = nil
		}
		return same, nil
	}
	return j.driver.Prepare(ctx, Preparation{
		Unit: j.id, Sourced: j.sourced, Artifact: j.artifact, Fresh: j.fresh, Inputs: j.cached, Before: before,
	})
}

// before is the last preparation of the same declaration, nil when there is none that succeeded.
func (j job) before() *Prepared {
	p := j.previous
	if p.failed() || p.key.Generation != j.key.Generation {
		return nil
	}
	return &Prepared{Inputs: Inputs{Digest: p.inputs}, Tree: p.tree, Result: p.result}
}

// resultOf is what was rendered, or what stands for it: the same as before where it is.
func (j job) resultOf(got Prepared) *render.Result {
	p := j.previous
	switch {
	case got.Result != nil:
		return got.Result
	case p != nil && p.result != nil && p.result.Digest == got.Digest && p.declared == (got.Objects != nil):
		return p.result
	default:
		return &render.Result{Objects: got.Objects, Digest: got.Digest}
	}
}

// repeat has a rendering have what was made of the one before, which was the same.
func (r *rendering) repeat(before *rendering, inputs *Inputs) {
	if !r.declared {
		return
	}
	r.objects, r.entries, r.children = before.objects, before.entries, before.children
	r.replaced, r.orphaned, r.repeated, r.given = before.replaced, before.orphaned, before.repeated, inputs
}

// finish labels the objects with their owner and puts them in order.
func (r *Runner) finish(out *rendering, t *target, inputs *Inputs) error {
	out.given, out.repeated = inputs, nil
	seen := map[engine.ObjectID]int{}
	objects := make([]*unstructured.Unstructured, 0, len(out.result.Objects))
	for _, o := range out.result.Objects {
		o = o.DeepCopy()
		label(o, inputs.Labels)
		scope(o, t, out.result.Objects, inputs.Namespace)
		id := t.applier.Entry(o).ID
		if id.Name == "" {
			// It gets its name when it is created, if it may: it cannot be claimed.
			objects = append(objects, o)
			continue
		}
		if r.cfg.Reserved[id] {
			continue
		}
		if why := r.replaced(t, o); why != "" {
			out.replaced = append(out.replaced, replaced{t.applier.Entry(o), why})
			continue
		}
		at, known := seen[id]
		switch {
		case !known:
			seen[id] = len(objects)
			objects = append(objects, o)
		case inputs.LastWins:
			objects[at] = o
			out.again(id)
		default:
			return fmt.Errorf("%s is rendered twice", id)
		}
	}
	out.objects = engine.Sort(objects)
	for _, o := range out.objects {
		if o.GetName() == "" {
			continue
		}
		entry := t.applier.Entry(o)
		out.entries = append(out.entries, entry)
		if t.applier.Orphans(o) {
			out.orphaned = append(out.orphaned, entry.ID)
		}
	}
	if t.cluster.Name == "" {
		out.children = childrenOf(out.objects, r.unitKinds)
	}
	return nil
}

// again notes that an object is there once more.
func (r *rendering) again(id engine.ObjectID) {
	if r.repeated == nil {
		r.repeated = map[engine.ObjectID]int{}
	}
	r.repeated[id] = max(r.repeated[id], 1) + 1
}

func label(o *unstructured.Unstructured, labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	all := maps.Clone(o.GetLabels())
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	o.SetLabels(all)
}

// rendered takes the result of a render that belongs to a pass.
func (r *Runner) rendered(j job, p *engine.Pass, out *rendering, inputs *Inputs) {
	u, ok := r.units[j.id]
	if !ok {
		return
	}
	u.busy = false
	r.accept(u, out, inputs)
	if u.pass == p {
		if out.err != nil {
			r.fail(u, buildFailure(out.err), terminal(out.err))
			return
		}
		p.Progress = engine.Rendered
	}
	r.mark(u.ID)
	r.wakeHolding()
}

// terminal reports whether trying again what failed would give the same.
func terminal(err error) bool {
	known := (interface{ Terminal() bool })(nil)
	return errors.As(err, &known) && known.Terminal()
}

func buildFailure(err error) engine.Failure {
	f := engine.Failure{Reason: engine.ReasonBuildFailed, Message: err.Error(), Cause: err, Transient: apply.Transient(err), Refused: apply.Refused(err)}
	if named := (interface{ Reason() engine.Reason })(nil); errors.As(err, &named) {
		f.Reason = named.Reason()
		return f
	}
	if errors.Is(err, render.ErrPathNotFound) {
		f.Reason, f.Transient, f.Refused = engine.ReasonArtifactFailed, false, false
		return f
	}
	if panicked := (*guard.Panic)(nil); errors.As(err, &panicked) {
		f.Reason, f.Transient = engine.ReasonFailed, true
		return f
	}
	if away := (*unreachable)(nil); errors.As(err, &away) {
		f.Reason, f.Transient, f.Refused = engine.ReasonFailed, true, false
	}
	return f
}

// accept enters a rendering: what it was made from, and what the unit declares by it.
func (r *Runner) accept(u *unit, out *rendering, inputs *Inputs) {
	r.attach(u)
	if inputs != nil {
		u.cached, u.inputsFor = inputs, out.key.Inputs
	}
	u.versions = maps.Clone(out.versions)
	r.followRead(u)
	r.readMeanwhile(u)
	hit := u.rendering != nil && u.rendering.result == out.result && out.result != nil
	if hit {
		r.stats.RenderHits++
	} else {
		r.stats.Renders++
	}
	if out.absent() {
		// It holds what it has applied, and declares nothing: others may.
		r.owners.Declare(u.ID, nil)
	}
	if out.err != nil && u.rendering != nil && u.rendering.err == nil {
		// What was claimed before stays claimed: a unit that cannot be read lets nothing go.
		kept := *u.rendering
		kept.key, kept.err, kept.mentions = out.key, out.err, out.mentions
		u.rendering = &kept
		return
	}
	var before []replaced
	if u.rendering != nil {
		before = u.rendering.replaced
	}
	u.rendering = out
	r.noteReplaced(u, before)
	if out.err != nil || !out.declared {
		return
	}
	r.rescope(u)
	out = u.rendering
	r.bar(u)
	declared := slices.DeleteFunc(slices.Clone(out.entries), func(e engine.Entry) bool {
		return u.refused[e.ID] || u.unpermitted[e.ID] || slices.Contains(out.orphaned, e.ID)
	})
	r.owners.Declare(u.ID, declared)
	r.forsake(u)
}

// resume lets a pass go on that waited for something that objects needed.
func (r *Runner) resume(u *unit) {
	if u.pass.Progress == engine.Applied && len(u.pass.Pending) > 0 && u.pass.Failure == nil {
		u.pass.Progress, u.pass.Pending = engine.Rendered, nil
	}
	r.mark(u.ID)
}
