package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// prepare finds the spec and the values that all templates see, and starts the workflow if it is new. It is false when the pass ends there.
func (p *planner) prepare() bool {
	spec, err := p.merged()
	if err != nil {
		p.specError(err)
		return false
	}
	if spec == nil {
		return false
	}
	// Parameters get their values in a copy: what the user wrote stays.
	p.spec = spec.DeepCopy()
	if err := p.scope(); err != nil {
		var unknown *text.UnknownConfigError
		if errors.As(err, &unknown) {
			p.askConfig(unknown.ConfigKey)
			return false
		}
		p.specError(err)
		return false
	}
	if p.wf.Status.Phase == "" || p.wf.Status.Phase == v1alpha1.WorkflowPending {
		if err := p.begin(); err != nil {
			p.specError(err)
			return false
		}
	}
	return true
}

// begin marks the workflow as running, and gives it the labels that its spec sets.
func (p *planner) begin() error {
	if p.wf.Status.StartedAt.IsZero() {
		p.wf.Status.StartedAt = p.now()
	}
	p.phase(v1alpha1.WorkflowRunning, "")
	if ref := p.wf.Spec.WorkflowTemplateRef; ref != nil {
		label := v1alpha1.LabelWorkflowTemplate
		if ref.ClusterScope {
			label = v1alpha1.LabelClusterWorkflowTemplate
		}
		p.label(label, ref.Name)
	}
	metadata := p.spec.WorkflowMetadata
	if metadata == nil {
		return nil
	}
	labels := maps.Clone(metadata.Labels)
	for _, name := range slices.Sorted(maps.Keys(metadata.LabelsFrom)) {
		value, err := text.Evaluate(metadata.LabelsFrom[name].Expression, p.global, nil)
		if err != nil {
			return fmt.Errorf("failed to evaluate label %q: %w", name, err)
		}
		word, isText := value.(string)
		if !isText {
			return fmt.Errorf("failed to evaluate label %q: the expression %q gives a %T, not a string", name, metadata.LabelsFrom[name].Expression, value)
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = word
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsValidLabelValue(labels[name]); len(problems) > 0 {
			return fmt.Errorf("invalid label value %q for label %q: %s", labels[name], name, problems[0])
		}
		p.label(name, labels[name])
		p.global.Set("workflow.labels."+name, labels[name])
	}
	for name, value := range metadata.Annotations {
		p.annotate(name, value)
		p.global.Set("workflow.annotations."+name, value)
	}
	return nil
}

// merged is the spec of the workflow over that of the template that it names, over the defaults. It is kept since the first pass, so
// that a change of the template does not change a run. It is nil while the template has to be read.
func (p *planner) merged() (*v1alpha1.WorkflowSpec, error) {
	ref := p.wf.Spec.WorkflowTemplateRef
	if ref == nil {
		return overlay(&p.wf.Spec, p.facts.Defaults)
	}
	if stored := p.wf.Status.StoredWorkflowSpec; stored != nil {
		// What people change to stop or halt a run is always that of the run itself.
		stored.Shutdown, stored.Suspend = p.wf.Spec.Shutdown, p.wf.Spec.Suspend
		return stored, nil
	}
	source := Source{Name: ref.Name, Cluster: ref.ClusterScope}
	template, known := p.specOf(source)
	if !known {
		return nil, nil
	}
	if template == nil {
		return nil, fmt.Errorf("%s %q not found", source.kind(), ref.Name)
	}
	below, err := overlay(template, p.facts.Defaults)
	if err != nil {
		return nil, err
	}
	spec, err := overlay(&p.wf.Spec, below)
	if err != nil {
		return nil, err
	}
	spec.WorkflowTemplateRef = nil
	p.wf.Status.StoredWorkflowSpec = spec
	return spec, nil
}

// templateGrace is how long after its creation a workflow waits for templates that do not exist: what is applied together comes in any
// order.
const templateGrace = 10 * time.Second

// specOf is the spec of another object, nil if there is none. It is unknown before it was read, nor as long as it may come.
func (p *planner) specOf(source Source) (spec *v1alpha1.WorkflowSpec, known bool) {
	spec, read := p.facts.Templates[source]
	if !read {
		p.askTemplate(source)
		return nil, false
	}
	if late := p.wf.CreationTimestamp.Add(templateGrace); spec == nil && p.facts.Now.Before(late) {
		p.wakeAt(p.facts.Now.Add(time.Second))
		if phase := p.wf.Status.Phase; phase == "" || phase == v1alpha1.WorkflowPending {
			p.phase(v1alpha1.WorkflowPending, fmt.Sprintf("waiting for %s %q, which does not exist", source.kind(), source.Name))
		}
		return nil, false
	}
	return spec, true
}

func (s Source) kind() string {
	if s.Cluster {
		return v1alpha1.ClusterWorkflowTemplateKind
	}
	return v1alpha1.WorkflowTemplateKind
}

// overlay is one value over another one: lists with names are merged by name.
func overlay[T any](over, below *T) (*T, error) {
	if below == nil {
		return over, nil
	}
	merged := new(T)
	patch, err := json.Marshal(over)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	base, err := json.Marshal(below)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	data, err := strategicpatch.StrategicMergePatch(base, patch, *merged)
	if err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	if err := json.Unmarshal(data, merged); err != nil {
		return nil, fmt.Errorf("merging: %w", err)
	}
	return merged, nil
}

// specError ends a workflow whose spec cannot be executed.
func (p *planner) specError(err error) {
	p.condition(v1alpha1.Condition{Type: v1alpha1.ConditionSpecError, Status: "True", Message: err.Error()})
	p.end(v1alpha1.WorkflowError, err.Error())
}
