package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Destroy deletes what a deleted Application holds: hooks before, objects in the reverse of their waves, hooks after. A sync
// that runs is terminated first.
func (d *driver) Destroy(ctx context.Context, w runner.Work) (runner.Destroyed, error) {
	a := d.apps.get(w.Unit)
	if a == nil {
		return runner.Destroyed{}, nil
	}
	if err := d.gate(a, w).moved; err != nil {
		return runner.Destroyed{}, err
	}
	a.see(w.Cluster)
	d.leaveBehind(a, w)
	d.halt(ctx, a, w)
	if a.job.teardown == nil || a.job.tearing != w.Declared.Target {
		plan, err := d.teardown(ctx, a, w)
		if err != nil {
			return runner.Destroyed{}, err
		}
		a.job.teardown, a.job.tearing = plan, w.Declared.Target
	}
	waits, err := d.tear(ctx, a, w)
	return runner.Destroyed{Waits: waits}, err
}

// tear brings a deletion on until it waits, or has ended.
func (d *driver) tear(ctx context.Context, a *app, w runner.Work) ([]engine.Wait, error) {
	plan := a.job.teardown
	plan.Retry()
	for ctx.Err() == nil {
		g := d.gate(a, w)
		if g.moved != nil {
			return nil, g.moved
		}
		step := plan.Next(time.Now(), d.liveObjects(a, w, false))
		d.letGo(ctx, g, plan, step.Release)
		d.drop(ctx, g, step.Drop)
		if err := d.prepared(ctx, a, g, plan); err != nil {
			return nil, err
		}
		switch {
		case step.Ended && step.Failed:
			a.job.teardown = nil
			return nil, errors.New(step.Message)
		case step.Ended:
			return nil, nil
		case len(step.Delete) > 0:
			each(step.Delete, func(t *operation.Task) { plan.Deleted(t, time.Now(), d.cascade(ctx, a, g, t)) })
		case len(step.Apply) > 0:
			d.runHooks(ctx, g, plan, step.Apply)
		case len(step.Drop)+len(step.Release) == 0:
			a.unconfirmed(plan)
			return step.Waits, nil
		}
	}
	return nil, context.Cause(ctx)
}

// unconfirmed has the status say what a deletion waits for that a person has to agree to.
func (a *app) unconfirmed(plan *operation.Operation) {
	var texts []string
	for _, t := range plan.Tasks {
		if t.Confirm && t.State == operation.Running && t.Message != "" {
			texts = append(texts, t.ID.String()+": "+t.Message)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.unconfirmed = strings.Join(texts, "; ")
}

// runHooks makes hooks of a deletion.
func (d *driver) runHooks(ctx context.Context, g gate, plan *operation.Operation, tasks []*operation.Task) {
	r := &running{sync: plan}
	for _, t := range tasks {
		d.watchOne(ctx, g.work, engine.Entry{ID: t.ID, Version: t.Version})
		g.work.Follow(t.ID)
	}
	each(tasks, func(t *operation.Task) {
		if err := g.unclaimed(ctx, t.ID); err != nil {
			r.took(t, outcome{Result: operation.Result{Err: err}})
			return
		}
		d.hook(ctx, g, r, t)
	})
}

// teardown plans the deletion. Hooks need the sources; if these cannot be fetched, the objects are deleted without.
func (d *driver) teardown(ctx context.Context, a *app, w runner.Work) (*operation.Operation, error) {
	obj := a.now()
	r := operation.Removal{
		ID: w.Applier.Entry, Digest: hookDigest, Run: string(obj.UID), Started: obj.DeletionTimestamp.Time, Revision: obj.Status.Sync.Revision,
		Cascade: slices.ContainsFunc(obj.Finalizers, func(f string) bool { return slices.Contains(cascading, f) }),
	}
	for phase, finalizer := range hookFinalizers {
		if slices.ContainsFunc(obj.Finalizers, stands(finalizer)) {
			r.Phases = append(r.Phases, phase)
		}
	}
	if len(r.Phases) > 0 {
		hooks, err := d.declaredHooks(ctx, a, w)
		if err != nil {
			return nil, err
		}
		r.Hooks = hooks
	}
	if r.Cascade {
		held, err := d.heldOf(ctx, a, w)
		if err != nil {
			return nil, err
		}
		r.Held = held
	}
	return operation.Delete(r), nil
}

// heldOf are the objects that are deleted with an Application.
func (d *driver) heldOf(ctx context.Context, a *app, w runner.Work) ([]operation.Extra, error) {
	options, g := policy.OptionsOf(a.now(), nil), d.gate(a, w)
	if g.moved != nil {
		return nil, g.moved
	}
	if g.unusable != nil {
		next := "change the project"
		if g.project == nil {
			next = "create it again"
		}
		return nil, fmt.Errorf("%w: it permits no deletion; %s", g.unusable, next)
	}
	var held []operation.Extra
	all := engine.Union(w.Held, a.left(w, g))
	claimed, err := w.Peers.Claimed(ctx, all)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if a.is(e.ID) || claimed[e.ID] {
			continue
		}
		live, err := getLive(ctx, w, e)
		if err != nil {
			return nil, err
		}
		if live == nil || !g.owns(live) || live.GetKind() == "CustomResourceDefinition" || g.removable(e) != nil {
			continue
		}
		if hook := operation.HookOf(live); slices.Contains(hook.Phases, operation.PostDelete) || !hook.Is && !hook.Skip && !slices.Contains(w.Held, e) {
			continue
		}
		guard := options.For(live).Delete
		if guard == policy.GuardForbid {
			continue
		}
		held = append(held, operation.Extra{Entry: e, Wave: operation.WaveOf(live.GetAnnotations()), Confirm: guard == policy.GuardConfirm})
		d.watchOne(ctx, w, e)
		w.Follow(e.ID)
	}
	return held, nil
}

// left are what earlier syncs may have left in place, and what has the marks of the Application: hooks and objects that
// came to be skipped are in no inventory, and go with it.
func (a *app) left(w runner.Work, g gate) []engine.Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := w.Cluster.Objects.OwnedBy(types.NamespacedName{Name: g.tracking.AppName})
	state := a.view.operation
	if state == nil {
		state = a.obj.Status.OperationState
	}
	if state == nil || state.SyncResult == nil {
		return left
	}
	for _, r := range state.SyncResult.Resources {
		if r.HookType != "" && r.Name != "" {
			left = engine.Union(left, []engine.Entry{{ID: idOfResult(r, w.Cluster.Name), Version: r.Version}})
		}
	}
	return left
}

func (d *driver) watchOne(ctx context.Context, w runner.Work, e engine.Entry) {
	_ = w.Cluster.Objects.WatchManaged(ctx, e.GroupVersionKind(), []string{e.ID.Namespace})
}

// hookFinalizers stand for the hooks of a deletion that have to run yet.
var hookFinalizers = map[operation.Phase]string{operation.PreDelete: v1alpha1.PreDeleteFinalizer, operation.PostDelete: v1alpha1.PostDeleteFinalizer}

func deletionHooks(finalizer string) bool {
	return stands(v1alpha1.PreDeleteFinalizer)(finalizer) || stands(v1alpha1.PostDeleteFinalizer)(finalizer)
}

// ours reports whether a finalizer is one that the deletion of an Application waits for, and takes off.
func ours(finalizer string) bool {
	return slices.Contains(cascading, finalizer) || deletionHooks(finalizer)
}

// stands finds a finalizer, with a stage behind it or without.
func stands(name string) func(string) bool {
	return func(finalizer string) bool {
		stage, _, _ := strings.Cut(finalizer, "/")
		return stage == name
	}
}

// declaredHooks are the hooks for deletions that the sources declare. Those of sources that the Application may not have
// never run.
func (d *driver) declaredHooks(ctx context.Context, a *app, w runner.Work) ([]*unstructured.Unstructured, error) {
	inputs, err := d.inputs(ctx, a.id, false)
	if err != nil {
		return nil, fmt.Errorf("rendering its hooks for the deletion: %w; to delete it without them, remove its finalizers %s and %s",
			err, v1alpha1.PreDeleteFinalizer, v1alpha1.PostDeleteFinalizer)
	}
	var hooks []*unstructured.Unstructured
	for _, u := range inputs.Objects {
		if !operation.HookOf(u).Is {
			continue
		}
		u = u.DeepCopy()
		_, namespaced, served := w.Kind(u.GroupVersionKind())
		switch {
		case served && !namespaced:
			u.SetNamespace("")
		case u.GetNamespace() == "":
			u.SetNamespace(inputs.Namespace)
		}
		hooks = append(hooks, u)
	}
	return hooks, nil
}

// cascade deletes an object of a deleted Application.
func (d *driver) cascade(ctx context.Context, a *app, g gate, t *operation.Task) operation.Result {
	obj, e := a.now(), engine.Entry{ID: t.ID, Version: t.Version}
	if t.Confirm && !approved(obj, obj.DeletionTimestamp.Time) {
		return operation.Result{Skipped: fmt.Sprintf("waiting for deletion confirmation: set the annotation %s to the time", v1alpha1.DeletionApprovedAnnotation)}
	}
	propagation := metav1.DeletePropagationForeground
	if slices.Contains(obj.Finalizers, v1alpha1.ResourcesFinalizerBackground) {
		propagation = metav1.DeletePropagationBackground
	}
	live, err := getLive(ctx, g.work, e)
	if err == nil && live != nil {
		// A hook that a sync left in the middle would be held for good.
		err = g.release(ctx, live)
	}
	if err != nil {
		return operation.Result{Err: err}
	}
	return operation.Result{Err: g.remove(ctx, e, propagation).Err}
}

// Release lets a deleted Application go.
func (d dialectPort) Release(ctx context.Context, id engine.UnitID) error {
	a := d.apps.get(id)
	if a == nil {
		return nil
	}
	obj := a.now()
	rest := slices.DeleteFunc(slices.Clone(obj.Finalizers), ours)
	if len(rest) == len(obj.Finalizers) {
		return nil
	}
	u, err := d.writer().Finalizers(ctx, obj, rest)
	if err != nil {
		return err
	}
	if u != nil && len(rest) > 0 {
		d.putApplication(u)
	}
	return nil
}

// prepared takes the finalizer of the hooks from before a deletion off an Application once they have run: whatever comes of the rest, they
// do not run again, since they may need what is deleted by then.
func (d *driver) prepared(ctx context.Context, a *app, g gate, plan *operation.Operation) error {
	is := stands(v1alpha1.PreDeleteFinalizer)
	hooks, finalizers := plan.Passed(operation.PreDelete), a.now().Finalizers
	others := slices.ContainsFunc(finalizers, func(f string) bool { return ours(f) && !is(f) })
	if len(hooks) == 0 || !others || !slices.ContainsFunc(finalizers, is) {
		return nil
	}
	d.drop(ctx, g, slices.DeleteFunc(hooks, func(t *operation.Task) bool { return !slices.Contains(t.Policies, operation.HookSucceeded) }))
	return d.finalize(ctx, a, func(obj *v1alpha1.Application) []string { return slices.DeleteFunc(slices.Clone(obj.Finalizers), is) })
}

// keepHooks has an Application with hooks for deletions stay until these have run, and one that has no more of them go
// without.
func (d *driver) keepHooks(ctx context.Context, a *app, c *comparison) error {
	return d.finalize(ctx, a, func(obj *v1alpha1.Application) []string {
		if obj.DeletionTimestamp != nil {
			return obj.Finalizers
		}
		return c.finalizers(obj.Finalizers)
	})
}

// finalize has an Application have other finalizers, as they follow from it.
func (d *driver) finalize(ctx context.Context, a *app, wanted func(*v1alpha1.Application) []string) error {
	for range releases {
		obj := a.now()
		finalizers := wanted(obj)
		if slices.Equal(finalizers, obj.Finalizers) {
			return nil
		}
		u, err := d.writer().Finalizers(ctx, obj, finalizers)
		if apierrors.IsConflict(err) {
			u, err = d.client.Resource(applicationResource).Namespace(obj.Namespace).Get(ctx, obj.Name, metav1.GetOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("setting the finalizers of %s: %w", a.id, err)
		}
		if err != nil || u == nil {
			return nil
		}
		d.putApplication(u)
	}
	return &transient{fmt.Errorf("setting the finalizers of %s: too many conflicts", a.id)}
}

// finalizers are those of an Application by the hooks for deletions that it declares.
func (c *comparison) finalizers(have []string) []string {
	needs := map[string]bool{}
	for _, h := range c.hooks {
		phases := operation.HookOf(h).Phases
		needs[v1alpha1.PreDeleteFinalizer] = needs[v1alpha1.PreDeleteFinalizer] || slices.Contains(phases, operation.PreDelete)
		needs[v1alpha1.PostDeleteFinalizer] = needs[v1alpha1.PostDeleteFinalizer] || slices.Contains(phases, operation.PostDelete)
	}
	wanted := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		stage, _, _ := strings.Cut(f, "/")
		return deletionHooks(f) && !needs[stage]
	})
	for _, f := range []string{v1alpha1.PreDeleteFinalizer, v1alpha1.PostDeleteFinalizer} {
		if needs[f] && !slices.Contains(wanted, f) {
			wanted = append(wanted, f)
		}
	}
	return wanted
}
