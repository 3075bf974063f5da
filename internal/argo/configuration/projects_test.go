package configuration

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// TestDefaultProject takes the default project through its life: an Application that names none may use what there is.
func TestDefaultProject(t *testing.T) {
	p := NewProjects()
	now := settings.Defaults()
	app := &v1alpha1.Application{}
	expect := func(reason, want string) {
		t.Helper()
		p.Reread(now)
		for _, project := range []*policy.Project{p.Get(""), p.By(now, "")} {
			err := policy.Uses(app, project, "argocd")
			if err == nil {
				err = project.PermitsSource("https://git.example/repo")
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", reason, err, want)
			}
		}
	}
	expect("it is not known whether it was ever there", "Application referencing project default which does not exist")
	p.Imply()
	expect("none was ever there", "")
	p.Put(Permissive())
	expect("it is there", "")
	p.Refuse(DefaultProject, errors.New("spec is no map"))
	expect("it is there and cannot be read", "project default cannot be read, and permits nothing: spec is no map")
	p.Put(Permissive())
	expect("it can be read again", "")
	p.Drop(DefaultProject)
	expect("it was deleted", "Application referencing project default which does not exist")
	if p.Implied() || p.Has(DefaultProject) {
		t.Error("a deleted project is there, or implied")
	}
}

// TestCompleted has a default project come with one setting: where one was implied, it keeps what that permits, unless it says something else.
func TestCompleted(t *testing.T) {
	const address = "https://git.example/repo"
	partial := &v1alpha1.AppProject{}
	partial.Name = DefaultProject
	partial.Spec.OrphanedResources = &v1alpha1.OrphanedResourcesMonitorSettings{}
	strict := partial.DeepCopy()
	strict.Spec.SourceRepos = []string{}
	for name, tc := range map[string]struct {
		reason             string
		implied, completes bool
		comes              *v1alpha1.AppProject
		deleted            bool
		permits, pending   bool
	}{
		"implied":  {"it completes the one that was implied", true, false, partial, false, true, true},
		"says":     {"what it says counts", true, false, strict, false, false, true},
		"required": {"nothing was implied", false, false, partial, false, false, false},
		"resumed":  {"a process ended before it was completed", false, true, partial, false, true, true},
		"deleted":  {"one that was deleted meanwhile is not completed when it comes back", true, false, partial, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewProjects()
			if tc.implied {
				p.Imply()
			}
			p.Put(tc.comes)
			if tc.completes {
				p.Complete()
			}
			if tc.deleted {
				p.Drop(DefaultProject)
				p.Put(tc.comes)
			}
			p.Reread(settings.Defaults())
			for _, project := range []*policy.Project{p.Get(""), p.By(settings.Defaults(), "")} {
				if err := project.PermitsSource(address); (err == nil) != tc.permits {
					t.Errorf("%s: it says %v, permits: %t", tc.reason, err, tc.permits)
				}
			}
			if pending := p.Incomplete() != nil; pending != tc.pending {
				t.Errorf("%s: incomplete %t, want %t", tc.reason, pending, tc.pending)
			}
			p.Completed()
			if p.Incomplete() != nil {
				t.Errorf("%s: it is incomplete when it was completed", tc.reason)
			}
		})
	}
}

// TestFound has a project that was read count, unless another change came while it was read.
func TestFound(t *testing.T) {
	p := NewProjects()
	project := Permissive()
	project.Name = "shop"
	before := p.Changes()
	p.Put(project)
	p.Drop("shop")
	if p.Found(project, before) || p.Has("shop") {
		t.Error("a project is there that was deleted while it was read")
	}
	if !p.Found(project, p.Changes()) || !p.Has("shop") {
		t.Error("a project that was read is not there")
	}
}
