package argo

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// hook makes a hook, unless the same one runs already. One of an earlier sync makes room first; what is there and is no hook
// of the Application stays, and the hook fails.
func (d *driver) hook(ctx context.Context, g gate, op *running, t *operation.Task) {
	e := engine.Entry{ID: t.ID, Version: t.Version}
	refuse := func(err error) { op.took(t, outcome{Result: operation.Result{Err: err}}) }
	if err := g.permits(e); err != nil {
		refuse(err)
		return
	}
	live, err := getLive(ctx, g.work, e)
	if err == nil && live != nil {
		err = g.foreign(live)
	}
	mark := hookMark(op.sync, t)
	switch {
	case err != nil:
		refuse(err)
	case live == nil:
		op.took(t, d.makeHook(ctx, g, t, mark))
	case live.GetAnnotations()[annotationHookOf] == mark && (live.GetDeletionTimestamp() == nil || operation.RunsOnce(live) && operation.Completed(live)):
		// One that has completed is deleted by its time to live, and only held by us.
		op.guarded(func() { op.sync.Join(t, time.Now()) })
	case slices.Contains(t.Policies, operation.BeforeHookCreation) || live.GetDeletionTimestamp() != nil:
		if err := d.dropHook(ctx, g, live); err != nil {
			refuse(err)
			return
		}
		op.guarded(func() { op.sync.MakeRoom(t, time.Now()) })
	default:
		op.took(t, d.makeHook(ctx, g, t, mark))
	}
}

// hookMark tells by which run, for which phase, and from which content a hook was made.
func hookMark(op *operation.Operation, t *operation.Task) string {
	return t.Digest + "/" + op.Run + "/" + string(t.Phase)
}

// makeHook writes a hook. It is marked here, since it may have got its name only now.
func (d *driver) makeHook(ctx context.Context, g gate, t *operation.Task, mark string) outcome {
	u := t.Object.DeepCopy()
	d.mark(g.tracking, u)
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationHookOf] = mark
	u.SetAnnotations(annotations)
	if !hasHookFinalizer(u) {
		u.SetFinalizers(append(u.GetFinalizers(), operation.HookFinalizer))
	}
	written := g.write(ctx, apply.Order{Object: u, Validate: true, Fresh: true})
	out := outcome{written: written, Result: operation.Result{Err: bare(written.Err), Message: said(written, apply.ServerSide)}}
	if written.Wait != nil {
		out.needs, out.Needs = []apply.Need{*written.Wait}, []engine.Wait{written.Wait.Wait}
	}
	return out
}

// drop deletes hooks.
func (d *driver) drop(ctx context.Context, g gate, tasks []*operation.Task) {
	for _, t := range tasks {
		live, err := getLive(ctx, g.work, engine.Entry{ID: t.ID, Version: t.Version})
		if err == nil && live != nil {
			err = d.dropHook(ctx, g, live)
		}
		if err != nil {
			d.observe(t.ID.String(), "a hook could not be deleted: "+err.Error())
		}
	}
}

// dropHook takes the finalizer off a hook and deletes it.
func (d *driver) dropHook(ctx context.Context, g gate, live *unstructured.Unstructured) error {
	if err := g.release(ctx, live); err != nil {
		return err
	}
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	return g.remove(ctx, g.work.Applier.Entry(live), metav1.DeletePropagationBackground).Err
}

// releaseStrays removes the finalizer from hooks that nothing waits for: the process that ran them ended, and the source does not
// declare them any more.
func (d *driver) releaseStrays(ctx context.Context, a *app, w runner.Work) {
	awaited := map[engine.ObjectID]bool{}
	if op := a.job.op; op != nil {
		for _, t := range slices.Concat(op.sync.Tasks, op.sync.Lingering()) {
			awaited[t.ID] = true
		}
	}
	g := d.gate(a, w)
	for _, live := range a.job.compared.strays {
		if awaited[w.Applier.Entry(live).ID] {
			continue
		}
		if err := g.release(ctx, live); err != nil {
			d.observe(a.id.String(), err.Error())
		}
	}
}

// letGo takes the finalizer off hooks that have completed, so that nothing is held that waits for their end.
func (d *driver) letGo(ctx context.Context, g gate, op *operation.Operation, tasks []*operation.Task) {
	for _, t := range tasks {
		live, err := getLive(ctx, g.work, engine.Entry{ID: t.ID, Version: t.Version})
		if err == nil && live != nil {
			err = g.release(ctx, live)
		}
		op.Released(t, err)
	}
}
