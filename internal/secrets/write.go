package secrets

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// carryOut writes or deletes the Secret of an ExternalSecret, and deletes those of names that it had before.
func (p *part) carryOut(ctx context.Context, es *esv1.ExternalSecret, step plan.Step) error {
	client := p.client.CoreV1().Secrets(es.Namespace)
	by := plan.Manager(es.Name)
	var err error
	switch step.Action {
	case plan.Create:
		_, err = client.Create(ctx, step.Secret, metav1.CreateOptions{FieldManager: by})
	case plan.Update:
		_, err = client.Update(ctx, step.Secret, metav1.UpdateOptions{FieldManager: by})
	case plan.Delete:
		err = client.Delete(ctx, step.Secret.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &step.Secret.UID}})
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	switch {
	case apierrors.IsInvalid(err):
		// What the API server says of a Secret that it refuses may have its values.
		return fmt.Errorf("the API server refuses Secret %q as invalid; check its type and the keys that this needs", step.Secret.Name)
	case err != nil:
		return fmt.Errorf("Secret %q: %w", step.Secret.Name, err)
	}
	return p.orphans(ctx, es)
}

// orphans deletes Secrets that an ExternalSecret made under another name.
func (p *part) orphans(ctx context.Context, es *esv1.ExternalSecret) error {
	if es.Status.Binding.Name == "" || es.Status.Binding.Name == plan.TargetName(es) {
		return nil
	}
	client := p.client.CoreV1().Secrets(es.Namespace)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: plan.LabelOwner + "=" + plan.OwnerLabel(es.Namespace, es.Name)})
	if err != nil {
		return &plan.Refusal{Text: plan.TextOrphaned, Detail: err.Error()}
	}
	for i := range list.Items {
		s := &list.Items[i]
		if s.Name == plan.TargetName(es) || !metav1.IsControlledBy(s, es) {
			continue
		}
		err := client.Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			return &plan.Refusal{Text: plan.TextOrphaned, Detail: err.Error()}
		}
	}
	return nil
}

// unmark takes from an ExternalSecret what says that its status is simulated.
func (p *part) unmark(ctx context.Context, es *esv1.ExternalSecret) error {
	patch := []byte(`{"metadata":{"labels":{"` + simulate.Label + `":null}}}`)
	_, err := p.Home.Dynamic.Resource(externalKind().GroupVersionResource()).Namespace(es.Namespace).
		Patch(ctx, es.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	return err
}
