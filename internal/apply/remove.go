package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Removal is how an object is deleted.
type Removal struct {
	// Propagation is what becomes of its dependents; empty stands for Foreground.
	Propagation metav1.DeletionPropagation
	// Permit is shown the live object and says whether it may be deleted, and why not. Nil permits nothing.
	Permit func(live *unstructured.Unstructured) (why string, ok bool)
}

// Remove deletes one object, and that one only: another object that takes its name meanwhile is shown to
// Permit as well. What is gone, what is being deleted and what may not be is skipped, and the message
// says so.
func (a *Applier) Remove(ctx context.Context, e engine.Entry, r Removal) Result {
	result := Result{Entry: e, Action: engine.Skip}
	client, served := a.reach(e)
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
	var err error
	for range attempts {
		var left string
		if left, err = deleteNow(ctx, client, e.ID.Name, r); !apierrors.IsConflict(err) {
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

// reach is how the object of an entry is reached, in whatever version its kind is served now.
func (a *Applier) reach(e engine.Entry) (dynamic.ResourceInterface, bool) {
	var r cluster.Resource
	var ok bool
	if r, ok = a.cluster.Kinds.Find(e.GroupVersionKind()); !ok {
		if r, ok = a.cluster.Kinds.Lookup(e.ID.GroupKind().WithVersion("")); !ok {
			return nil, false
		}
	}
	if !r.Namespaced {
		return a.cluster.Dynamic.Resource(r.GroupVersionResource), true
	}
	return a.cluster.Dynamic.Resource(r.GroupVersionResource).Namespace(e.ID.Namespace), true
}

// deleteNow deletes the object as it is now. The first result is why it was left alone.
func deleteNow(ctx context.Context, client dynamic.ResourceInterface, name string, r Removal) (string, error) {
	live, err := client.Get(ctx, name, metav1.GetOptions{})
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
	propagation, uid := propagationOr(r.Propagation), live.GetUID()
	err = client.Delete(ctx, name, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsNotFound(err) {
		return "already deleted", nil
	}
	if err != nil {
		return "", fmt.Errorf("deleting it: %w", err)
	}
	return "", nil
}
