package plan

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// maxSteps bounds the steps of one Promotion.
const maxSteps = 500

// Tasks finds the task that a step names.
type Tasks func(v1alpha1.PromotionTaskReference) (*v1alpha1.PromotionTaskSpec, error)

// Inflate writes out the steps of a template: each task becomes its steps, whose names begin with that of the task and two colons, with the variables
// of the task, in which those of the step that names it take precedence.
func Inflate(steps []v1alpha1.PromotionStep, find Tasks) ([]v1alpha1.PromotionStep, error) {
	var all []v1alpha1.PromotionStep
	for i, step := range steps {
		if step.Task == nil {
			c := step.DeepCopy()
			c.As = Alias(step, i)
			all = append(all, *c)
			continue
		}
		task, err := find(*step.Task)
		if err != nil {
			return nil, fmt.Errorf("steps[%d]: reading %s %q: %w", i, kindOf(*step.Task), step.Task.Name, err)
		}
		inner, err := inflate(step, Alias(step, i), task)
		if err != nil {
			return nil, fmt.Errorf("steps[%d]: %s %q: %w", i, kindOf(*step.Task), step.Task.Name, err)
		}
		all = append(all, inner...)
	}
	if len(all) > maxSteps {
		return nil, fmt.Errorf("there are %d steps with those of tasks, %d at most are allowed", len(all), maxSteps)
	}
	seen := map[string]bool{}
	for _, step := range all {
		if seen[step.As] {
			return nil, fmt.Errorf("two steps are called %q: give one of them another name in as", step.As)
		}
		seen[step.As] = true
	}
	return all, nil
}

func kindOf(reference v1alpha1.PromotionTaskReference) string {
	if reference.Kind == "" {
		return v1alpha1.PromotionTaskKind
	}
	return reference.Kind
}

func inflate(caller v1alpha1.PromotionStep, alias string, task *v1alpha1.PromotionTaskSpec) ([]v1alpha1.PromotionStep, error) {
	var vars []v1alpha1.ExpressionVariable
	for _, v := range task.Vars {
		given := slices.ContainsFunc(caller.Vars, func(c v1alpha1.ExpressionVariable) bool { return c.Name == v.Name })
		switch {
		case given:
		case v.Value == "":
			return nil, fmt.Errorf("the variable %q has no value: set it in vars of the step", v.Name)
		default:
			vars = append(vars, v)
		}
	}
	vars = append(vars, caller.Vars...)
	var all []v1alpha1.PromotionStep
	for i, step := range task.Steps {
		if step.Task != nil {
			return nil, fmt.Errorf("steps[%d] names a task, which those of a task may not", i)
		}
		c := step.DeepCopy()
		c.As = alias + "::" + Alias(step, i)
		c.Vars = append(slices.Clone(vars), step.Vars...)
		if c.If == "" {
			c.If = caller.If
		}
		c.ContinueOnError = c.ContinueOnError || caller.ContinueOnError
		all = append(all, *c)
	}
	return all, nil
}
