package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// lastApplied is the annotation of kubectl's client-side apply.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// takeOver makes the fields that kubectl owns ours, and data what was applied as texts of a Secret, so that the apply that follows
// removes those which are not declared, and removes the annotation in which kubectl keeps what it applied. Fields of a
// subresource, such as a status, are left alone.
func (w *write) takeOver(ctx context.Context, live *unstructured.Unstructured) error {
	entries, changed, err := mergeStrays(live.GetManagedFields(), w.applier.names, live.GetAPIVersion())
	if err != nil {
		return err
	}
	// Another version is a conflict, which may be tried again; that of a "test" would be a refusal.
	ops := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()}}
	if changed {
		ops = append(ops, map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": entries})
	}
	if _, ok := live.GetAnnotations()[lastApplied]; ok {
		ops = append(ops, map[string]any{
			"op": "remove", "path": "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
		})
	}
	if len(ops) == 1 {
		return nil
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return fmt.Errorf("taking its fields over from kubectl: %w", err)
	}
	_, err = w.client().Patch(ctx, live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{
		FieldManager: w.applier.names.Manager,
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("taking its fields over from kubectl: %w", err)
	}
	return nil
}

// mergeStrays returns the entries with those of stray managers merged into ours.
func mergeStrays(entries []metav1.ManagedFieldsEntry, ours Names, apiVersion string) ([]metav1.ManagedFieldsEntry, bool, error) {
	merged, changed := fieldpath.NewSet(), false
	var others []metav1.ManagedFieldsEntry
	for i := range entries {
		e := entries[i]
		if e.Manager == ours.Manager && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			set, err := managedfields.Set(e)
			if err != nil {
				return nil, false, err
			}
			merged, changed = merged.Union(set), changed || cluster.HasTexts(&e)
			continue
		}
		taken, kept, err := cluster.StrayFields(&e, ours.Prefix, ours.Name, ours.Namespace)
		if err != nil {
			return nil, false, err
		}
		if taken != nil {
			merged, changed = merged.Union(taken), true
			if kept == nil {
				continue
			}
			if e.FieldsV1, err = encoded(kept); err != nil {
				return nil, false, err
			}
		}
		others = append(others, e)
	}
	if !changed {
		return nil, false, nil
	}
	if apiVersion == "v1" {
		merged = cluster.WithData(merged)
	}
	fields, err := encoded(merged)
	if err != nil {
		return nil, false, err
	}
	now := metav1.NewTime(time.Now())
	others = append(others, metav1.ManagedFieldsEntry{
		Manager: ours.Manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion, Time: &now,
		FieldsType: "FieldsV1", FieldsV1: fields,
	})
	return others, true, nil
}

func encoded(set *fieldpath.Set) (*metav1.FieldsV1, error) {
	data, err := set.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding managed fields: %w", err)
	}
	return metav1.NewFieldsV1(string(data)), nil
}
