package promote

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/promote/analysis"
)

const (
	// runLabel is the label of Jobs with the UID of their AnalysisRun, as Argo Rollouts writes it.
	runLabel = "analysisrun.argoproj.io/uid"
	// measuredBy is the key of a measurement for the name of the object by which it is made, as Argo Rollouts writes it for Jobs.
	measuredBy = "job-name"
)

// measurerOf is the resource of the objects by which a metric is measured that is not measured by a request.
func measurerOf(m analysis.Metric) schema.GroupVersionResource {
	if m.Provider.Job != nil {
		return schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	}
	return rolloutsGroup.WithResource("workflows")
}

// measureByObject has the Job or the Workflow of a measurement be there, and returns how far it is.
func (p *part) measureByObject(
	ctx context.Context, run *unstructured.Unstructured, m analysis.Metric, values map[string]string, number int32, one *analysis.Measurement,
) (string, error) {
	u, err := m.Object(values)
	if err != nil {
		return analysis.Error, err
	}
	resource := measurerOf(m)
	if name := one.Metadata[measuredBy]; name != "" {
		is, err := p.Home.Dynamic.Resource(resource).Namespace(run.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return analysis.Error, fmt.Errorf("%s %q was deleted", u.GetKind(), name)
		}
		if err != nil {
			// The server may respond the next time.
			return analysis.Running, fmt.Errorf("reading %s %q: %w", u.GetKind(), name, err)
		}
		return outcome(is)
	}
	labels := maps.Clone(u.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[runLabel] = string(run.GetUID())
	u.SetLabels(labels)
	u.SetNamespace(run.GetNamespace())
	u.SetName(fmt.Sprintf("%s.%s.%d", run.GetUID(), m.Name, number+1))
	u.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(run, run.GroupVersionKind())})
	is, err := p.createMeasurer(ctx, resource, u)
	if err != nil {
		return analysis.Error, err
	}
	one.Metadata = map[string]string{measuredBy: is.GetName()}
	return outcome(is)
}

func outcome(u *unstructured.Unstructured) (string, error) {
	phase, message := analysis.Outcome(u)
	if phase == analysis.Successful || phase == analysis.Running {
		return phase, nil
	}
	return phase, fmt.Errorf("%s %q: %s", u.GetKind(), u.GetName(), message)
}
