package configuration

import (
	"cmp"
	"sync"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// DefaultProject is the one of Applications that name none. It permits everything where none was ever there.
const DefaultProject = policy.DefaultProject

// Projects holds the AppProjects. It is safe for concurrent use.
type Projects struct {
	mu sync.RWMutex
	// implied is set where a default project was never there: one that permits everything stands for it. completes is set from when
	// one comes to be there until it has what it leaves out of that one.
	implied, completes bool

	declared map[string]*v1alpha1.AppProject
	read     map[string]*policy.Project
	problems map[string]string
	// unreadable are why projects cannot be read that are there.
	unreadable map[string]error
	globals    []settings.GlobalProject
	// changes counts what came and went.
	changes int
}

// NewProjects returns none.
func NewProjects() *Projects {
	return &Projects{
		declared: map[string]*v1alpha1.AppProject{}, read: map[string]*policy.Project{}, problems: map[string]string{}, unreadable: map[string]error{},
	}
}

// Get returns a project with what the global ones add, nil if there is no such project.
func (p *Projects) Get(name string) *policy.Project {
	name = cmp.Or(name, DefaultProject)
	p.mu.Lock()
	defer p.mu.Unlock()
	if held, known := p.read[name]; known {
		return held
	}
	if why := p.unreadable[name]; why != nil {
		return policy.Unreadable(name, why)
	}
	declared := p.declaredAs(name)
	if declared == nil {
		return nil
	}
	made, err := policy.Effective(declared, p.globals, p.declaredAs)
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
	name = cmp.Or(name, DefaultProject)
	if why := p.unreadable[name]; why != nil {
		return policy.Unreadable(name, why)
	}
	declared := p.declaredAs(name)
	if declared == nil {
		return nil
	}
	// What is wrong with it is said of the settings of now.
	made, _ := policy.Effective(declared, s.GlobalProjects, p.declaredAs)
	return made
}

// declaredAs is what is declared of a project, nil for nothing. The caller holds the lock.
func (p *Projects) declaredAs(name string) *v1alpha1.AppProject {
	declared := p.declared[name]
	switch {
	case name != DefaultProject:
	case p.implied:
		return Permissive()
	case p.completes && declared != nil:
		return policy.Completed(declared)
	}
	return declared
}

// Permissive is the default project where none is declared.
func Permissive() *v1alpha1.AppProject {
	made := &v1alpha1.AppProject{}
	made.Name = DefaultProject
	return policy.Completed(made)
}

// Reread forgets what was read, by the settings of now.
func (p *Projects) Reread(s settings.Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.globals, p.read = s.GlobalProjects, map[string]*policy.Project{}
}

// Put takes a project as it is declared; it counts from the next Reread on.
func (p *Projects) Put(project *v1alpha1.AppProject) { p.put(project.Name, project, nil) }

// Refuse takes that a project is there and cannot be read: it permits nothing from the next Reread on.
func (p *Projects) Refuse(name string, why error) { p.put(name, nil, why) }

// Drop takes that a project is gone.
func (p *Projects) Drop(name string) { p.put(name, nil, nil) }

// Changes counts what came and went. It goes with Found.
func (p *Projects) Changes() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.changes
}

// Found takes a project that was read after so many changes. It is false where another change has come since: what was read may be gone.
func (p *Projects) Found(project *v1alpha1.AppProject, changes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes != changes {
		return false
	}
	p.enter(project.Name, project, nil)
	return true
}

func (p *Projects) put(name string, project *v1alpha1.AppProject, unreadable error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enter(name, project, unreadable)
}

// enter replaces what there is of a project. The caller holds the lock.
func (p *Projects) enter(name string, project *v1alpha1.AppProject, unreadable error) {
	p.changes++
	delete(p.declared, name)
	delete(p.unreadable, name)
	if project != nil {
		p.declared[name] = project
	}
	if unreadable != nil {
		p.unreadable[name] = unreadable
	}
	if name == DefaultProject {
		p.completes = (p.implied || p.completes) && (project != nil || unreadable != nil)
		// Once there was one, its absence is a deletion.
		p.implied = false
	}
}

// Complete has the default project that is there have what it leaves out of the one that was implied until now.
func (p *Projects) Complete() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.completes, p.read = true, map[string]*policy.Project{}
}

// Incomplete is the default project as it is declared, while it is to have what it leaves out; nil otherwise.
func (p *Projects) Incomplete() *v1alpha1.AppProject {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.completes {
		return nil
	}
	return p.declared[DefaultProject]
}

// Completed takes that the default project has everything that it was to have.
func (p *Projects) Completed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.completes = false
}

// Imply has a default project that permits everything stand for the one that was never there. It is for the start, before
// any is used.
func (p *Projects) Imply() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.implied = true
}

// Implied reports whether one stands for the default project.
func (p *Projects) Implied() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.implied
}

// Has reports whether a project is there, readable or not.
func (p *Projects) Has(name string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.declared[name] != nil || p.unreadable[name] != nil
}

// Problem is what is wrong with a project, empty when nothing is.
func (p *Projects) Problem(name string) string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.problems[name]
}
