package argo

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/declared"
)

func (e *Engine) putProject(u *unstructured.Unstructured) {
	if u.GetNamespace() != e.options.Namespace {
		return
	}
	project, err := declared.Read[v1alpha1.AppProject](u)
	if err != nil {
		e.observe("AppProject/"+u.GetName(), err.Error())
		e.projects.Refuse(u.GetName(), err)
	} else {
		e.projects.Put(project)
	}
	if u.GetName() == configuration.DefaultProject {
		e.defaults.Wake(e.options.Namespace)
	}
	e.projectChanged(u.GetName())
}

// introduction bounds the request for a project that an Application names.
const introduction = 5 * time.Second

// introduce searches for the project of an Application that no event has named yet: an app of apps creates both at once, and the
// watch of the Applications may be ahead of that of the projects. Without it, the Application would be refused for a moment.
func (e *Engine) introduce(app *v1alpha1.Application) {
	if e.projects.Get(app.Spec.Project) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, introduction)
	defer cancel()
	changes := e.projects.Changes()
	name := cmp.Or(app.Spec.Project, configuration.DefaultProject)
	u, err := e.client.Resource(projectResource).Namespace(e.options.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		// Its event will come, or there is none.
		return
	}
	project, err := declared.Read[v1alpha1.AppProject](u)
	if err == nil && e.projects.Found(project, changes) {
		e.projectChanged(name)
	}
}

func (e *Engine) dropProject(u *unstructured.Unstructured) {
	if u.GetNamespace() != e.options.Namespace {
		return
	}
	e.projects.Drop(u.GetName())
	e.projectChanged(u.GetName())
}

// projectChanged compares the Applications again for which another project holds now; a global one may apply to any. Others are not
// disturbed: a sync would be planned again in its middle.
func (e *Engine) projectChanged(name string) {
	e.projects.Reread(e.settings.Now())
	if p := e.projects.Get(name); p != nil {
		if problem := e.projects.Problem(name); problem != "" {
			e.observe("AppProject/"+name, problem)
		}
	}
	e.apps.each(func(a *app) {
		e.declare(a)
		if a.governed() {
			e.runner.InputsChanged(a.id)
		}
	})
	e.Grants.Changed()
	// Generators read only what a project permits.
	e.sets.WakeAll()
}
