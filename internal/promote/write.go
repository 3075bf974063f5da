package promote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote/analysis"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

func (p *part) createNamespace(ctx context.Context, project *v1alpha1.Project) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: project.Name, Labels: map[string]string{v1alpha1.ProjectLabel: "true"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(project, v1alpha1.GroupVersion.WithKind(v1alpha1.ProjectKind))},
	}}
	if _, err := p.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{FieldManager: manager}); err != nil {
		return fmt.Errorf("creating namespace %q: %w", project.Name, err)
	}
	return nil
}

// create makes an object, and returns it as the server has it; one that is there already is no error.
func (p *part) create(ctx context.Context, kind dialect.Kind, o metav1.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("writing %s %q: %w", kind.Kind, o.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(v1alpha1.GroupVersion.String())
	u.SetKind(kind.Kind)
	u, err = p.Home.Dynamic.Resource(kind.GroupVersionResource()).Namespace(o.GetNamespace()).Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s %q: %w", kind.Kind, o.GetName(), err)
	}
	return u, nil
}

// promote creates a Promotion of a Freight to a Stage, as its template says.
func (p *part) promote(ctx context.Context, stage *v1alpha1.Stage, freight *v1alpha1.Freight) error {
	var entropy [10]byte
	if _, err := rand.Read(entropy[:]); err != nil {
		return fmt.Errorf("naming a Promotion: %w", err)
	}
	promotion, err := plan.Promote(stage, freight.Name, plan.ControllerActor+manager, p.task(stage.Namespace), time.Now(), entropy)
	if err != nil {
		return err
	}
	u, err := p.create(ctx, promotionKind(), promotion)
	if err != nil || u == nil {
		return err
	}
	_, err = p.promotions.Put(u)
	return err
}

func (p *part) task(namespace string) plan.Tasks {
	return func(ref v1alpha1.PromotionTaskReference) (*v1alpha1.PromotionTaskSpec, error) {
		if ref.Kind == v1alpha1.ClusterPromotionTaskKind {
			if t, there := p.shared.Get(idOf(ref.Kind, "", ref.Name)); there {
				return &t.Spec, nil
			}
			return nil, errors.New("there is none")
		}
		if t, there := p.tasks.Get(idOf(v1alpha1.PromotionTaskKind, namespace, ref.Name)); there {
			return &t.Spec, nil
		}
		return nil, fmt.Errorf("there is none in namespace %q", namespace)
	}
}

// applications are those of Argo CD.
var applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}

// request has an Application synced. It fails if the Application has changed since it was read.
func (p *part) request(ctx context.Context, app *unstructured.Unstructured, change map[string]any) error {
	metadata, _ := change["metadata"].(map[string]any)
	metadata["resourceVersion"] = app.GetResourceVersion()
	data, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("writing a request: %w", err)
	}
	_, err = p.Home.Dynamic.Resource(applications).Namespace(app.GetNamespace()).Patch(ctx, app.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: manager})
	return err
}

// createRun makes an AnalysisRun, and returns it as the server has it.
func (p *part) createRun(ctx context.Context, run *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client := p.Home.Dynamic.Resource(analysisRuns).Namespace(run.GetNamespace())
	made, err := client.Create(ctx, run, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		return client.Get(ctx, run.GetName(), metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("creating AnalysisRun %q: %w", run.GetName(), err)
	}
	return made, nil
}

// recordRun writes where an AnalysisRun is.
func (p *part) recordRun(ctx context.Context, run *unstructured.Unstructured, status analysis.Status) error {
	fields, err := analysis.Fields(status)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": run.GetResourceVersion()}, "status": fields})
	if err != nil {
		return err
	}
	_, err = p.Home.Dynamic.Resource(analysisRuns).Namespace(run.GetNamespace()).Patch(
		ctx, run.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		return fmt.Errorf("writing the status of AnalysisRun %q: %w", run.GetName(), err)
	}
	return nil
}

// createMeasurer makes the Job or the Workflow of a measurement, and returns it as the server has it.
func (p *part) createMeasurer(ctx context.Context, resource schema.GroupVersionResource, u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client := p.Home.Dynamic.Resource(resource).Namespace(u.GetNamespace())
	made, err := client.Create(ctx, u, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		made, err = client.Get(ctx, u.GetName(), metav1.GetOptions{})
		if err == nil && !metav1.IsControlledBy(made, &metav1.ObjectMeta{UID: u.GetOwnerReferences()[0].UID}) {
			err = errors.New("it belongs to another owner")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("creating %s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return made, nil
}

// terminate ends an AnalysisRun whose verification was aborted, with the Jobs and Workflows in progress. One that stays is carried out by no one here.
func (p *part) terminate(ctx context.Context, ref *v1alpha1.AnalysisRunReference) {
	run, err := p.Home.Dynamic.Resource(analysisRuns).Namespace(ref.Namespace).Patch(
		ctx, ref.Name, types.MergePatchType, []byte(`{"spec":{"terminate":true}}`), metav1.PatchOptions{FieldManager: manager})
	if err == nil {
		err = p.stopMeasurers(ctx, run)
	}
	if err != nil {
		p.Log.V(1).Info("an AnalysisRun cannot be ended", "name", ref.Name, "error", err.Error())
	}
}

// stopMeasurers deletes the Jobs and the Workflows of measurements in progress, unless Argo Rollouts does.
func (p *part) stopMeasurers(ctx context.Context, run *unstructured.Unstructured) error {
	if elsewhere, err := p.elsewhere(ctx); err != nil || elsewhere {
		return err
	}
	spec, status, err := readRun(run)
	if err != nil {
		return err
	}
	for _, m := range spec.Metrics {
		resource, name := measurerOf(m), analysis.Next(status, m.Name, time.Time{}).Metadata[measuredBy]
		if name == "" {
			continue
		}
		behind := metav1.DeletePropagationBackground
		err := p.Home.Dynamic.Resource(resource).Namespace(run.GetNamespace()).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &behind})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s %q: %w", resource.Resource, name, err)
		}
	}
	return nil
}
