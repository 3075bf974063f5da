package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// describe gives what is known of the node of a step or task its names. For one that has ended, outputs that it does not have are absent; those
// of a template that was not executed have their defaults.
func (p *planner) describe(scope *text.Scope, name string, node *v1alpha1.NodeStatus, r request) {
	if node.Type == v1alpha1.NodeTypeTaskGroup {
		p.aggregate(scope, name, node.Name+"(", r)
		scope.Set(name+".status", string(node.Phase))
		p.finished(scope, name, node, r)
		return
	}
	ended := node
	if node.Type == v1alpha1.NodeTypeRetry {
		if attempts := p.attempts(node); len(attempts) > 0 {
			ended = attempts[len(attempts)-1]
		}
	}
	scope.Set(name+".id", ended.ID)
	scope.Set(name+".status", string(node.Phase))
	if !ended.StartedAt.IsZero() {
		scope.Set(name+".startedAt", ended.StartedAt.UTC().Format(time.RFC3339))
	}
	if !ended.FinishedAt.IsZero() {
		scope.Set(name+".finishedAt", ended.FinishedAt.UTC().Format(time.RFC3339))
	}
	for field, value := range map[string]string{"ip": ended.PodIP, "hostNodeName": ended.HostNodeName} {
		if value != "" {
			scope.Set(name+"."+field, value)
		}
	}
	setOutputs(scope, name, ended.Outputs)
	p.finished(scope, name, node, r)
}

// finished says that a node which has ended gets no more outputs.
func (p *planner) finished(scope *text.Scope, name string, node *v1alpha1.NodeStatus, r request) {
	if !node.Phase.Fulfilled() {
		return
	}
	if node.Phase == v1alpha1.NodeSkipped || node.Phase == v1alpha1.NodeOmitted {
		if template, _, err := p.resolve(r); err == nil && template != nil {
			for _, parameter := range template.Outputs.Parameters {
				if parameter.ValueFrom != nil && parameter.ValueFrom.Default != nil {
					scope.Set(name+".outputs.parameters."+parameter.Name, parameter.ValueFrom.Default.String())
				}
			}
		}
	}
	scope.Finish(name)
}

func setOutputs(scope *text.Scope, name string, outputs *v1alpha1.Outputs) {
	if outputs == nil {
		return
	}
	if outputs.Result != nil {
		scope.Set(name+".outputs.result", *outputs.Result)
	}
	if outputs.ExitCode != nil {
		scope.Set(name+".exitCode", *outputs.ExitCode)
	}
	for _, parameter := range outputs.Parameters {
		if parameter.Value != nil {
			scope.Set(name+".outputs.parameters."+parameter.Name, parameter.Value.String())
		}
	}
	for _, artifact := range outputs.Artifacts {
		scope.SetArtifact(name+".outputs.artifacts."+artifact.Name, artifact)
	}
}

// aggregate gives the outputs of all executions of a loop their names, as lists in JSON in the order of the items.
// Those of one whose executions were all skipped are empty lists.
func (p *planner) aggregate(scope *text.Scope, name, prefix string, r request) {
	var executed []*v1alpha1.NodeStatus
	skipped := false
	for _, node := range p.nodes {
		switch {
		case node.BoundaryID != r.boundary || !strings.HasPrefix(node.Name, prefix) || node.Hooked() || node.Retried():
		case node.Type == v1alpha1.NodeTypeSkipped:
			skipped = true
		default:
			executed = append(executed, node)
		}
	}
	if len(executed) == 0 && !skipped {
		return
	}
	if len(executed) == 0 {
		p.noOutputs(scope, name, r)
	}
	slices.SortFunc(executed, func(a, b *v1alpha1.NodeStatus) int {
		return cmp.Or(cmp.Compare(indexOf(a.Name, prefix), indexOf(b.Name, prefix)), cmp.Compare(a.Name, b.Name))
	})
	lists := map[string][]string{}
	maps := []map[string]string{}
	results := []json.RawMessage{}
	for _, node := range executed {
		if node.Outputs == nil || node.Phase != v1alpha1.NodeSucceeded {
			continue
		}
		fields := map[string]string{}
		for _, parameter := range node.Outputs.Parameters {
			fields[parameter.Name] = parameter.Value.String()
			lists[parameter.Name] = append(lists[parameter.Name], parameter.Value.String())
		}
		if len(fields) > 0 {
			maps = append(maps, fields)
		}
		if node.Outputs.Result != nil {
			results = append(results, asJSON(*node.Outputs.Result))
		}
	}
	setJSON(scope, name+".outputs.result", results)
	setJSON(scope, name+".outputs.parameters", maps)
	for parameter, list := range lists {
		setJSON(scope, name+".outputs.parameters."+parameter, structured(list))
	}
}

// noOutputs gives every output that the template of a loop declares an empty list. Expressions see the list of all of them.
func (p *planner) noOutputs(scope *text.Scope, name string, r request) {
	template, _, err := p.resolve(r)
	if err != nil || template == nil {
		return
	}
	for _, parameter := range template.Outputs.Parameters {
		scope.SetTag(name+".outputs.parameters."+parameter.Name, "[]")
	}
}

// indexOf is the number of an item in the name of a node.
func indexOf(name, prefix string) int {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), ":")
	index, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return index
}

// asJSON is a result as it is if it is JSON, else as a string.
func asJSON(result string) json.RawMessage {
	if json.Valid([]byte(result)) {
		return json.RawMessage(result)
	}
	data, err := json.Marshal(result)
	if err != nil {
		return json.RawMessage("null") // a string can always be written
	}
	return data
}

// structured are strings, or what they say if each is a list or a map in JSON.
func structured(list []string) any {
	parsed := make([]any, 0, len(list))
	for _, one := range list {
		var value any
		if err := json.Unmarshal([]byte(one), &value); err != nil {
			return list
		}
		switch value.(type) {
		case []any, map[string]any:
			parsed = append(parsed, value)
		default:
			return list
		}
	}
	return parsed
}

func setJSON(scope *text.Scope, name string, value any) {
	if data, err := json.Marshal(value); err == nil {
		scope.Set(name, string(data))
	}
}

// collect gives steps or a graph the outputs that their template declares, from what the scope has.
func collect(t *v1alpha1.Template, scope *text.Scope) (*v1alpha1.Outputs, error) {
	if len(t.Outputs.Parameters)+len(t.Outputs.Artifacts) == 0 {
		return nil, nil
	}
	outputs := &v1alpha1.Outputs{}
	for _, parameter := range t.Outputs.Parameters {
		value, err := outputValue(parameter, scope)
		if err != nil {
			return nil, err
		}
		parameter.Value, parameter.ValueFrom = v1alpha1.Any(value), nil
		outputs.Parameters = append(outputs.Parameters, parameter)
	}
	for _, artifact := range t.Outputs.Artifacts {
		found, err := fetch(artifact, scope)
		if err != nil {
			return nil, fmt.Errorf("unable to resolve outputs from scope: %w", err)
		}
		if found != nil {
			outputs.Artifacts = append(outputs.Artifacts, *found)
		}
	}
	return outputs, nil
}

// outputValue is the value of one output.
func outputValue(parameter v1alpha1.Parameter, scope *text.Scope) (string, error) {
	from := parameter.ValueFrom
	var value string
	var err error
	switch {
	case from == nil && parameter.Value == nil:
		return "", fmt.Errorf("output parameter %q has neither a value nor a valueFrom", parameter.Name)
	case from == nil:
		value, err = text.Replace(parameter.Value.String(), scope, stepMode)
	case from.Expression != "":
		value, err = text.Replace("{{="+from.Expression+"}}", scope, stepMode)
	default:
		value, err = text.Replace(from.Parameter, scope, stepMode)
	}
	if err == nil {
		return value, nil
	}
	if from != nil && from.Default != nil {
		return from.Default.String(), nil
	}
	return "", fmt.Errorf("unable to resolve output parameter %q: %w", parameter.Name, err)
}
