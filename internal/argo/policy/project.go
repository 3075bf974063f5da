package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// Project is an AppProject together with those that hold for it too, read once.
type Project struct {
	// Name of the AppProject.
	Name string
	// Spec is what the AppProject says, and what the global ones add to it.
	Spec v1alpha1.AppProjectSpec

	sources []pattern
	// secrets are those that DecryptionSecrets lists, listed the same as they were written.
	secrets      []pattern
	listed       []string
	destinations []destination
	namespaces   []func(string) bool
	windows      []window
	// integrity is what it requires of signatures.
	integrity []integrity
	// unreadable is why nothing is known of the project; it permits nothing then.
	unreadable error
}

// Unreadable is a project that is there and cannot be read: it permits nothing.
func Unreadable(name string, why error) *Project { return &Project{Name: name, unreadable: why} }

// Same reports whether two projects say the same; either may be nil, for one that is not there.
func (p *Project) Same(other *Project) bool {
	if p == nil || other == nil {
		return p == other
	}
	why := func(err error) string {
		if err == nil {
			return ""
		}
		return err.Error()
	}
	return p == other || p.Name == other.Name && reflect.DeepEqual(p.Spec, other.Spec) && slices.Equal(p.listed, other.listed) && why(p.unreadable) == why(other.unreadable)
}

// Readable is an error for a project that is there and cannot be read.
func (p *Project) Readable() error {
	if p.unreadable == nil {
		return nil
	}
	return fmt.Errorf("project %s cannot be read, and permits nothing: %w", p.Name, p.unreadable)
}

// Effective is a project with the rules of the global projects whose selector matches its labels: their lists are
// added to its own. Projects are looked up by name, nil where there is none.
//
// The error joins what cannot be read: patterns, selectors, names of global projects. The project holds beside it: a
// pattern that cannot be read permits nothing, or denies everything.
func Effective(
	project *v1alpha1.AppProject, globals []settings.GlobalProject, find func(name string) *v1alpha1.AppProject,
) (*Project, error) {
	p := &Project{Name: project.Name, Spec: *project.Spec.DeepCopy()}
	p.addWindows(project)
	errs := p.addSecrets(project)
	for i, g := range globals {
		if g.ProjectName == project.Name {
			continue
		}
		selects, err := selector(g.LabelSelector)
		if err != nil {
			errs = append(errs, fmt.Errorf("globalProjects[%d].labelSelector: %w", i, err))
			continue
		}
		if !selects.Matches(labels.Set(project.Labels)) {
			continue
		}
		global := find(g.ProjectName)
		if global == nil {
			errs = append(errs, fmt.Errorf("globalProjects[%d].projectName: there is no project %q", i, g.ProjectName))
			continue
		}
		errs = append(errs, p.merge(global)...)
	}
	errs = append(errs, p.read()...)
	return p, errors.Join(errs...)
}

func selector(s metav1.LabelSelector) (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(&s)
}

// merge adds the lists of a global project. Where it lists kinds in namespaces, only listed ones are permitted from
// then on, even when the project itself names none.
func (p *Project) merge(global *v1alpha1.AppProject) []error {
	from := global.Spec.DeepCopy()
	s := &p.Spec
	s.ClusterResourceWhitelist = append(s.ClusterResourceWhitelist, from.ClusterResourceWhitelist...)
	s.ClusterResourceBlacklist = append(s.ClusterResourceBlacklist, from.ClusterResourceBlacklist...)
	s.NamespaceResourceWhitelist = append(s.NamespaceResourceWhitelist, from.NamespaceResourceWhitelist...)
	s.NamespaceResourceBlacklist = append(s.NamespaceResourceBlacklist, from.NamespaceResourceBlacklist...)
	s.SyncWindows = append(s.SyncWindows, from.SyncWindows...)
	s.SourceRepos = append(s.SourceRepos, from.SourceRepos...)
	s.Destinations = append(s.Destinations, from.Destinations...)
	s.DestinationServiceAccounts = append(s.DestinationServiceAccounts, from.DestinationServiceAccounts...)
	p.addWindows(global)
	return p.addSecrets(global)
}

func (p *Project) addWindows(of *v1alpha1.AppProject) {
	for i, w := range of.Spec.SyncWindows {
		p.windows = append(p.windows, window{SyncWindow: w, name: fmt.Sprintf("project '%s': spec.syncWindows[%d] (%s)", of.Name, i, w.Kind)})
	}
}

// read compiles the patterns.
func (p *Project) read() []error {
	var errs []error
	note := func(field string, i int, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("project '%s': spec.%s[%d]: %w", p.Name, field, i, err))
		}
	}
	for i, text := range p.Spec.SourceRepos {
		source, err := sourcePattern(text)
		note("sourceRepos", i, err)
		p.sources = append(p.sources, source)
	}
	for i, d := range p.Spec.Destinations {
		read, err := newDestination(d)
		note("destinations", i, err)
		p.destinations = append(p.destinations, read)
	}
	for i, text := range p.Spec.SourceNamespaces {
		matches, err := namespacePattern(text)
		note("sourceNamespaces", i, err)
		if err == nil {
			p.namespaces = append(p.namespaces, matches)
		}
	}
	return append(errs, p.readIntegrity()...)
}

// PermitsNamespace is an error where an Application in a namespace may not use the project. The namespace of the
// installation always may.
func (p *Project) PermitsNamespace(app *v1alpha1.Application, installation string) error {
	if app.Namespace == "" || app.Namespace == installation {
		return nil
	}
	if slices.ContainsFunc(p.namespaces, func(matches func(string) bool) bool { return matches(app.Namespace) }) {
		return nil
	}
	return fmt.Errorf("application '%s' in namespace '%s' is not permitted to use project '%s'", app.Name, app.Namespace, p.Name)
}
