package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
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

// hookDigest tells hooks apart by their content.
func hookDigest(u *unstructured.Unstructured) string { return digest(encoded(u.Object)) }

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// execute carries a step out: what is deleted first, then what is written, kind by kind.
func (d *driver) execute(ctx context.Context, a *app, w runner.Work, step operation.Step) {
	op, c := a.job.op, a.job.compared
	if len(step.Delete) > 0 {
		each(step.Delete, func(t *operation.Task) { op.sync.Deleted(t, time.Now(), d.prune(ctx, a, w, c, t)) })
		return
	}
	for _, batch := range operation.Batches(step.Apply) {
		each(batch, func(t *operation.Task) {
			if t.Hook {
				d.hook(ctx, w, op, t)
				return
			}
			op.took(t, d.write(ctx, w, c, t))
		})
	}
}

// each does something for several items at a time, as many as there may be requests.
func each[T any](items []T, do func(T)) {
	slots := make(chan struct{}, requests)
	var wg sync.WaitGroup
	for _, one := range items {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			do(one)
		})
	}
	wg.Wait()
}

// outcome is what came of writing an object.
type outcome struct {
	operation.Result
	written apply.Written
	needs   []apply.Need
}

// write writes the object of a task.
func (d *driver) write(ctx context.Context, w runner.Work, c *comparison, t *operation.Task) outcome {
	order := apply.Order{Object: t.Object, Validate: true}
	if o := c.find(t.ID); o != nil {
		if o.refused != nil {
			return outcome{Result: operation.Result{Err: o.refused}}
		}
		order = o.order
	}
	before := ""
	if rec, there := w.Cluster.Objects.Get(t.ID); there {
		before = rec.Health.Status
	}
	written := w.Applier.Write(ctx, order)
	out := outcome{written: written, Result: operation.Result{Err: bare(written.Err), Health: before, Message: said(written)}}
	if need := written.Wait; need != nil {
		out.needs = []apply.Need{*need}
		if need.What == apply.KindServed && !c.defines(need.Kind) {
			// Nothing here brings the kind: that is this object's own trouble, and nobody else's.
			out.Err, out.Again = errors.New(need.Reason), true
			return out
		}
		out.Needs = []engine.Wait{need.Wait}
		return out
	}
	if written.Err == nil && written.Object != nil && w.Cluster.Name == "" {
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

// wrote takes what was written of the dialect's own kinds, so that nobody has to wait for the watch to bring it.
func (e *Engine) wrote(u *unstructured.Unstructured) {
	switch u.GroupVersionKind().GroupKind() {
	case applicationKind:
		e.putApplication(u)
	case applicationSetKind:
		e.sets.put(u)
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

// said is what was done with an object.
func said(w apply.Written) string {
	name := called(w.Entry.ID)
	switch w.Action {
	case engine.Create:
		name += " created"
	case engine.Configure:
		name += " configured"
	case engine.Unchanged:
		name += " unchanged"
	}
	if w.Message != "" {
		name += ". " + w.Message
	}
	return name
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

// hook makes a hook, unless the same one runs already. One of an earlier sync makes room first.
func (d *driver) hook(ctx context.Context, w runner.Work, op *running, t *operation.Task) {
	live, err := getLive(ctx, w, engine.Entry{ID: t.ID, Version: t.Version})
	mark := t.Digest + "/" + op.sync.Run
	switch {
	case err != nil:
		op.took(t, outcome{Result: operation.Result{Err: err}})
		return
	case live != nil && live.GetAnnotations()[annotationHookOf] == mark && live.GetDeletionTimestamp() == nil:
		op.guarded(func() { op.sync.Join(t, time.Now()) })
		return
	case live != nil && (slices.Contains(t.Policies, operation.BeforeHookCreation) || live.GetDeletionTimestamp() != nil):
		err = d.dropHook(ctx, w, live)
		op.guarded(func() {
			if err != nil {
				op.sync.Applied(t, time.Now(), operation.Result{Err: err})
				return
			}
			op.sync.MakeRoom(t, time.Now())
		})
		return
	}
	u := t.Object.DeepCopy()
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationHookOf] = mark
	u.SetAnnotations(annotations)
	u.SetFinalizers(append(u.GetFinalizers(), operation.HookFinalizer))
	written := w.Applier.Write(ctx, apply.Order{Object: u, Validate: true, Fresh: true})
	out := outcome{written: written, Result: operation.Result{Err: bare(written.Err), Message: said(written)}}
	if written.Wait != nil {
		out.needs, out.Needs = []apply.Need{*written.Wait}, []engine.Wait{written.Wait.Wait}
	}
	op.took(t, out)
}

// drop deletes hooks.
func (d *driver) drop(ctx context.Context, w runner.Work, tasks []*operation.Task) {
	for _, t := range tasks {
		live, err := getLive(ctx, w, engine.Entry{ID: t.ID, Version: t.Version})
		if err == nil && live != nil {
			err = d.dropHook(ctx, w, live)
		}
		if err != nil {
			d.observe(t.ID.String(), "a hook could not be deleted: "+err.Error())
		}
	}
}

// dropHook takes the finalizer off a hook and deletes it.
func (d *driver) dropHook(ctx context.Context, w runner.Work, live *unstructured.Unstructured) error {
	if err := d.release(ctx, w, live); err != nil {
		return err
	}
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	result := w.Applier.Remove(ctx, w.Applier.Entry(live), apply.Removal{
		Propagation: metav1.DeletePropagationBackground,
		Permit:      func(*unstructured.Unstructured) (string, bool) { return "", true },
	})
	return result.Err
}

// release takes the finalizer off a hook.
func (d *driver) release(ctx context.Context, w runner.Work, live *unstructured.Unstructured) error {
	if !slices.Contains(live.GetFinalizers(), operation.HookFinalizer) {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(live.GetFinalizers()), func(f string) bool { return f == operation.HookFinalizer })
	patch := encoded(map[string]any{"metadata": map[string]any{"finalizers": rest, "resourceVersion": live.GetResourceVersion()}})
	r, _, ok := w.Kind(live.GroupVersionKind())
	if !ok {
		return nil
	}
	_, err := w.Cluster.Dynamic.Resource(r).Namespace(live.GetNamespace()).Patch(ctx, live.GetName(), types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if apierrors.IsConflict(err) {
		fresh, err := getLive(ctx, w, w.Applier.Entry(live))
		if err != nil || fresh == nil {
			return err
		}
		return d.release(ctx, w, fresh)
	}
	if err != nil {
		return fmt.Errorf("taking the finalizer off %s: %w", engine.IDOf(live), err)
	}
	return nil
}

// prune deletes an object that is no longer declared.
func (d *driver) prune(ctx context.Context, a *app, w runner.Work, c *comparison, t *operation.Task) operation.Result {
	tracking := d.tracking(a)
	if t.Confirm && !approved(a.now(), a.job.op.state.StartedAt.Time) {
		return operation.Result{Skipped: fmt.Sprintf("waiting for pruning confirmation: set the annotation %s to the time", v1alpha1.DeletionApprovedAnnotation)}
	}
	result := w.Applier.Remove(ctx, engine.Entry{ID: t.ID, Version: t.Version}, apply.Removal{
		Propagation: c.options.Propagation,
		Permit: func(live *unstructured.Unstructured) (string, bool) {
			return "it is no longer ours", tracking.Mine(live)
		},
	})
	a.job.op.guarded(func() { a.job.op.changes = append(a.job.op.changes, result) })
	return operation.Result{Err: bare(result.Err)}
}

// approved tells whether somebody agreed to deletions since a time.
func approved(obj *v1alpha1.Application, since time.Time) bool {
	at, err := time.Parse(time.RFC3339, obj.Annotations[v1alpha1.DeletionApprovedAnnotation])
	return err == nil && !at.Before(since.Truncate(time.Second))
}
