package plan

import (
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// keptSeconds is how long a run that has ended is kept at most. The history of the Build deletes it earlier; a shorter time of a template would make
// its outputs unavailable while they are written, or the run seem to have been deleted by a person.
const keptSeconds = 30 * 24 * 60 * 60

// workflow is the run of an attempt.
func (p *pass) workflow(a *v1alpha1.ActiveRun) *unstructured.Unstructured {
	spec := map[string]any{}
	if ref := p.build.Spec.WorkflowTemplateRef; ref != nil {
		named := map[string]any{"name": ref.Name}
		if ref.ClusterScope {
			named["clusterScope"] = true
		}
		spec["workflowTemplateRef"] = named
	} else {
		maps.Copy(spec, p.facts.Workflow)
	}
	spec["arguments"] = p.arguments(spec["arguments"])
	spec["ttlStrategy"] = map[string]any{
		"secondsAfterCompletion": int64(keptSeconds), "secondsAfterSuccess": int64(keptSeconds), "secondsAfterFailure": int64(keptSeconds),
	}
	delete(spec, "ttlSecondsAfterFinished")
	if account := p.build.Spec.ServiceAccountName; account != "" && p.facts.Workflow["serviceAccountName"] == nil {
		spec["serviceAccountName"] = account
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": workflow.GroupVersion.String(), "kind": workflow.WorkflowKind, "spec": spec,
	}}
	u.SetNamespace(p.build.Namespace)
	u.SetName(a.Run)
	u.SetLabels(map[string]string{v1alpha1.LabelBuild: p.build.Name})
	u.SetAnnotations(map[string]string{
		v1alpha1.AnnotationDigest: a.Digest, v1alpha1.AnnotationAttempt: strconv.FormatInt(a.Attempt, 10),
		v1alpha1.AnnotationEpoch: strconv.FormatInt(a.Epoch, 10),
	})
	u.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(p.build, v1alpha1.GroupVersion.WithKind(v1alpha1.BuildKind))})
	return u
}

// arguments are those of the workflow, with the inputs of the Build instead of parameters of the same name.
func (p *pass) arguments(declared any) map[string]any {
	all := map[string]any{}
	given, _ := declared.(map[string]any)
	maps.Copy(all, given)
	named := map[string]bool{}
	var parameters []any
	for _, input := range p.facts.Inputs {
		if input.Digest == "" {
			named[input.Name] = true
			parameters = append(parameters, map[string]any{"name": input.Name, "value": input.Value})
		}
	}
	others, _ := all["parameters"].([]any)
	for _, other := range others {
		one, _ := other.(map[string]any)
		if name, _ := one["name"].(string); !named[name] {
			parameters = append(parameters, other)
		}
	}
	if len(parameters) > 0 {
		all["parameters"] = parameters
	}
	return all
}
