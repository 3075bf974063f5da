package declared

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// Writer writes to the objects of a kind, as a field manager. What it returns is the object as it is after the write; nil
// when nothing was to be written, and when the object is gone, which is no error.
type Writer struct {
	Client  dynamic.NamespaceableResourceInterface
	Manager string
}

// Status has the status of an object say what it says after instead of what it said before.
func (w Writer) Status(ctx context.Context, o metav1.Object, before, after any) (*unstructured.Unstructured, error) {
	b, err := Fields(before)
	if err != nil {
		return nil, fmt.Errorf("encoding the status of %s: %w", called(o), err)
	}
	a, err := Fields(after)
	if err != nil {
		return nil, fmt.Errorf("encoding the status of %s: %w", called(o), err)
	}
	patch := map[string]any{}
	if diff := Difference(b, a); len(diff) > 0 {
		patch["status"] = diff
	}
	u, err := w.Patch(ctx, o, patch, "status")
	if err != nil {
		return nil, fmt.Errorf("writing the status of %s: %w", called(o), err)
	}
	return u, nil
}

// Finalizer puts a finalizer on an object, or takes it off.
func (w Writer) Finalizer(ctx context.Context, o metav1.Object, name string, on bool) (*unstructured.Unstructured, error) {
	wanted := slices.Clone(o.GetFinalizers())
	if on && !slices.Contains(wanted, name) {
		wanted = append(wanted, name)
	} else if !on {
		wanted = slices.DeleteFunc(wanted, func(f string) bool { return f == name })
	}
	return w.Finalizers(ctx, o, wanted)
}

// Finalizers has an object have the given finalizers, unless it was changed since it was read.
func (w Writer) Finalizers(ctx context.Context, o metav1.Object, wanted []string) (*unstructured.Unstructured, error) {
	if slices.Equal(o.GetFinalizers(), wanted) {
		return nil, nil
	}
	patch := map[string]any{"metadata": map[string]any{"finalizers": wanted, "resourceVersion": o.GetResourceVersion()}}
	u, err := w.Patch(ctx, o, patch)
	if err != nil {
		return nil, fmt.Errorf("setting the finalizers of %s: %w", called(o), err)
	}
	return u, nil
}

// Patch merges a patch into an object, or into a subresource of it; an empty one is not sent.
func (w Writer) Patch(ctx context.Context, o metav1.Object, patch map[string]any, subresource ...string) (*unstructured.Unstructured, error) {
	if len(patch) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("encoding a patch: %w", err)
	}
	u, err := w.Client.Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, data,
		metav1.PatchOptions{FieldManager: w.Manager}, subresource...)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

func called(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }
