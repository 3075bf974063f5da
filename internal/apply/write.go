package apply

import (
	"context"
	"encoding/json"
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
	"github.com/headgate-dev/headgate/internal/normalform"
)

// write is the way of one object to the cluster, beside other managers.
type write struct {
	Order
	applier  *Applier
	resource cluster.Resource
	// declared is what the units say of the object, desired that in the form in which it is applied.
	declared, desired *unstructured.Unstructured
	// marks are those of the declaration.
	marks   engine.Marks
	digest  string
	live    engine.Live
	ignored []engine.Pointer
	// unseen is set when the account may not read whether the object exists, raced when it changed since it was read.
	unseen, raced bool
}

func (w *write) id() engine.ObjectID { return w.applier.Entry(w.desired).ID }

func (w *write) client() dynamic.ResourceInterface {
	c := w.applier.cluster.Dynamic.Resource(w.resource.GroupVersionResource)
	if w.resource.Namespaced {
		return c.Namespace(w.desired.GetNamespace())
	}
	return c
}

// beside gathers what is known of an object. It returns no write when the object is not written, for the reason in the result.
func (a *Applier) beside(o Order) (*write, Result) {
	if a.Orphans(o.Object) {
		return nil, Result{Entry: a.Entry(o.Object), Action: engine.Skip, Orphaned: true}
	}
	r, result, ok := a.place(o, "spec.targetNamespace on its unit")
	if !ok {
		return nil, result
	}
	w := &write{Order: o, applier: a, resource: r, declared: o.Object, marks: a.marks(o.Object), live: a.live(result.Entry.ID)}
	if o.Shared != nil {
		w.declared = o.Shared.Object
	}
	w.desired = w.declared
	digest, err := engine.Digest(w.declared)
	if err != nil {
		result.Err = &ObjectError{ID: result.Entry.ID, Err: err}
		return nil, result
	}
	// What is left to others is part of what is wanted: without it, other values are.
	w.ignored = engine.Ignored(o.Ignore, o.Object)
	for _, field := range w.ignored {
		digest += "-" + field.String()
	}
	w.digest = digest
	return w, result
}

// do writes the object.
func (w *write) do(ctx context.Context, result Result) Written {
	w.desired = normalform.Of(w.declared)
	return Written{Result: w.carry(ctx, result)}
}

func (w *write) carry(ctx context.Context, result Result) Result {
	id := result.Entry.ID
	if made := w.create(ctx); made != nil {
		return w.done(result, made, w.drift(w.desired, nil))
	}
	before, desired, err := w.ready(ctx)
	if err != nil {
		result.Err = &ObjectError{ID: id, Err: err}
		return result
	}
	if desired == nil {
		result.Action = engine.Skip
		return result
	}
	applied, err := w.apply(ctx, desired)
	if err == nil && before != nil && w.applier.cluster.Objects.Reduce(applied).Stray && !w.merges() {
		// Fields of an object that had no managers get one by the first apply.
		if err = w.takeOver(ctx, applied); err == nil {
			applied, err = w.apply(ctx, desired)
		}
	}
	if err != nil {
		return w.refused(ctx, result, err)
	}
	return w.done(result, applied, w.drift(desired, before))
}

// done is the result of a write, which is remembered.
func (w *write) done(result Result, applied *unstructured.Unstructured, drift *Drift) Result {
	w.applier.cluster.Objects.Put(applied)
	// Not the record, which may already be of a later version, changed by another manager.
	rec := w.applier.cluster.Objects.Reduce(applied)
	w.applier.remember(w.id(), engine.Memory{Digest: w.digest, UID: string(rec.UID), Owned: rec.Owned})
	result.Drift, result.Action = drift, w.action(applied)
	return result
}

// noVersion is a resource version that no object has: the first that a store gives out is a later one.
const noVersion = "1"

// create applies an object of which there is no record on the condition that it does not exist, so that what is new costs
// one request: what is there has another version, and is a conflict. It returns nil when the object was not made, for
// whatever reason, which is found out by applying it as it is then.
func (w *write) create(ctx context.Context) *unstructured.Unstructured {
	if w.live.Exists {
		return nil
	}
	desired := w.desired.DeepCopy()
	desired.SetResourceVersion(noVersion)
	made, err := w.apply(ctx, desired)
	if err != nil {
		return nil
	}
	return made
}

// ready returns the object as it is, if that had to be read, and what is to be applied: nothing when the live object
// asks to be left alone. A taking over that lost a race with another write is tried again.
func (w *write) ready(ctx context.Context) (before, desired *unstructured.Unstructured, err error) {
	for range attempts {
		if before, err = w.read(ctx); err != nil {
			return nil, nil, err
		}
		if w.plan() == engine.Skip {
			return before, nil, nil
		}
		if desired, err = w.prepare(ctx, before); !apierrors.IsConflict(err) {
			break
		}
		w.raced = true
	}
	return before, desired, err
}

// plan says what is to be done with the object, by what is known of it now. What is left alone because of its
// marks in the cluster is planned again when they change.
func (w *write) plan() engine.Action {
	change := engine.Plan(w.digest, w.marks, w.live, w.applier.recall(w.id(), w.Fresh))
	if change.Action == engine.Skip && w.live.Marks.HandsOff {
		w.applier.remember(w.id(), engine.Memory{Left: true})
	}
	if labels := w.desired.GetLabels(); change.Action == engine.Unchanged && w.live.Owner != labels[w.applier.names.Namespace]+"/"+labels[w.applier.names.Name] {
		return engine.Configure
	}
	return change.Action
}

// read returns the object as it is, nil when there is none or when nothing depends on it: what is there without
// our labels has no record, and may ask to be left alone or be kubectl's; what others may keep, and who changed
// something, is reported by the object itself.
func (w *write) read(ctx context.Context) (*unstructured.Unstructured, error) {
	drifted := w.applier.recall(w.id(), false).Digest == w.digest
	if w.live.Exists && !w.live.Stray && !drifted && !w.raced && len(w.ignored) == 0 {
		return nil, nil
	}
	live, err := w.client().Get(ctx, w.desired.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		w.live = engine.Live{}
		return nil, nil
	case apierrors.IsForbidden(err) && !w.live.Exists:
		// An account that may not look may still write, as with Flux.
		w.unseen = true
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading it: %w", err)
	}
	w.live = liveOf(w.applier.cluster.Objects.Reduce(live))
	return live, nil
}

// merges reports whether what others added to the object stays.
func (w *write) merges() bool { return w.marks.Merge || w.live.Marks.Merge }

// prepare takes over from kubectl what it owns, and returns what is to be applied.
func (w *write) prepare(ctx context.Context, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		return w.desired, nil
	}
	if !w.merges() {
		if err := w.takeOver(ctx, live); err != nil {
			return nil, err
		}
	}
	if len(w.ignored) == 0 {
		return w.desired, nil
	}
	return leaveOut(w.desired, live, w.ignored, w.applier.names.Manager), nil
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
	if result, settled := a.passing(result, w.desired, err); settled {
		return result
	}
	if !immutable(err) {
		result.Err = &ObjectError{ID: id, Err: w.together(&refusal{err})}
		return result
	}
	if !w.Force && !w.marks.Force && !w.live.Marks.Force {
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
	// That it is gone is not caused by another manager.
	a.Forget(id)
	a.cluster.Objects.Follow(id, result.Entry.Version)
	result.Wait = &Need{
		Wait: engine.Wait{On: id, Reason: "deleted, to be recreated with changed immutable fields"},
		What: ObjectGone, Object: id,
	}
	return result
}

// together names the units whose declarations were refused with that of the unit itself.
func (w *write) together(err error) error {
	if w.Shared == nil {
		return err
	}
	names := make([]string, len(w.Shared.With))
	for i, unit := range w.Shared.With {
		names[i] = unit.String()
	}
	return fmt.Errorf("%w; it is applied with what %s declares of it", err, strings.Join(names, " and "))
}

// kindEnds reports whether a kind is about to be served no more, or by another definition.
func kindEnds(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "custom resource definition is terminating")
}

// lacking is why an object was not taken that refers to another one, which does not exist, such as a RoleBinding without its Role.
type lacking struct {
	what string
	err  error
}

func (e *lacking) Error() string { return fmt.Sprintf("it refers to %s, which does not exist", e.what) }

func (e *lacking) Unwrap() error { return e.err }

// unserved reports whether the server does not take objects of a kind yet that it has announced.
type unserved struct{ err error }

func (e *unserved) Error() string { return "the server does not accept its kind: " + explain(e.err) }
func (e *unserved) Unwrap() error { return e.err }

// refusal words a server's error for a person and keeps the error itself.
type refusal struct{ err error }

func (r *refusal) Error() string { return explain(r.err) }
func (r *refusal) Unwrap() error { return r.err }

// action reports what the write did.
func (w *write) action(applied *unstructured.Unstructured) engine.Action {
	switch {
	case !w.live.Exists && applied.GetGeneration() <= 1 && onlyManagers(applied, w.applier.names.Manager):
		return engine.Create
	case w.live.Exists && w.live.UID == string(applied.GetUID()) && w.sameAsBefore(applied):
		return engine.Unchanged
	default:
		return engine.Configure
	}
}

// sameAsBefore reports whether the server found nothing to change.
func (w *write) sameAsBefore(applied *unstructured.Unstructured) bool {
	return strconv.FormatUint(w.live.Version, 10) == applied.GetResourceVersion()
}
