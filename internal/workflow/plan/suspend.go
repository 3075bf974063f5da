package plan

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// suspend brings a node further that waits for a time, or for a user to set its phase. Where its time is over and an output has neither been
// supplied nor a default, that is a mistake of the template, as upstream: what calls it ends with an error.
func (p *planner) suspend(c call) (*v1alpha1.NodeStatus, error) {
	node := p.node(c.name)
	if node == nil {
		node = p.create(c.request, v1alpha1.NodeTypeSuspend, v1alpha1.NodeRunning, "")
		if inputs := c.template.Inputs; len(inputs.Parameters)+len(inputs.Artifacts) > 0 {
			node.Inputs = inputs.DeepCopy()
		}
		node.Outputs = toSupply(c.template)
	}
	if reason := p.refusal(c.exit); reason != "" {
		return p.mark(node, v1alpha1.NodeFailed, reason), nil
	}
	if c.template.Suspend.Duration == "" {
		return node, nil
	}
	duration, err := text.Duration(c.template.Suspend.Duration)
	if err != nil {
		err = fmt.Errorf("suspend.duration: %w", err)
		return p.mark(node, v1alpha1.NodeError, err.Error()), err
	}
	if at := node.StartedAt.Add(duration); p.facts.Now.Before(at) {
		p.wakeAt(at)
		return node, nil
	}
	if err := takeDefaults(node.Outputs); err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error()), err
	}
	p.mark(node, v1alpha1.NodeSucceeded, "")
	p.export(node.Outputs)
	return node, nil
}

// toSupply are the outputs that are supplied when the node is resumed, after those that have their values already.
func toSupply(t *v1alpha1.Template) *v1alpha1.Outputs {
	outputs := constants(t)
	for _, parameter := range t.Outputs.Parameters {
		if parameter.ValueFrom == nil || parameter.ValueFrom.Supplied == nil {
			continue
		}
		if outputs == nil {
			outputs = &v1alpha1.Outputs{}
		}
		outputs.Parameters = append(outputs.Parameters, parameter)
	}
	return outputs
}

// takeDefaults gives outputs that were not supplied their defaults.
func takeDefaults(outputs *v1alpha1.Outputs) error {
	if outputs == nil {
		return nil
	}
	for i := range outputs.Parameters {
		parameter := &outputs.Parameters[i]
		if parameter.Value != nil {
			continue
		}
		if parameter.ValueFrom == nil || parameter.ValueFrom.Default == nil {
			return fmt.Errorf("raw output parameter '%s' has not been set and does not have a default value", parameter.Name)
		}
		parameter.Value, parameter.ValueFrom = parameter.ValueFrom.Default, nil
	}
	return nil
}
