package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Put applies one object that is no unit's, such as a definition or a root, and takes its fields over from others.
func Put(ctx context.Context, client dynamic.ResourceInterface, manager string, u *unstructured.Unstructured) error {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", engine.IDOf(u), err)
	}
	force := true
	_, err = client.Patch(ctx, u.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: manager, Force: &force})
	if err != nil {
		return fmt.Errorf("applying %s: %w", engine.IDOf(u), err)
	}
	return nil
}
