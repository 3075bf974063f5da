package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Unfinalize takes a finalizer off an object, on the condition that the object is as it was read. An object that is gone, or
// whose kind is, has none.
func (a *Applier) Unfinalize(ctx context.Context, live *unstructured.Unstructured, finalizer string) error {
	client, served, err := a.reach(ctx, a.Entry(live))
	if err != nil {
		return fmt.Errorf("removing the finalizer of %s: %w", engine.IDOf(live), err)
	}
	if !served {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(live.GetFinalizers()), func(f string) bool { return f == finalizer })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": rest, "resourceVersion": live.GetResourceVersion()}})
	if err != nil {
		return fmt.Errorf("encoding the finalizers of %s: %w", engine.IDOf(live), err)
	}
	_, err = client.Patch(ctx, live.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: a.names.Manager})
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing the finalizer of %s: %w", engine.IDOf(live), err)
}
