package plan

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// place is the object whose templates are meant by their names alone: the workflow itself, or another object.
type place struct {
	other  bool
	source Source
}

// scope is the place as a node names it.
func (at place) scope(workflow string) string {
	if !at.other {
		return "local/" + workflow
	}
	return at.prefix() + at.source.Name
}

func (at place) prefix() string {
	if at.source.Cluster {
		return "cluster/"
	}
	return "namespaced/"
}

// resolve finds the template of a request, with what is merged below it, and the place in which it names others. The template is nil
// while another object has to be read.
func (p *planner) resolve(r request) (*v1alpha1.Template, place, error) {
	found, at, err := p.find(r)
	if found == nil || err != nil {
		return nil, at, err
	}
	merged, err := p.withDefaults(found)
	return merged, at, err
}

func (p *planner) find(r request) (*v1alpha1.Template, place, error) {
	ref := r.call.TemplateRef
	switch {
	case r.inline != nil:
		return r.inline.DeepCopy(), r.place, nil
	case ref != nil:
		at := place{other: true, source: Source{Name: ref.Name, Cluster: ref.ClusterScope}}
		template, err := p.stored(at, ref.Template)
		return template, at, err
	case r.place.other:
		template, err := p.stored(r.place, r.call.Template)
		return template, r.place, err
	}
	for i := range p.spec.Templates {
		if p.spec.Templates[i].Name == r.call.Template {
			return p.spec.Templates[i].DeepCopy(), r.place, nil
		}
	}
	return nil, r.place, fmt.Errorf("template %q not found in workflow %q", r.call.Template, p.wf.Name)
}

// stored is a template of another object. It is kept in the status from its first use on, so that a change does not change a run.
func (p *planner) stored(at place, name string) (*v1alpha1.Template, error) {
	key := at.prefix() + at.source.Name + "/" + name
	if kept, found := p.wf.Status.StoredTemplates[key]; found {
		return kept.DeepCopy(), nil
	}
	spec, known := p.specOf(at.source)
	if !known {
		return nil, nil
	}
	if spec == nil {
		return nil, fmt.Errorf("%s %q not found", at.source.kind(), at.source.Name)
	}
	for i := range spec.Templates {
		if spec.Templates[i].Name != name {
			continue
		}
		if p.wf.Status.StoredTemplates == nil {
			p.wf.Status.StoredTemplates = map[string]v1alpha1.Template{}
		}
		p.wf.Status.StoredTemplates[key] = *spec.Templates[i].DeepCopy()
		return spec.Templates[i].DeepCopy(), nil
	}
	return nil, fmt.Errorf("template %q not found in %s %q", name, at.source.kind(), at.source.Name)
}

// withDefaults lays a template over those that the workflow has for all; what it executes stays the same.
func (p *planner) withDefaults(template *v1alpha1.Template) (*v1alpha1.Template, error) {
	if p.spec.TemplateDefaults == nil {
		return template, nil
	}
	merged, err := overlay(template, p.spec.TemplateDefaults)
	if err != nil {
		return nil, fmt.Errorf("templateDefaults for template %q: %w", template.Name, err)
	}
	kind := KindOf(template)
	for other, drop := range map[TemplateKind]func(){
		ContainerTemplate: func() { merged.Container = nil },
		ScriptTemplate:    func() { merged.Script = nil },
		ResourceTemplate:  func() { merged.Resource = nil },
		HTTPTemplate:      func() { merged.HTTP = nil },
		SuspendTemplate:   func() { merged.Suspend = nil },
		StepsTemplate:     func() { merged.Steps = nil },
		DAGTemplate:       func() { merged.DAG = nil },
	} {
		if other != kind {
			drop()
		}
	}
	return merged, nil
}

// TemplateKind is what a template executes.
type TemplateKind string

// The kinds of templates.
const (
	ContainerTemplate TemplateKind = "container"
	ScriptTemplate    TemplateKind = "script"
	ResourceTemplate  TemplateKind = "resource"
	HTTPTemplate      TemplateKind = "http"
	SuspendTemplate   TemplateKind = "suspend"
	StepsTemplate     TemplateKind = "steps"
	DAGTemplate       TemplateKind = "dag"
)

// KindOf reports what a template executes; empty if nothing that is supported.
func KindOf(t *v1alpha1.Template) TemplateKind {
	switch {
	case t.Container != nil:
		return ContainerTemplate
	case t.Script != nil:
		return ScriptTemplate
	case t.Resource != nil:
		return ResourceTemplate
	case t.HTTP != nil:
		return HTTPTemplate
	case t.Suspend != nil:
		return SuspendTemplate
	case t.Steps != nil:
		return StepsTemplate
	case t.DAG != nil:
		return DAGTemplate
	default:
		return ""
	}
}

// strategy is how a template is retried: by its own strategy, else by that of the workflow; nil for not at all.
func (p *planner) strategy(t *v1alpha1.Template) *v1alpha1.RetryStrategy {
	if t.RetryStrategy != nil {
		return t.RetryStrategy
	}
	return p.spec.RetryStrategy
}
