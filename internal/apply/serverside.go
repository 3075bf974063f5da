package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// applyLeaving is a server-side apply that leaves fields to others.
func (s *scribe) applyLeaving(ctx context.Context) (*unstructured.Unstructured, error) {
	if s.before == nil {
		return s.applyNew(ctx)
	}
	left, err := s.left(s.before)
	if err != nil {
		return nil, err
	}
	live, err := s.rehome(ctx, s.before, left)
	if err != nil {
		return nil, err
	}
	desired, copied := without(s.Object, left)
	if copied {
		// The values that were copied in are those of this version alone.
		desired.SetResourceVersion(live.GetResourceVersion())
	}
	return s.apply(ctx, desired, nil)
}

// applyNew applies an object that is unknown to exist: with all its fields, those that are left to
// others being handed to the keeper afterwards.
func (s *scribe) applyNew(ctx context.Context) (*unstructured.Unstructured, error) {
	applied, err := s.apply(ctx, s.Object, nil)
	if err != nil {
		return nil, err
	}
	o, err := s.homes(nil).ownersOf(applied)
	if err != nil {
		return nil, err
	}
	if !o.former.Empty() {
		// It was there, and the watch was late to say so: it is taken over after all.
		s.before, s.asked = applied, true
		return s.applyLeaving(ctx)
	}
	if s.Ignored == nil {
		return applied, nil
	}
	s.created = true
	left, err := s.left(applied)
	if err != nil {
		return nil, err
	}
	return s.rehome(ctx, applied, left)
}

// apply is the server-side apply itself; dryRun is metav1.DryRunAll or nothing.
func (s *scribe) apply(ctx context.Context, desired *unstructured.Unstructured, dryRun []string) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(desired.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	force := true
	return s.client().Patch(ctx, desired.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: s.applier.names.Manager, Force: &force, DryRun: dryRun, FieldValidation: s.validation(),
	})
}

// homes say who is to own what of the object.
func (s *scribe) homes(left []place) homes {
	h := homes{ours: s.applier.names.Manager, left: leftOut(left)}
	if s.Migrate {
		manager := s.MigrateManager
		if manager == "" {
			manager = kubectlApply
		}
		h.former = []string{manager, helmManager, h.ours}
	}
	return h
}

// rehome gives fields to those to whom they belong, and returns the object as it is then.
func (s *scribe) rehome(ctx context.Context, live *unstructured.Unstructured, left []place) (*unstructured.Unstructured, error) {
	entries, changed, err := s.homes(left).rehome(live)
	if err != nil || !changed {
		return live, err
	}
	ops := []map[string]any{
		// Another version is a conflict: its owners may be others.
		{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
	}
	if _, ok := live.GetAnnotations()[lastApplied]; ok && s.Migrate {
		ops = append(ops, map[string]any{
			"op": "remove", "path": "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
		})
	}
	patch, err := json.Marshal(ops)
	if err != nil {
		return nil, fmt.Errorf("moving ownership of its fields: %w", err)
	}
	moved, err := s.client().Patch(ctx, live.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{
		FieldManager: s.applier.names.Manager,
	})
	if err != nil {
		return nil, fmt.Errorf("moving ownership of its fields: %w", err)
	}
	return moved, nil
}
