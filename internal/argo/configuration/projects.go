package configuration

import (
	"cmp"
	"sync"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// DefaultProject permits everything; it is used if none was created.
const DefaultProject = "default"

// Projects holds the AppProjects. It is safe for concurrent use.
type Projects struct {
	mu       sync.RWMutex
	declared map[string]*v1alpha1.AppProject
	read     map[string]*policy.Project
	problems map[string]string
	globals  []settings.GlobalProject
}

// NewProjects returns none but the default one.
func NewProjects() *Projects {
	return &Projects{declared: map[string]*v1alpha1.AppProject{}, read: map[string]*policy.Project{}, problems: map[string]string{}}
}

// Get returns a project with what the global ones add, nil if there is no such project.
func (p *Projects) Get(name string) *policy.Project {
	name = cmp.Or(name, DefaultProject)
	p.mu.Lock()
	defer p.mu.Unlock()
	if held, known := p.read[name]; known {
		return held
	}
	declared := p.declaredAs(name)
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

// By returns a project as other settings than those of now make it, nil if there is no such project.
func (p *Projects) By(s settings.Settings, name string) *policy.Project {
	p.mu.RLock()
	defer p.mu.RUnlock()
	declared := p.declaredAs(name)
	if declared == nil {
		return nil
	}
	// What is wrong with it is said of the settings of now.
	made, _ := policy.Effective(declared, s.GlobalProjects, func(name string) *v1alpha1.AppProject { return p.declared[name] })
	return made
}

// declaredAs is what is declared of a project, nil for nothing. The caller holds the lock.
func (p *Projects) declaredAs(name string) *v1alpha1.AppProject {
	name = cmp.Or(name, DefaultProject)
	if declared := p.declared[name]; declared != nil || name != DefaultProject {
		return declared
	}
	return Permissive()
}

// Permissive is the default project where none is declared.
func Permissive() *v1alpha1.AppProject {
	made := &v1alpha1.AppProject{}
	made.Name = DefaultProject
	made.Spec.SourceRepos = []string{"*"}
	made.Spec.Destinations = []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}}
	made.Spec.ClusterResourceWhitelist = []v1alpha1.ClusterResourceRestrictionItem{{Group: "*", Kind: "*"}}
	return made
}

// Reread forgets what was read, by the settings of now.
func (p *Projects) Reread(s settings.Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.globals, p.read = s.GlobalProjects, map[string]*policy.Project{}
}

// Put takes a project as it is declared; it counts from the next Reread on.
func (p *Projects) Put(project *v1alpha1.AppProject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.declared[project.Name] = project
}

// Drop takes that a project is gone.
func (p *Projects) Drop(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.declared, name)
}

// Problem is what is wrong with a project, empty when nothing is.
func (p *Projects) Problem(name string) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.problems[name]
}
