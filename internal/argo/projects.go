package argo

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/declared"
)

// defaultProject permits everything; it is used if none was created.
const defaultProject = "default"

// projects holds the AppProjects. It is safe for concurrent use.
type projects struct {
	mu       sync.RWMutex
	declared map[string]*v1alpha1.AppProject
	read     map[string]*policy.Project
	problems map[string]string
	globals  []settings.GlobalProject
}

func newProjects() *projects {
	return &projects{declared: map[string]*v1alpha1.AppProject{}, read: map[string]*policy.Project{}, problems: map[string]string{}}
}

// get returns a project with what the global ones add, nil if there is no such project.
func (p *projects) get(name string) *policy.Project {
	if name == "" {
		name = defaultProject
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if held, known := p.read[name]; known {
		return held
	}
	declared := p.declared[name]
	if declared == nil && name == defaultProject {
		declared = permissive()
	}
	if declared == nil {
		return nil
	}
	made, err := policy.Effective(declared, p.globals, func(name string) *v1alpha1.AppProject { return p.declared[name] })
	if err != nil {
		p.problems[name] = err.Error()
	} else {
		delete(p.problems, name)
	}
	p.read[name] = made
	return made
}

func permissive() *v1alpha1.AppProject {
	made := &v1alpha1.AppProject{}
	made.Name = defaultProject
	made.Spec.SourceRepos = []string{"*"}
	made.Spec.Destinations = []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}
	made.Spec.ClusterResourceWhitelist = []v1alpha1.ClusterResourceRestrictionItem{{Group: "*", Kind: "*"}}
	return made
}

// reread forgets what was read, by the settings of now.
func (p *projects) reread(s settings.Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.globals, p.read = s.GlobalProjects, map[string]*policy.Project{}
}

func (e *Engine) putProject(u *unstructured.Unstructured) {
	if u.GetNamespace() != e.options.Namespace {
		return
	}
	project, err := declared.Read[v1alpha1.AppProject](u)
	if err != nil {
		e.observe("AppProject/"+u.GetName(), err.Error())
		return
	}
	e.projects.mu.Lock()
	e.projects.declared[project.Name] = project
	e.projects.mu.Unlock()
	e.projectChanged(project.Name)
}

func (e *Engine) dropProject(u *unstructured.Unstructured) {
	if u.GetNamespace() != e.options.Namespace {
		return
	}
	e.projects.mu.Lock()
	delete(e.projects.declared, u.GetName())
	e.projects.mu.Unlock()
	e.projectChanged(u.GetName())
}

// projectChanged compares the Applications of a project again; a global one may apply to any.
func (e *Engine) projectChanged(name string) {
	e.projects.reread(e.settings.now())
	if p := e.projects.get(name); p != nil {
		e.projects.mu.RLock()
		problem := e.projects.problems[name]
		e.projects.mu.RUnlock()
		if problem != "" {
			e.observe("AppProject/"+name, problem)
		}
	}
	e.apps.each(func(a *app) {
		e.declare(a)
		e.runner.InputsChanged(a.id)
	})
}
