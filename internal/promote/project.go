package promote

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// project has the namespace of a Project be there: it is created, or taken over if its label permits that.
func (p *part) project(ctx context.Context, id engine.UnitID) rounds.Next {
	project, there := p.projects.Get(id)
	if !there || project.DeletionTimestamp != nil {
		return rounds.Rest()
	}
	condition := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Synced", Message: "Project is synced and ready for use", ObservedGeneration: project.Generation,
	}
	err := p.namespace(ctx, project)
	if err != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "NamespaceInitializationFailed", err.Error()
	}
	after := project.Status.DeepCopy()
	meta.SetStatusCondition(&after.Conditions, condition)
	if werr := p.projects.State(ctx, p.writer(projectKind()), project, project.Status, *after); werr != nil {
		return rounds.Retry(werr)
	}
	return rounds.Done(err)
}

func (p *part) namespace(ctx context.Context, project *v1alpha1.Project) error {
	ns, err := p.client.CoreV1().Namespaces().Get(ctx, project.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return p.createNamespace(ctx, project)
	case err != nil:
		return fmt.Errorf("reading namespace %q: %w", project.Name, err)
	case ns.Labels[v1alpha1.ProjectLabel] != "true":
		return fmt.Errorf("namespace %q exists and is not labelled for a Project: kubectl label namespace %s %s=true", ns.Name, ns.Name, v1alpha1.ProjectLabel)
	}
	return nil
}

// policies are those of a Project: its ProjectConfig's, or those that older versions keep in the Project.
func (p *part) policies(namespace string) []v1alpha1.PromotionPolicy {
	if config, there := p.configs.Get(idOf(v1alpha1.ProjectConfigKind, namespace, namespace)); there {
		return config.Spec.PromotionPolicies
	}
	if project, there := p.projects.Get(idOf(v1alpha1.ProjectKind, "", namespace)); there && project.Spec != nil {
		return project.Spec.PromotionPolicies
	}
	return nil
}
