package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// steps checks groups of steps.
func (c *checker) steps(path string, t *v1alpha1.Template) {
	seen := map[string]bool{}
	before := map[string]bool{}
	for i, group := range t.Steps {
		for j := range group {
			step := &group[j].Execution
			at := fmt.Sprintf("%s[%d][%d]", path, i, j)
			if seen[step.Name] {
				c.add(at+".name", "name '%s' is not unique", step.Name)
			}
			seen[step.Name] = true
			c.execution(at, step, scopeOf{inputs: t, kind: "steps", before: before})
		}
		for j := range group {
			before[group[j].Name] = true
		}
	}
}

// dag checks a graph of tasks.
func (c *checker) dag(path string, t *v1alpha1.Template) {
	tasks := map[string]*v1alpha1.DAGTask{}
	for i := range t.DAG.Tasks {
		task := &t.DAG.Tasks[i]
		if tasks[task.Name] != nil {
			c.add(fmt.Sprintf("%s.tasks[%d].name", path, i), "name '%s' is not unique", task.Name)
		}
		tasks[task.Name] = task
	}
	if len(tasks) == 0 {
		c.add(path+".tasks", "dag must have at least one task")
	}
	needs := map[string][]string{}
	for i := range t.DAG.Tasks {
		needs[t.DAG.Tasks[i].Name] = c.dependencies(fmt.Sprintf("%s.tasks[%d]", path, i), &t.DAG.Tasks[i], tasks)
	}
	for i := range t.DAG.Tasks {
		task := &t.DAG.Tasks[i]
		at := fmt.Sprintf("%s.tasks[%d]", path, i)
		before := map[string]bool{}
		if loop := ancestors(task.Name, needs, before, nil); loop != "" {
			c.add(at, "tasks depend on each other: %s", loop)
		}
		c.execution(at, &task.Execution, scopeOf{inputs: t, kind: "tasks", before: before})
	}
	for _, target := range strings.Fields(t.DAG.Target) {
		if tasks[target] == nil && !strings.Contains(target, "{{") {
			c.add(path+".target", "target '%s' is not defined", target)
		}
	}
}

// dependencies checks what a task depends on, and gives the names of the other tasks.
func (c *checker) dependencies(path string, task *v1alpha1.DAGTask, tasks map[string]*v1alpha1.DAGTask) []string {
	field := path + ".depends"
	switch {
	case task.Depends != "" && len(task.Dependencies) > 0:
		c.add(field, "cannot use both 'depends' and 'dependencies' in the same DAG template")
	case task.Depends != "" && task.ContinueOn != nil:
		c.add(path+".continueOn", "cannot use 'continueOn' when using 'depends'. Instead use 'dep-task.Failed'/'dep-task.Errored'")
	case task.Depends == "":
		field = path + ".dependencies"
	}
	needs, err := text.ParseDependencies(task, tasks)
	if err == nil {
		err = needs.Check()
	}
	if err != nil {
		c.err(field, err)
		return nil
	}
	var known []string
	for _, other := range needs.Tasks {
		if tasks[other] == nil {
			c.add(field, "dependency '%s' not defined", other)
			continue
		}
		known = append(known, other)
	}
	return known
}

// ancestors collects what a task depends on, directly or by way of others, and gives a way back to itself if there is one.
func ancestors(name string, needs map[string][]string, found map[string]bool, way []string) string {
	if slices.Contains(way, name) {
		return strings.Join(append(way, name), " -> ")
	}
	for _, other := range needs[name] {
		if found[other] && !slices.Contains(append(way, name), other) {
			continue
		}
		found[other] = true
		if loop := ancestors(other, needs, found, append(way, name)); loop != "" {
			return loop
		}
	}
	return ""
}

// execution checks a step or task.
func (c *checker) execution(path string, e *v1alpha1.Execution, s scopeOf) {
	switch {
	case e.Name == "":
		c.add(path+".name", "it is required")
	case !callName.MatchString(e.Name):
		c.add(path+".name", "%q has other characters than letters, digits, '-' and '_'", e.Name)
	}
	c.loop(path, e.Loop)
	if e.Inline != nil {
		c.inline(path+".inline", e)
	} else {
		c.call(path, e.Call)
	}
	if e.OnExit != "" && c.own[e.OnExit] == nil && !strings.Contains(e.OnExit, "{{") {
		c.add(path+".onExit", "template name '%s' undefined", e.OnExit)
	}
	s.item, s.self = e.Expands(), e.Name
	rest := *e
	rest.Inline = nil
	c.tags(path, rest, s)
	c.hooks(path, e.Hooks)
}

// loop checks that there is at most one, with what it needs.
func (c *checker) loop(path string, l v1alpha1.Loop) {
	count := 0
	for _, set := range []bool{len(l.WithItems) > 0, l.WithParam != "", l.WithSequence != nil} {
		if set {
			count++
		}
	}
	if count > 1 {
		c.add(path, "only one of withItems, withParam and withSequence can be used")
	}
	switch s := l.WithSequence; {
	case s == nil:
	case s.Count != nil && s.End != nil:
		c.add(path+".withSequence", "only one of count or end can be defined in withSequence")
	case s.Count == nil && s.End == nil:
		c.add(path+".withSequence", "must have one of count or end in withSequence")
	}
}

// inline checks a template that is written where it is called.
func (c *checker) inline(path string, e *v1alpha1.Execution) {
	if e.Template != "" || e.TemplateRef != nil {
		c.add(path, "it has inline and another template; choose one")
	}
	nested := func(one v1alpha1.Execution) bool { return one.Inline != nil }
	for _, group := range e.Inline.Steps {
		if slices.ContainsFunc(group, func(step v1alpha1.WorkflowStep) bool { return nested(step.Execution) }) {
			c.add(path, "an inline template cannot have inline templates itself")
		}
	}
	if e.Inline.DAG != nil && slices.ContainsFunc(e.Inline.DAG.Tasks, func(task v1alpha1.DAGTask) bool { return nested(task.Execution) }) {
		c.add(path, "an inline template cannot have inline templates itself")
	}
	c.templateOf(path, e.Inline)
	c.supplied(path, e.Inline, e.Arguments)
}

// call checks which template is meant, and that it gets its inputs.
func (c *checker) call(path string, call v1alpha1.Call) {
	ref := call.TemplateRef
	switch {
	case ref != nil && call.Template != "":
		c.add(path, "it has template and templateRef; choose one")
	case ref != nil:
		c.reference(path+".templateRef", path+".arguments", ref, call.Arguments)
	case call.Template == "":
		c.add(path+".template", "template, templateRef or inline is required")
	case strings.Contains(call.Template, "{{"):
	case c.own[call.Template] == nil:
		c.add(path+".template", "template name '%s' undefined", call.Template)
	default:
		c.supplied(path+".arguments", c.own[call.Template], call.Arguments)
	}
}

// reference checks a template of another object, as far as that is known.
func (c *checker) reference(path, arguments string, ref *v1alpha1.TemplateRef, given v1alpha1.Arguments) {
	if ref.Name == "" {
		c.add(path+".name", "resource name is required")
	}
	if ref.Template == "" {
		c.add(path+".template", "template name is required")
	}
	spec, known := c.library.Specs[plan.Source{Name: ref.Name, Cluster: ref.ClusterScope}]
	switch {
	case !known:
	case spec == nil:
		c.add(path+".name", "%q does not exist", ref.Name)
	default:
		for i := range spec.Templates {
			if spec.Templates[i].Name == ref.Template {
				c.supplied(arguments, &spec.Templates[i], given)
				return
			}
		}
		c.add(path+".template", "%q has no template %q", ref.Name, ref.Template)
	}
}

// supplied reports which inputs of a template are not supplied.
func (c *checker) supplied(path string, t *v1alpha1.Template, given v1alpha1.Arguments) {
	has := func(name string) bool {
		return slices.ContainsFunc(given.Parameters, func(p v1alpha1.Parameter) bool {
			return p.Name == name && (p.Value != nil || p.ValueFrom != nil || p.Default != nil)
		})
	}
	for _, input := range t.Inputs.Parameters {
		if input.Value == nil && input.Default == nil && input.ValueFrom == nil && !has(input.Name) {
			c.add(path+".parameters", "parameter '%s' was not supplied", input.Name)
		}
	}
	for _, input := range t.Inputs.Artifacts {
		if input.Optional || text.HasLocation(input.ArtifactLocation) {
			continue
		}
		if !slices.ContainsFunc(given.Artifacts, func(a v1alpha1.Artifact) bool { return a.Name == input.Name }) {
			c.add(path+".artifacts", "artifact '%s' was not supplied", input.Name)
		}
	}
}

// hooks checks hooks.
func (c *checker) hooks(path string, hooks v1alpha1.LifecycleHooks) {
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		hook := hooks[name]
		at := path + ".hooks." + name
		c.call(at, hook.Call)
		if hook.Expression == "" && name != v1alpha1.ExitHook {
			c.add(at+".expression", "it is required for all hooks but the one named exit")
		}
		c.expression(at+".expression", hook.Expression)
	}
}
