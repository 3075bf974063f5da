package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// write is the way of one object to the cluster.
type write struct {
	applier  *Applier
	set      Set
	resource cluster.Resource
	desired  *unstructured.Unstructured
	digest   string
	live     engine.Live
	ignored  []engine.Pointer
}

func (w *write) id() engine.ObjectID { return w.applier.Entry(w.desired).ID }

func (w *write) client() dynamic.ResourceInterface {
	c := w.applier.cluster.Dynamic.Resource(w.resource.GroupVersionResource)
	if w.resource.Namespaced {
		return c.Namespace(w.desired.GetNamespace())
	}
	return c
}

func (w *write) do(ctx context.Context, result Result) Result {
	id := result.Entry.ID
	if w.resource.Namespaced && id.Namespace == "" {
		result.Err = &ObjectError{ID: id, Err: errors.New(
			"metadata.namespace: a namespace is needed; set it on the object, or spec.targetNamespace on its unit")}
		return result
	}
	desired, before, err := w.prepare(ctx)
	if err != nil {
		result.Err = &ObjectError{ID: id, Err: err}
		return result
	}
	if desired == nil {
		result.Action = engine.Skip
		return result
	}
	applied, err := w.apply(ctx, desired)
	if err != nil {
		return w.refused(ctx, result, err)
	}
	if drift := w.drift(before); drift != nil {
		result.Drift = drift
	}
	rec := w.applier.cluster.Objects.Put(applied)
	w.applier.remember(id, engine.Memory{Digest: w.digest, UID: string(rec.UID), Owned: rec.Owned})
	result.Action = w.action(applied)
	return result
}

// prepare returns what is to be applied, and the object as it is where that had to be read: for
// what others may keep, for what is taken over from kubectl, and for naming who changed it. A nil
// object is not applied at all.
func (w *write) prepare(ctx context.Context) (desired, live *unstructured.Unstructured, err error) {
	a, mode := w.applier, w.applier.mode(w.desired)
	memory := a.recall(w.id(), false)
	drifted := memory.Digest == w.digest && w.live.Exists
	if mode != engine.ModeIfNotPresent && !w.live.Stray && !drifted && len(w.ignored) == 0 {
		return w.desired, nil, nil
	}
	live, err = w.client().Get(ctx, w.desired.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return w.desired, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading it: %w", err)
	}
	if mode == engine.ModeIfNotPresent {
		return nil, live, nil
	}
	if mode != engine.ModeMerge {
		if err := w.takeOver(ctx, live); err != nil {
			return nil, nil, err
		}
	}
	if len(w.ignored) == 0 {
		return w.desired, live, nil
	}
	return leaveOut(w.desired, live, w.ignored, a.names.Manager), live, nil
}

// apply is the server-side apply itself.
func (w *write) apply(ctx context.Context, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(desired.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	force := true
	return w.client().Patch(ctx, desired.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: w.applier.names.Manager, Force: &force,
	})
}

// refused is the result for an object that the server did not take.
func (w *write) refused(ctx context.Context, result Result, err error) Result {
	a, id := w.applier, result.Entry.ID
	if result, settled := a.passing(result, err); settled {
		return result
	}
	if !immutable(err) {
		result.Err = &ObjectError{ID: id, Err: &refusal{err}}
		return result
	}
	if !w.set.Force && !a.annotated(w.desired, "force", "enabled") {
		result.Err = &ObjectError{ID: id, Err: fmt.Errorf(
			"%w; to delete and recreate it, set spec.force or the annotation %sforce: enabled", &refusal{err}, a.names.Prefix)}
		return result
	}
	background := metav1.DeletePropagationBackground
	err = w.client().Delete(ctx, id.Name, metav1.DeleteOptions{PropagationPolicy: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		result.Err = &ObjectError{ID: id, Err: fmt.Errorf("deleting it to recreate it: %w", err)}
		return result
	}
	a.cluster.Objects.Follow(id, result.Entry.Version)
	result.Wait = &Need{
		Wait: engine.Wait{On: id.String(), Reason: "it is deleted, to be recreated with its immutable fields changed"},
		What: ObjectGone, Object: id,
	}
	return result
}

// kindEnds tells that a kind is about to be served no more, or by another definition.
func kindEnds(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "custom resource definition is terminating")
}

// unserved tells that the server does not take objects of a kind yet that it has announced.
type unserved struct{ err error }

func (e *unserved) Error() string { return "the server does not take its kind yet: " + explain(e.err) }
func (e *unserved) Unwrap() error { return e.err }

// refusal words a server's error for a person and keeps the error itself.
type refusal struct{ err error }

func (r *refusal) Error() string { return explain(r.err) }
func (r *refusal) Unwrap() error { return r.err }

// action tells what the write did.
func (w *write) action(applied *unstructured.Unstructured) engine.Action {
	switch {
	case !w.live.Exists && applied.GetGeneration() <= 1 && onlyManager(applied, w.applier.names.Manager):
		return engine.Create
	case w.live.Exists && w.live.UID == string(applied.GetUID()) && w.sameAsBefore(applied):
		return engine.Unchanged
	default:
		return engine.Configure
	}
}

// sameAsBefore tells that the server found nothing to change.
func (w *write) sameAsBefore(applied *unstructured.Unstructured) bool {
	return strconv.FormatUint(w.live.Version, 10) == applied.GetResourceVersion()
}

func onlyManager(u *unstructured.Unstructured, manager string) bool {
	for _, e := range u.GetManagedFields() {
		if e.Subresource == "" && e.Manager != manager {
			return false
		}
	}
	return true
}
