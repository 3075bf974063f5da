package argo

import (
	"context"
	"encoding/json"
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
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Destroy deletes what a deleted Application holds: hooks before, objects in the reverse of their waves, hooks after.
func (d *driver) Destroy(ctx context.Context, w runner.Work) ([]engine.Wait, error) {
	a := d.apps.get(w.Unit)
	if a == nil {
		return nil, nil
	}
	a.see(w.Cluster)
	if a.job.teardown == nil {
		plan, err := d.teardown(ctx, a, w)
		if err != nil {
			return nil, err
		}
		a.job.teardown = plan
	}
	plan := a.job.teardown
	plan.Retry()
	for ctx.Err() == nil {
		step := plan.Next(time.Now(), live(d, a, w, false))
		d.drop(ctx, w, step.Drop)
		switch {
		case step.Ended && step.Failed:
			a.job.teardown = nil
			return nil, errors.New(step.Message)
		case step.Ended:
			return nil, nil
		case len(step.Delete) > 0:
			each(step.Delete, func(t *operation.Task) { plan.Deleted(t, time.Now(), d.cascade(ctx, a, w, t)) })
		case len(step.Apply) > 0:
			d.runHooks(ctx, w, plan, step.Apply)
		case len(step.Drop) == 0:
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
func (d *driver) runHooks(ctx context.Context, w runner.Work, plan *operation.Operation, tasks []*operation.Task) {
	r := &running{sync: plan}
	for _, t := range tasks {
		d.watchOne(ctx, w, engine.Entry{ID: t.ID, Version: t.Version})
		w.Follow(t.ID)
	}
	each(tasks, func(t *operation.Task) { d.hook(ctx, w, r, t) })
}

// teardown plans the deletion. Hooks need the sources; where these cannot be had, the objects are deleted without.
func (d *driver) teardown(ctx context.Context, a *app, w runner.Work) (*operation.Operation, error) {
	obj := a.now()
	options := policy.OptionsOf(obj, nil)
	tracking := d.tracking(a)
	r := operation.Removal{ID: w.Applier.Entry, Digest: hookDigest, Run: string(obj.UID), Started: obj.DeletionTimestamp.Time}
	if slices.ContainsFunc(obj.Finalizers, deletionHooks) {
		hooks, err := d.declaredHooks(ctx, a, w)
		if err != nil {
			return nil, err
		}
		r.Hooks = hooks
	}
	for _, e := range w.Held {
		if a.is(e.ID) {
			continue
		}
		live, err := getLive(ctx, w, e)
		if err != nil {
			return nil, err
		}
		if live == nil || !tracking.Mine(live) || live.GetKind() == "CustomResourceDefinition" || d.invisible(a, w, e) {
			continue
		}
		guard := options.For(live).Delete
		if guard == policy.GuardForbid {
			continue
		}
		r.Held = append(r.Held, operation.Extra{Entry: e, Wave: operation.WaveOf(live.GetAnnotations()), Confirm: guard == policy.GuardConfirm})
		d.watchOne(ctx, w, e)
	}
	return operation.Delete(r), nil
}

func (d *driver) watchOne(ctx context.Context, w runner.Work, e engine.Entry) {
	_ = w.Cluster.Objects.WatchManaged(ctx, e.GroupVersionKind(), []string{e.ID.Namespace})
}

func deletionHooks(finalizer string) bool {
	return strings.HasPrefix(finalizer, v1alpha1.PreDeleteFinalizer) || strings.HasPrefix(finalizer, v1alpha1.PostDeleteFinalizer)
}

// declaredHooks are the hooks for deletions that the sources declare.
func (d *driver) declaredHooks(ctx context.Context, a *app, w runner.Work) ([]*unstructured.Unstructured, error) {
	inputs, err := d.Prepare(ctx, a.id)
	if err != nil {
		return nil, fmt.Errorf("rendering its hooks for the deletion: %w; to let it go without them, take the finalizers %s and %s off it",
			err, v1alpha1.PreDeleteFinalizer, v1alpha1.PostDeleteFinalizer)
	}
	tracking := d.tracking(a)
	var hooks []*unstructured.Unstructured
	for _, u := range inputs.Objects {
		if !operation.HookOf(u).Is {
			continue
		}
		u = u.DeepCopy()
		if _, namespaced, served := w.Kind(u.GroupVersionKind()); served && namespaced && u.GetNamespace() == "" {
			u.SetNamespace(inputs.Namespace)
		}
		d.mark(tracking, u)
		hooks = append(hooks, u)
	}
	return hooks, nil
}

// cascade deletes an object of a deleted Application.
func (d *driver) cascade(ctx context.Context, a *app, w runner.Work, t *operation.Task) operation.Result {
	obj := a.now()
	tracking := d.tracking(a)
	if t.Confirm && !approved(obj, obj.DeletionTimestamp.Time) {
		return operation.Result{Skipped: fmt.Sprintf("waiting for deletion confirmation: set the annotation %s to the time", v1alpha1.DeletionApprovedAnnotation)}
	}
	propagation := metav1.DeletePropagationForeground
	if slices.Contains(obj.Finalizers, v1alpha1.ResourcesFinalizerBackground) {
		propagation = metav1.DeletePropagationBackground
	}
	result := w.Applier.Remove(ctx, engine.Entry{ID: t.ID, Version: t.Version}, apply.Removal{
		Propagation: propagation,
		Permit: func(live *unstructured.Unstructured) (string, bool) {
			return "it is no longer ours", tracking.Mine(live)
		},
	})
	return operation.Result{Err: result.Err}
}

// Orphaned is asked of units without a driver.
func (d dialect) Orphaned(context.Context, engine.UnitID) error { return nil }

// Release lets a deleted Application go.
func (d dialect) Release(ctx context.Context, id engine.UnitID) error {
	a := d.apps.get(id)
	if a == nil {
		return nil
	}
	obj := a.now()
	rest := slices.DeleteFunc(slices.Clone(obj.Finalizers), func(f string) bool {
		return slices.Contains(cascading, f) || deletionHooks(f)
	})
	if len(rest) == len(obj.Finalizers) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": rest, "resourceVersion": obj.ResourceVersion}})
	if err != nil {
		return fmt.Errorf("encoding the finalizers of %s: %w", id, err)
	}
	u, err := d.client.Resource(applicationResource).Namespace(obj.Namespace).Patch(ctx, obj.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: component})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("letting %s go: %w", id, err)
	}
	if len(rest) > 0 {
		d.putApplication(u)
	}
	return nil
}

// keepHooks has an Application with hooks for deletions stay until these have run.
func (d *driver) keepHooks(ctx context.Context, a *app, c *comparison) error {
	obj := a.now()
	wanted := slices.Clone(obj.Finalizers)
	for _, h := range c.hooks {
		for _, phase := range operation.HookOf(h).Phases {
			finalizer := ""
			switch phase {
			case operation.PreDelete:
				finalizer = v1alpha1.PreDeleteFinalizer
			case operation.PostDelete:
				finalizer = v1alpha1.PostDeleteFinalizer
			}
			if finalizer != "" && !slices.Contains(wanted, finalizer) {
				wanted = append(wanted, finalizer)
			}
		}
	}
	if len(wanted) == len(obj.Finalizers) || obj.DeletionTimestamp != nil {
		return nil
	}
	patch := encoded(map[string]any{"metadata": map[string]any{"finalizers": wanted, "resourceVersion": obj.ResourceVersion}})
	u, err := d.client.Resource(applicationResource).Namespace(obj.Namespace).Patch(ctx, obj.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: component})
	if err != nil {
		return fmt.Errorf("setting the finalizers of %s: %w", a.id, err)
	}
	d.putApplication(u)
	return nil
}
