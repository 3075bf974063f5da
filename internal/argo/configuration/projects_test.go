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
