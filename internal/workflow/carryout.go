package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// carryOut carries out the actions of a decision, in their order. It reports whether they changed what decisions are made from, so that
// another one is due. One that fails keeps no other from being carried out, but for the deletion of the Workflow, which comes last.
func (p *part) carryOut(ctx context.Context, d plan.Decision) (changed bool, err error) {
	for _, action := range d.Actions {
		if action.Do == plan.DeleteWorkflow && err != nil {
			break
		}
		acted, failure := p.act(ctx, d.Workflow, action)
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("%s of %s: %w", action.Do, action.Node, failure))
		}
		changed = changed || acted
	}
	return changed, err
}

// act carries out one action, and reports whether it is of a kind that changes what decisions are made from.
func (p *part) act(ctx context.Context, wf *v1alpha1.Workflow, action plan.Action) (changed bool, err error) {
	of := execute.Of(wf)
	switch action.Do {
	case plan.Start:
		return true, p.executor.Start(ctx, wf, *action.Run)
	case plan.Stop:
		return false, p.executor.Stop(ctx, of, action.Node, action.Reason)
	case plan.Remove:
		return false, p.remove(ctx, wf, action)
	case plan.CreateClaim:
		return true, p.createClaim(ctx, wf, action.Claim)
	case plan.DeleteClaim:
		return true, p.deleteClaim(ctx, wf, action.Claim.Name)
	case plan.DeleteWorkflow:
		return false, p.deleteWorkflow(ctx, of)
	}
	return false, nil
}

// remove removes an execution, unless a selector says that others are meant.
func (p *part) remove(ctx context.Context, wf *v1alpha1.Workflow, action plan.Action) error {
	if action.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(action.Selector)
		if err != nil {
			return fmt.Errorf("podGC.labelSelector: %w", err)
		}
		if !selector.Matches(labelsOf(wf, action.Labels)) {
			return nil
		}
	}
	return p.executor.Remove(ctx, execute.Of(wf), action.Node)
}

// labelsOf are the labels of an execution that has ended, with those that all of its Workflow have.
func labelsOf(wf *v1alpha1.Workflow, own map[string]string) labels.Set {
	all := labels.Set{}
	spec := &wf.Spec
	if wf.Status.StoredWorkflowSpec != nil {
		spec = wf.Status.StoredWorkflowSpec
	}
	if spec.PodMetadata != nil {
		maps.Copy(all, spec.PodMetadata.Labels)
	}
	maps.Copy(all, own)
	all[v1alpha1.LabelWorkflow], all[v1alpha1.LabelCompleted] = wf.Name, "true"
	return all
}

// createClaim creates a claim of a Workflow.
func (p *part) createClaim(ctx context.Context, wf *v1alpha1.Workflow, claim *corev1.PersistentVolumeClaim) error {
	client := p.kube.CoreV1().PersistentVolumeClaims(wf.Namespace)
	_, err := client.Create(ctx, claim, metav1.CreateOptions{FieldManager: manager})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live, err := client.Get(ctx, claim.Name, metav1.GetOptions{})
	if err == nil && !metav1.IsControlledBy(live, wf) {
		return fmt.Errorf("PersistentVolumeClaim %q already exists with a different owner reference", claim.Name)
	}
	return err
}

// deleteClaim deletes a claim of a Workflow. It is an error as long as the claim is there, since something may use it yet.
func (p *part) deleteClaim(ctx context.Context, wf *v1alpha1.Workflow, name string) error {
	client := p.kube.CoreV1().PersistentVolumeClaims(wf.Namespace)
	live, err := client.Get(ctx, name, metav1.GetOptions{})
	if err == nil && metav1.IsControlledBy(live, wf) {
		if err = client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(live.UID))}); err == nil {
			_, err = client.Get(ctx, name, metav1.GetOptions{})
		}
		if err == nil {
			return fmt.Errorf("PersistentVolumeClaim %q is being deleted", name)
		}
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// deleteWorkflow deletes a Workflow that has been kept for as long as it says.
func (p *part) deleteWorkflow(ctx context.Context, of execute.Workflow) error {
	background := metav1.DeletePropagationBackground
	client := p.client.Resource(v1alpha1.GroupVersion.WithResource("workflows")).Namespace(of.Namespace)
	err := client.Delete(ctx, of.Name, metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(of.UID)), PropagationPolicy: &background,
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
