package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Submission is what a user says of a run that is submitted, over what its file or template says. What is empty changes nothing.
type Submission struct {
	Name, GenerateName         string
	Entrypoint, ServiceAccount string
	// Parameters replace arguments of the run by name, or are added to them.
	Parameters          []v1alpha1.Parameter
	Labels, Annotations map[string]string
	Priority            *int32
}

// Apply gives the run that is submitted.
func (s Submission) Apply(workflow *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	wf := workflow.DeepCopy()
	wf.APIVersion, wf.Kind = v1alpha1.GroupVersion.String(), v1alpha1.WorkflowKind
	if s.GenerateName != "" {
		wf.GenerateName, wf.Name = s.GenerateName, ""
	}
	if s.Name != "" {
		wf.Name = s.Name
	}
	if wf.Name == "" && wf.GenerateName == "" {
		return nil, fmt.Errorf("the workflow has neither metadata.name nor metadata.generateName: use --name or --generate-name")
	}
	if s.Entrypoint != "" {
		wf.Spec.Entrypoint = s.Entrypoint
	}
	if s.ServiceAccount != "" {
		wf.Spec.ServiceAccountName = s.ServiceAccount
	}
	if s.Priority != nil {
		wf.Spec.Priority = s.Priority
	}
	wf.Labels, wf.Annotations = over(wf.Labels, s.Labels), over(wf.Annotations, s.Annotations)
	override(&wf.Spec.Arguments, s.Parameters)
	return wf, nil
}

func over(below, values map[string]string) map[string]string {
	if len(values) == 0 {
		return below
	}
	all := map[string]string{}
	maps.Copy(all, below)
	maps.Copy(all, values)
	return all
}

// override gives parameters other values, by name. Others are added.
func override(arguments *v1alpha1.Arguments, parameters []v1alpha1.Parameter) {
	for _, p := range parameters {
		i := slices.IndexFunc(arguments.Parameters, func(one v1alpha1.Parameter) bool { return one.Name == p.Name })
		if i < 0 {
			arguments.Parameters = append(arguments.Parameters, p)
			continue
		}
		arguments.Parameters[i].Value, arguments.Parameters[i].ValueFrom = p.Value, nil
	}
}

// FromTemplate is a run of a WorkflowTemplate or a ClusterWorkflowTemplate.
func FromTemplate(name string, cluster bool) *v1alpha1.Workflow {
	label := v1alpha1.LabelWorkflowTemplate
	if cluster {
		label = v1alpha1.LabelClusterWorkflowTemplate
	}
	wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", Labels: map[string]string{label: name}}}
	wf.Spec.WorkflowTemplateRef = &v1alpha1.WorkflowTemplateRef{Name: name, ClusterScope: cluster}
	return wf
}

// FromSchedule is a run of a CronWorkflow at once. It belongs to the schedule like those that are due.
func FromSchedule(cron *v1alpha1.CronWorkflow, now time.Time) *v1alpha1.Workflow {
	wf := &v1alpha1.Workflow{Spec: *cron.Spec.WorkflowSpec.DeepCopy(), ObjectMeta: metav1.ObjectMeta{
		GenerateName: cron.Name + "-", Labels: map[string]string{v1alpha1.LabelCronWorkflow: cron.Name},
		Annotations: map[string]string{v1alpha1.AnnotationScheduledTime: now.UTC().Format(time.RFC3339)},
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(cron, v1alpha1.GroupVersion.WithKind(v1alpha1.CronWorkflowKind)),
		},
	}}
	if metadata := cron.Spec.WorkflowMetadata; metadata != nil {
		maps.Copy(wf.Labels, metadata.Labels)
		maps.Copy(wf.Annotations, metadata.Annotations)
		wf.Finalizers = slices.Clone(metadata.Finalizers)
	}
	return wf
}

// ParseFrom reads what a run is from, such as workflowtemplate/NAME, and gives the kind and the name.
func ParseFrom(text string) (kind, name string, err error) {
	short, name, _ := strings.Cut(text, "/")
	kind = map[string]string{
		"workflowtemplate": v1alpha1.WorkflowTemplateKind, "workflowtemplates": v1alpha1.WorkflowTemplateKind, "wftmpl": v1alpha1.WorkflowTemplateKind, "wft": v1alpha1.WorkflowTemplateKind,
		"clusterworkflowtemplate": v1alpha1.ClusterWorkflowTemplateKind, "clusterworkflowtemplates": v1alpha1.ClusterWorkflowTemplateKind,
		"cwft": v1alpha1.ClusterWorkflowTemplateKind, "clusterwftmpl": v1alpha1.ClusterWorkflowTemplateKind,
		"cronworkflow": v1alpha1.CronWorkflowKind, "cronworkflows": v1alpha1.CronWorkflowKind, "cronwf": v1alpha1.CronWorkflowKind, "cwf": v1alpha1.CronWorkflowKind,
	}[strings.ToLower(short)]
	if kind == "" || name == "" {
		return "", "", fmt.Errorf("--from %q: want workflowtemplate/NAME, clusterworkflowtemplate/NAME (cwft) or cronworkflow/NAME (cronwf)", text)
	}
	return kind, name, nil
}

// ParseParameters reads NAME=VALUE.
func ParseParameters(texts []string) ([]v1alpha1.Parameter, error) {
	var all []v1alpha1.Parameter
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("expected parameter of the form: NAME=VALUE. Received: %s", name)
		}
		all = append(all, v1alpha1.Parameter{Name: name, Value: v1alpha1.Any(value)})
	}
	return all, nil
}

// ParseParameterFile reads a YAML or JSON object of values by name, in the order of the names. What is not a string is written as JSON.
func ParseParameterFile(data []byte) ([]v1alpha1.Parameter, error) {
	raw := map[string]json.RawMessage{}
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("reading parameters: it is not an object of values by name: %w", err)
	}
	var all []v1alpha1.Parameter
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		value := string(raw[name])
		var word string
		if json.Unmarshal(raw[name], &word) == nil {
			value = word
		}
		all = append(all, v1alpha1.Parameter{Name: name, Value: v1alpha1.Any(value)})
	}
	return all, nil
}

// ParseLabels reads NAME=VALUE,NAME=VALUE.
func ParseLabels(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	all := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("expected labels of the form: NAME1=VALUE2,NAME2=VALUE2. Received: %s", text)
		}
		all[name] = value
	}
	return all, nil
}
