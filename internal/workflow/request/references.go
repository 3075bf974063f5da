package request

import (
	"slices"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// References are the other objects whose templates a spec names, each once.
func References(spec *v1alpha1.WorkflowSpec) []plan.Source {
	var all []plan.Source
	add := func(name string, cluster bool) {
		if source := (plan.Source{Name: name, Cluster: cluster}); name != "" && !slices.Contains(all, source) {
			all = append(all, source)
		}
	}
	call := func(c v1alpha1.Call) {
		if c.TemplateRef != nil {
			add(c.TemplateRef.Name, c.TemplateRef.ClusterScope)
		}
	}
	hooks := func(hooks v1alpha1.LifecycleHooks) {
		for _, hook := range hooks {
			call(hook.Call)
		}
	}
	if ref := spec.WorkflowTemplateRef; ref != nil {
		add(ref.Name, ref.ClusterScope)
	}
	hooks(spec.Hooks)
	for i := range spec.Templates {
		for _, e := range executions(&spec.Templates[i]) {
			call(e.Call)
			hooks(e.Hooks)
		}
	}
	slices.SortFunc(all, func(a, b plan.Source) int {
		switch {
		case a.Cluster == b.Cluster && a.Name < b.Name, !a.Cluster && b.Cluster:
			return -1
		default:
			return 1
		}
	})
	return all
}

// executions are the steps and tasks of a template, and those of templates that are written where they are called.
func executions(t *v1alpha1.Template) []*v1alpha1.Execution {
	var all []*v1alpha1.Execution
	for i := range t.Steps {
		for j := range t.Steps[i] {
			all = append(all, &t.Steps[i][j].Execution)
		}
	}
	if t.DAG != nil {
		for i := range t.DAG.Tasks {
			all = append(all, &t.DAG.Tasks[i].Execution)
		}
	}
	for _, e := range slices.Clone(all) {
		if e.Inline != nil {
			all = append(all, executions(e.Inline)...)
		}
	}
	return all
}
