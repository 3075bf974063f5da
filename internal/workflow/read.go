package workflow

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// idOf is how the registries know an object.
func idOf(kind string, name types.NamespacedName) engine.UnitID {
	return engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: kind, Namespace: name.Namespace, Name: name.Name}
}

// workflow is a Workflow as it was last seen.
func (p *part) workflow(name types.NamespacedName) (*v1alpha1.Workflow, bool) {
	return p.workflows.Get(idOf(v1alpha1.WorkflowKind, name))
}

// putWorkflow takes a Workflow that appeared or changed. What we wrote ourselves is known already.
func (p *part) putWorkflow(u *unstructured.Unstructured) {
	name := nameOf(u)
	before, known := p.workflow(name)
	if known && before.UID == u.GetUID() && before.ResourceVersion == u.GetResourceVersion() {
		return
	}
	wf, err := p.workflows.Put(u)
	if err != nil {
		p.unreadable(u, err)
		return
	}
	if known && before.UID != wf.UID {
		p.leave(execute.Of(before))
	}
	p.runs.Wake(name)
	if cron := wf.Labels[v1alpha1.LabelCronWorkflow]; cron != "" {
		p.crons.Wake(types.NamespacedName{Namespace: name.Namespace, Name: cron})
	}
}

// dropWorkflow takes a Workflow that went.
func (p *part) dropWorkflow(u *unstructured.Unstructured) {
	name := nameOf(u)
	wf, known := p.workflow(name)
	if !known || wf.UID != u.GetUID() {
		return
	}
	p.workflows.Drop(idOf(v1alpha1.WorkflowKind, name))
	p.leave(execute.Of(wf))
	if cron := wf.Labels[v1alpha1.LabelCronWorkflow]; cron != "" {
		p.crons.Wake(types.NamespacedName{Namespace: name.Namespace, Name: cron})
	}
}

// putSchedule takes a CronWorkflow that appeared or changed.
func (p *part) putSchedule(u *unstructured.Unstructured) {
	name := nameOf(u)
	before, known := p.schedules.Get(idOf(v1alpha1.CronWorkflowKind, name))
	if known && before.ResourceVersion == u.GetResourceVersion() {
		return
	}
	if _, err := p.schedules.Put(u); err != nil {
		p.unreadable(u, err)
		return
	}
	p.crons.Wake(name)
}

// dropSchedule takes a CronWorkflow that went. Its runs go with it, as it owns them.
func (p *part) dropSchedule(u *unstructured.Unstructured) {
	name := nameOf(u)
	p.schedules.Drop(idOf(v1alpha1.CronWorkflowKind, name))
	p.crons.Forget(name)
}

// putTemplate takes a template of either kind. Nothing waits for one: a Workflow that names one which does not exist has failed.
func (p *part) putTemplate(u *unstructured.Unstructured) {
	var err error
	if u.GetKind() == v1alpha1.ClusterWorkflowTemplateKind {
		_, err = p.clusterly.Put(u)
	} else {
		_, err = p.templates.Put(u)
	}
	if err != nil {
		p.unreadable(u, err)
	}
}

// dropTemplate takes a template that went.
func (p *part) dropTemplate(u *unstructured.Unstructured) {
	if u.GetKind() == v1alpha1.ClusterWorkflowTemplateKind {
		p.clusterly.Drop(idOf(v1alpha1.ClusterWorkflowTemplateKind, nameOf(u)))
		return
	}
	p.templates.Drop(idOf(v1alpha1.WorkflowTemplateKind, nameOf(u)))
}

// unreadable keeps a Workflow or a schedule whose fields have other types than they should, so that its status can say so, and reports any
// other object.
func (p *part) unreadable(u *unstructured.Unstructured, err error) {
	switch u.GetKind() {
	case v1alpha1.WorkflowKind, v1alpha1.CronWorkflowKind:
		p.mu.Lock()
		p.broken[idOf(u.GetKind(), nameOf(u))] = u
		p.mu.Unlock()
		if u.GetKind() == v1alpha1.WorkflowKind {
			p.runs.Wake(nameOf(u))
			return
		}
		p.crons.Wake(nameOf(u))
	default:
		p.Log.Info("an object cannot be read", "of", u.GetKind()+" "+nameOf(u).String(), "error", err.Error())
		p.Problem(u.GetKind()+" "+nameOf(u).String(), err.Error())
	}
}

// takeBroken is an object that cannot be read, once; nil if there is none.
func (p *part) takeBroken(id engine.UnitID) *unstructured.Unstructured {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.broken[id]
	delete(p.broken, id)
	return u
}
