package offline

import (
	"bytes"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
)

const projectKind = "AppProject"

// findProjects reads the AppProjects in the files of the repository. What templates make, and what other repositories
// hold, is not among them; what Applications render to is added on the way.
func (w *Walk) findProjects() error {
	return eachFile(w.repository.Dir, func(_ string, data []byte) {
		if !bytes.Contains(data, []byte(projectKind)) {
			return
		}
		for _, o := range Documents(data) {
			w.takeProject(o)
		}
	})
}

func (w *Walk) takeProject(o *unstructured.Unstructured) {
	project := &v1alpha1.AppProject{}
	if gvk := o.GroupVersionKind(); gvk.Group != Group || gvk.Kind != projectKind ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, project) != nil {
		return
	}
	if project.Name == policy.DefaultProject {
		// Where it comes to be there, it completes the one that is implied.
		project = policy.Completed(project)
	}
	w.projects[project.Name] = project
}

// project is that of an Application, nil where the repository does not declare it: what it permits is unknown then.
func (w *Walk) project(app *v1alpha1.Application) *policy.Project {
	name := app.Spec.Project
	if name == "" {
		name = "default"
	}
	declared := w.projects[name]
	if declared == nil {
		return nil
	}
	// What cannot be read is reported by the engine, and permits nothing.
	project, _ := policy.Effective(declared, w.settings.GlobalProjects, func(name string) *v1alpha1.AppProject { return w.projects[name] })
	return project
}

// permission is what the project of an Application says of repositories.
func (w *Walk) permission(app *v1alpha1.Application) feeds.Permission {
	if project := w.project(app); project != nil {
		return project
	}
	return unknownProject{}
}

// unknownProject is one that the repository does not declare. The logins are those of the repository itself.
type unknownProject struct{}

// PermitsSource permits every repository.
func (unknownProject) PermitsSource(string) error { return nil }
