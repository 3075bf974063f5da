package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Try asks the server whether it would take an object, by a dry run; without a declaration, whether it would take anything of it.
func (a *Applier) Try(ctx context.Context, e engine.Entry, declared *unstructured.Unstructured) error {
	client, served, err := a.reach(ctx, e)
	if err != nil || !served {
		return err
	}
	object := &unstructured.Unstructured{}
	if declared != nil {
		object = declared.DeepCopy()
	}
	object.SetGroupVersionKind(e.GroupVersionKind())
	object.SetNamespace(e.ID.Namespace)
	object.SetName(e.ID.Name)
	_, err = client.Apply(ctx, e.ID.Name, object, metav1.ApplyOptions{FieldManager: a.names.Manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return &ObjectError{ID: e.ID, Err: fmt.Errorf("trying to apply it: %w", &refusal{err})}
	}
	return nil
}

// Denied reports whether a webhook or a policy of the server refused an object.
func Denied(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	text := status.Status().Message
	return strings.Contains(text, "admission webhook") && strings.Contains(text, "denied the request") ||
		strings.Contains(text, "ValidatingAdmissionPolicy") && strings.Contains(text, "denied request")
}
