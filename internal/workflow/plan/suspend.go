package plan

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// suspend brings a node further that waits for a time, or for a user to set its phase.
func (p *planner) suspend(c call) *v1alpha1.NodeStatus {
	node := p.node(c.name)
	if node == nil {
		node = p.create(c.request, v1alpha1.NodeTypeSuspend, v1alpha1.NodeRunning, "")
		if inputs := c.template.Inputs; len(inputs.Parameters)+len(inputs.Artifacts) > 0 {
			node.Inputs = inputs.DeepCopy()
		}
		node.Outputs = toSupply(c.template)
	}
	if reason := p.refusal(c.exit); reason != "" {
		return p.mark(node, v1alpha1.NodeFailed, reason)
	}
	if c.template.Suspend.Duration == "" {
		return node
	}
	duration, err := text.Duration(c.template.Suspend.Duration)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, "suspend.duration: "+err.Error())
	}
	if at := node.StartedAt.Add(duration); p.facts.Now.Before(at) {
		p.wakeAt(at)
		return node
	}
	if err := takeDefaults(node.Outputs); err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error())
	}
	p.mark(node, v1alpha1.NodeSucceeded, "")
	p.export(node.Outputs)
	return node
}

// toSupply are the outputs that are supplied when the node is resumed.
func toSupply(t *v1alpha1.Template) *v1alpha1.Outputs {
	var outputs *v1alpha1.Outputs
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
