package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// orderOf is how an object is written.
func (d *driver) orderOf(u *unstructured.Unstructured, o policy.ObjectOptions, obj *v1alpha1.Application, rules differences.ObjectRules, options policy.Options) apply.Order {
	order := apply.Order{
		Object: u, Force: o.Force, Validate: o.Validate, Migrate: options.Migrate,
		MigrateManager: obj.Annotations[v1alpha1.MigrationManagerAnnotation], Propagation: options.Propagation,
	}
	switch {
	case o.Replace:
		order.Mode = apply.Replace
	case o.ServerSideSaid && !o.ServerSide:
		order.Mode = apply.ClientSide
	}
	left := ""
	if options.RespectIgnored && !rules.Empty() {
		order.Ignored, left = d.left(rules, u), rules.String()
	}
	order.Digest = digest(encoded(u.Object) + fmt.Sprint(order.Mode, o.Force, o.Validate) + left)
	return order
}

// execute carries a step out: what is deleted first, then what is written, kind by kind.
func (d *driver) execute(ctx context.Context, a *app, g gate, step operation.Step) {
	op := a.job.op
	if len(step.Delete) > 0 {
		each(step.Delete, func(t *operation.Task) { op.sync.Deleted(t, time.Now(), d.prune(ctx, a, g, t)) })
		return
	}
	for _, batch := range operation.Batches(step.Apply) {
		each(batch, func(t *operation.Task) {
			if t.Hook {
				d.hook(ctx, g, op, t)
				return
			}
			op.took(t, d.write(ctx, a, g, t))
		})
	}
}

// each does something for several items at a time, as many as there may be requests.
func each[T any](items []T, do func(T)) {
	guard.Each(items, requests, func(_ int, one T) { do(one) })
}

// outcome is what came of writing an object.
type outcome struct {
	operation.Result
	written apply.Written
	needs   []apply.Need
}

// write writes the object of a task.
func (d *driver) write(ctx context.Context, a *app, g gate, t *operation.Task) outcome {
	order, c := apply.Order{Object: t.Object, Validate: true}, a.job.compared
	rec, there := g.work.Cluster.Objects.Get(t.ID)
	if o := c.find(t.ID); o != nil {
		if o.refused != nil {
			return outcome{Result: operation.Result{Err: o.refused}}
		}
		if o.over(there) && a.hasFinished(t.ID) {
			return outcome{Result: operation.Result{Message: called(t.ID) + " unchanged. It has completed"}}
		}
		order = o.order
	} else if err := g.undeclared(ctx, t.Object); err != nil {
		return outcome{Result: operation.Result{Err: err}}
	}
	written := g.write(ctx, order)
	out := outcome{written: written, Result: operation.Result{Err: bare(written.Err), Health: rec.Health.Status, Message: said(written, order.Mode)}}
	if need := written.Wait; need != nil {
		out.needs = []apply.Need{*need}
		if need.What == apply.ObjectThere && (c.find(need.Object) != nil || asksFor(a.now(), need.Object)) && !a.job.op.makes(need.Object) {
			// Nothing else brings it, and this sync has been there: another one begins with it.
			out.Err = errors.New(need.Reason)
			return out
		}
		if need.What == apply.KindServed && !c.defines(need.Kind) {
			// Nothing here brings the kind: that affects only this object.
			out.Err = errors.New(live.UnknownKind(g.work.Cluster.Kinds, t.ID, need.Version))
			return out
		}
		out.Needs = []engine.Wait{need.Wait}
		return out
	}
	if written.Err == nil && written.Object != nil && g.work.Cluster.Name == "" {
		d.wrote(written.Object)
	}
	return out
}

// bare is an error about an object without the name of that: a result stands beside it.
func bare(err error) error {
	var object *apply.ObjectError
	if errors.As(err, &object) {
		return object.Err
	}
	return err
}

// wrote takes what was written of the dialect's own kinds, so that callers need not wait for the watch to deliver it.
func (e *Engine) wrote(u *unstructured.Unstructured) {
	switch u.GroupVersionKind().GroupKind() {
	case applicationKind:
		e.putApplication(u)
	case applicationSetKind:
		e.sets.Put(u)
	}
}

// called is how kubectl calls an object when it says what was done with it.
func called(id engine.ObjectID) string {
	name := strings.ToLower(id.Kind)
	if id.Group != "" {
		name += "." + id.Group
	}
	return name + "/" + id.Name
}

// said is what was done with an object, in the words of kubectl. What is replaced is never unchanged: the whole object is
// what is declared.
func said(w apply.Written, mode apply.WriteMode) string {
	name := called(w.Entry.ID)
	switch {
	case w.Action == engine.Create:
		name += " created"
	case mode == apply.Replace && w.Err == nil:
		name += " replaced"
	case w.Action == engine.Configure:
		name += " configured"
	case w.Action == engine.Unchanged:
		name += " unchanged"
	}
	if w.Message != "" {
		name += ". " + w.Message
	}
	return name
}

// makes reports whether an object is still to be written.
func (r *running) makes(id engine.ObjectID) bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	return slices.ContainsFunc(r.sync.Tasks, func(t *operation.Task) bool { return t.ID == id && t.State == operation.Pending })
}

// lacks are what objects lack that could not be written.
func (r *running) lacks() []apply.Need {
	r.guard.Lock()
	defer r.guard.Unlock()
	var all []apply.Need
	for _, needs := range r.needs {
		all = append(all, needs...)
	}
	return all
}

// took notes what came of a task. It is called by several at a time.
func (r *running) took(t *operation.Task, out outcome) {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.sync.Applied(t, time.Now(), out.Result)
	delete(r.needs, t.ID)
	if len(out.needs) > 0 {
		if r.needs == nil {
			r.needs = map[engine.ObjectID][]apply.Need{}
		}
		r.needs[t.ID] = out.needs
	}
	if out.written.Object != nil || out.written.Err != nil {
		r.changes = append(r.changes, out.written.Result)
	}
}

// requests bounds how many objects are read at a time.
const requests = 16
