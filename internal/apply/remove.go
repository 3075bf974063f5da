package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Removal is how an object is deleted.
type Removal struct {
	// Propagation is what becomes of its dependents; empty stands for Foreground.
	Propagation metav1.DeletionPropagation
	// Permit is shown the live object and says whether it may be deleted, and why not. Nil permits nothing.
	Permit func(live *unstructured.Unstructured) (why string, ok bool)
}

// Remove deletes one object, and only as Permit has seen it: one that changes meanwhile, or another one that takes its name, is shown to
// Permit again. What is gone, what is being deleted and what may not be is skipped, and the message
// says so.
func (a *Applier) Remove(ctx context.Context, e engine.Entry, r Removal) Result {
	result := Result{Entry: e, Action: engine.Skip}
	client, served, err := a.reach(ctx, e)
	if err != nil {
		result.Err = &ObjectError{ID: e.ID, Err: fmt.Errorf("deleting it: %w", err)}
		return result
	}
	a.Forget(e.ID)
	if !served {
		result.Message = "its kind is no longer served"
		return result
	}
	if r.Permit == nil {
		result.Err = &ObjectError{ID: e.ID, Err: errors.New("deleting it: no permission was checked")}
		return result
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	for range attempts {
		var left string
		if left, err = a.deleteNow(ctx, client, e.ID, r); !apierrors.IsConflict(err) {
			result.Message = left
			break
		}
	}
	switch {
	case err != nil:
		result.Err = &ObjectError{ID: e.ID, Err: err}
	case result.Message == "":
		result.Action = engine.Delete
	}
	return result
}

// reach is how the object of an entry is reached, in whatever version its kind is served now; it is not served where the kind is
// gone. It is an error when that is unknown.
func (a *Applier) reach(ctx context.Context, e engine.Entry) (client dynamic.ResourceInterface, served bool, err error) {
	r, served, err := a.cluster.Kinds.Resolve(ctx, e.GroupVersionKind())
	switch {
	case err != nil || !served:
		return nil, false, err
	case !r.Namespaced:
		return a.cluster.Dynamic.Resource(r.GroupVersionResource), true, nil
	default:
		return a.cluster.Dynamic.Resource(r.GroupVersionResource).Namespace(e.ID.Namespace), true, nil
	}
}

// certain is the error of a read. Where the server does not know the kind, that an object of it was not found says nothing
// unless the kind is gone.
func (a *Applier) certain(ctx context.Context, id engine.ObjectID, err error) error {
	if !apierrors.IsNotFound(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		return err
	}
	if unknown := a.cluster.Kinds.Gone(ctx, id.GroupKind()); unknown != nil {
		return unknown
	}
	return err
}

// deleteNow deletes the object as it is now. The first result is why it was left alone.
func (a *Applier) deleteNow(ctx context.Context, client dynamic.ResourceInterface, id engine.ObjectID, r Removal) (string, error) {
	live, err := client.Get(ctx, id.Name, metav1.GetOptions{})
	err = a.certain(ctx, id, err)
	switch {
	case apierrors.IsNotFound(err):
		return "already deleted", nil
	case err != nil:
		return "", fmt.Errorf("reading it before deletion: %w", err)
	case live.GetDeletionTimestamp() != nil:
		return "already being deleted", nil
	}
	if why, ok := r.Permit(live); !ok {
		if why == "" {
			why = "not permitted to delete it"
		}
		return why, nil
	}
	propagation, uid, version := propagationOr(r.Propagation), live.GetUID(), live.GetResourceVersion()
	err = client.Delete(ctx, id.Name, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
	if apierrors.IsNotFound(err) {
		return "already deleted", nil
	}
	if err != nil {
		return "", fmt.Errorf("deleting it: %w", err)
	}
	return "", nil
}
