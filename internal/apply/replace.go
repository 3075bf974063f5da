package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// replace replaces the live object by the declared one. Forced, it deletes that first and
// returns nil, unless what goes with the object would be lost for good.
func (s *scribe) replace(ctx context.Context) (*unstructured.Unstructured, error) {
	if s.before == nil {
		return s.create(ctx, s.Object)
	}
	if s.Force && !s.precious() {
		return nil, s.remove(ctx, s.before.GetUID(), s.before.GetDeletionTimestamp() != nil)
	}
	left, err := s.left(s.before)
	if err != nil {
		return nil, err
	}
	desired := keeping(s.Object, left)
	desired.SetResourceVersion(s.before.GetResourceVersion())
	return s.client().Update(ctx, desired, metav1.UpdateOptions{
		FieldManager: s.applier.names.Manager, FieldValidation: s.validation(),
	})
}

func (s *scribe) create(ctx context.Context, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return s.client().Create(ctx, desired, metav1.CreateOptions{
		FieldManager: s.applier.names.Manager, FieldValidation: s.validation(),
	})
}

// precious reports whether all that an object holds goes with it.
func (s *scribe) precious() bool {
	return s.id.Group == "" && s.id.Kind == "Namespace" ||
		s.id.Group == "apiextensions.k8s.io" && s.id.Kind == "CustomResourceDefinition"
}

// remove deletes the object, to recreate it.
func (s *scribe) remove(ctx context.Context, uid types.UID, deleting bool) error {
	if deleting {
		return nil
	}
	propagation := propagationOr(s.Propagation)
	err := s.client().Delete(ctx, s.id.Name, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting it to recreate it: %w", err)
	}
	return nil
}

func propagationOr(p metav1.DeletionPropagation) metav1.DeletionPropagation {
	if p == "" {
		return metav1.DeletePropagationForeground
	}
	return p
}

// gone is the result for an object that has to be gone before it is recreated.
func (s *scribe) gone(result Result, why string) Result {
	s.applier.Forget(s.id)
	s.applier.cluster.Objects.Follow(s.id, result.Entry.Version)
	result.Wait = &Need{
		Wait: engine.Wait{On: s.id, Reason: why},
		What: ObjectGone, Object: s.id,
	}
	return result
}
