// Package request is what people request of workflows: a run from a file or a template with arguments of their own, and to stop,
// suspend, resume or retry one. Each is a pure function of the object: it gives a copy, as it is to be written.
//
// What a request does to a run is decided when the run is reconciled; a request that cannot have an effect is an error here.
package request

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Stop ends a run: Stop executes exit handlers, Terminate does not.
func Stop(workflow *v1alpha1.Workflow, strategy v1alpha1.ShutdownStrategy) (*v1alpha1.Workflow, error) {
	if err := running(workflow, "stopped"); err != nil {
		return nil, err
	}
	wf := workflow.DeepCopy()
	wf.Spec.Shutdown = strategy
	return wf, nil
}

// Suspend keeps anything new of a run from starting.
func Suspend(workflow *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	if err := running(workflow, "suspended"); err != nil {
		return nil, err
	}
	wf := workflow.DeepCopy()
	yes := true
	wf.Spec.Suspend = &yes
	return wf, nil
}

// Resume lets a run continue, and ends nodes of it that wait. With a selector, only those nodes are ended that match; outputs are the
// values that they were waiting for.
func Resume(workflow *v1alpha1.Workflow, selector fields.Selector, outputs map[string]string) (*v1alpha1.Workflow, error) {
	if err := running(workflow, "resumed"); err != nil {
		return nil, err
	}
	waiting, err := waitingOf(workflow, selector)
	if err != nil {
		return nil, err
	}
	if err := expected(workflow, waiting, outputs); err != nil {
		return nil, err
	}
	if selector == nil {
		suspended := workflow.Spec.Suspend != nil && *workflow.Spec.Suspend
		if len(waiting) == 0 && !suspended {
			return nil, fmt.Errorf("workflow %q is not suspended, and none of its nodes waits", workflow.Name)
		}
		waiting = nil // all of them, and the workflow itself
	}
	return plan.Resume(workflow, waiting, outputs)
}

// Fail ends nodes of a run that wait as failed, with a message.
func Fail(workflow *v1alpha1.Workflow, selector fields.Selector, message string) (*v1alpha1.Workflow, error) {
	if err := running(workflow, "stopped"); err != nil {
		return nil, err
	}
	waiting, err := waitingOf(workflow, selector)
	if err != nil {
		return nil, err
	}
	wf := workflow.DeepCopy()
	for _, id := range waiting {
		node := wf.Status.Nodes[id]
		node.Phase, node.Message = v1alpha1.NodeFailed, message
		wf.Status.Nodes[id] = node
	}
	return wf, nil
}

// Retrying says how a run continues that has ended.
type Retrying struct {
	// Selector selects nodes that start over although they succeeded; nil for none.
	Selector fields.Selector
	// Parameters replace arguments of the run.
	Parameters []v1alpha1.Parameter
}

// Retry continues a run that has ended where it failed.
func Retry(workflow *v1alpha1.Workflow, r Retrying, now time.Time) (*v1alpha1.Workflow, error) {
	var selected []string
	if r.Selector != nil {
		if selected = Select(workflow, r.Selector); len(selected) == 0 {
			return nil, fmt.Errorf("no node of workflow %q matches %s", workflow.Name, r.Selector)
		}
	}
	wf, err := plan.Again(workflow, selected, now)
	if err != nil {
		return nil, err
	}
	if len(r.Parameters) > 0 {
		override(&wf.Spec.Arguments, r.Parameters)
		if wf.Status.StoredWorkflowSpec != nil {
			override(&wf.Status.StoredWorkflowSpec.Arguments, r.Parameters)
		}
	}
	return wf, nil
}

// running is an error for a run that has ended.
func running(wf *v1alpha1.Workflow, what string) error {
	if !wf.Status.Phase.Completed() {
		return nil
	}
	return fmt.Errorf("workflow %q has ended (%s): it cannot be %s", wf.Name, wf.Status.Phase, what)
}

// waitingOf are the IDs of the nodes that wait, and match. With a selector that selects none, that is an error.
func waitingOf(wf *v1alpha1.Workflow, selector fields.Selector) ([]string, error) {
	ids := slices.DeleteFunc(Select(wf, selector), func(id string) bool {
		node := wf.Status.Nodes[id]
		return node.Type != v1alpha1.NodeTypeSuspend || node.Phase != v1alpha1.NodeRunning
	})
	if len(ids) == 0 && selector != nil {
		return nil, fmt.Errorf("no node of workflow %q that waits matches %s", wf.Name, selector)
	}
	return ids, nil
}

// expected is an error for an output that none of the nodes waits for.
func expected(wf *v1alpha1.Workflow, waiting []string, outputs map[string]string) error {
	wanted := map[string]bool{}
	for _, id := range waiting {
		node := wf.Status.Nodes[id]
		if node.Outputs == nil {
			continue
		}
		for _, p := range node.Outputs.Parameters {
			wanted[p.Name] = wanted[p.Name] || p.ValueFrom != nil && p.ValueFrom.Supplied != nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if !wanted[name] {
			return fmt.Errorf("no node of workflow %q that is resumed waits for output parameter %q", wf.Name, name)
		}
	}
	return nil
}

// Select are the IDs of the nodes that match, in their order; nil selects all.
func Select(wf *v1alpha1.Workflow, selector fields.Selector) []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(wf.Status.Nodes)) {
		node := wf.Status.Nodes[id]
		if selector == nil || Matches(selector, &node) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Matches reports whether a node has the fields that a selector wants: displayName, templateName, templateRef.name,
// templateRef.template, phase, name, id, and inputs.parameters.NAME.value.
func Matches(selector fields.Selector, node *v1alpha1.NodeStatus) bool {
	values := fields.Set{
		"displayName": node.DisplayName, "templateName": TemplateOf(node), "phase": string(node.Phase), "name": node.Name, "id": node.ID,
	}
	if ref := node.TemplateRef; ref != nil {
		values["templateRef.name"], values["templateRef.template"] = ref.Name, ref.Template
	}
	if node.Inputs != nil {
		for _, p := range node.Inputs.Parameters {
			if p.Value != nil {
				values["inputs.parameters."+p.Name+".value"] = p.Value.String()
			}
		}
	}
	return selector.Matches(values)
}

// TemplateOf is the name of the template that a node executes.
func TemplateOf(node *v1alpha1.NodeStatus) string {
	if node.TemplateRef != nil {
		return node.TemplateRef.Template
	}
	return node.TemplateName
}

// selectable are the fields that nodes are selected by.
const selectable = "displayName, templateName, templateRef.name, templateRef.template, phase, name, id, inputs.parameters.NAME.value"

// ParseSelector reads a selector such as displayName=approve,phase=Running.
func ParseSelector(text string) (fields.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := fields.ParseSelector(text)
	if err != nil {
		return nil, fmt.Errorf("reading selector %q: %w", text, err)
	}
	for _, r := range selector.Requirements() {
		known := slices.Contains(strings.Split(selectable, ", "), r.Field)
		if !known && (!strings.HasPrefix(r.Field, "inputs.parameters.") || !strings.HasSuffix(r.Field, ".value")) {
			return nil, fmt.Errorf("reading selector %q: nodes have no field %q: use %s", text, r.Field, selectable)
		}
	}
	return selector, nil
}
