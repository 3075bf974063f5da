// Package offline reads a repository of Argo CD without a cluster: where it begins, which Applications there are, those
// that ApplicationSets generate among them, and what each of them renders to.
//
// It renders with the code of the engine, from a working copy and from what its caller fetches. It refuses to write, to
// ask a cluster, and to judge what it finds.
package offline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/source"
)

// Group is the API group of Argo CD, and Namespace that of an installation that names none.
const (
	Group     = "argoproj.io"
	Namespace = "argocd"
)

// The kinds that are gone into.
const (
	applicationKind    = "Application"
	applicationSetKind = "ApplicationSet"
)

// ErrNotFetched is that a source is not in the working copy, and that fetching it was not requested.
var ErrNotFetched = errors.New("not in the repository, and not fetched")

// Elsewhere gets what the working copy does not have.
type Elsewhere interface {
	// Source fetches a source for an AppProject.
	Source(ctx context.Context, spec v1alpha1.ApplicationSource, project string) (manifests.Source, error)
	// Charts fetches charts that sources name.
	Charts(project string) manifests.Charts
}

// Options say what is read, and how.
type Options struct {
	// Tree is the working copy, and Ours tells which URLs of repositories are its own.
	Tree *source.Tree
	Ours func(url string) bool
	// Settings are those of the installation.
	Settings settings.Settings
	// Elsewhere fetches for the Applications that Fetch names; neither fetches nothing.
	Elsewhere Elsewhere
	Fetch     func(engine.UnitID) bool
	// Alone leaves out what the roots lead to.
	Alone bool
	// KubeVersion and APIVersions are what charts see of the cluster.
	KubeVersion string
	APIVersions []string
	// Decrypt are keys for Applications that ask for decryption.
	Decrypt *decrypt.Keys
}

// App is an Application, and what it renders to.
type App struct {
	ID engine.UnitID
	// Object is the Application as it is declared, Spec the same in its type.
	Object *unstructured.Unstructured
	Spec   *v1alpha1.Application
	// Parent declares it; zero for a root. Set is the ApplicationSet that generates it, empty when none does.
	Parent engine.UnitID
	Set    string
	// Wave is the one in the sync of the parent: that of the ApplicationSet if there is one.
	Wave int
	// Objects are what it declares, hooks among them. Skipped is why it was not rendered, where that is no failure.
	Objects []*unstructured.Unstructured
	Skipped string
	// Problems are what it asks for and does not get; Err is why it cannot be rendered.
	Problems []string
	Err      error
}

// Set is an ApplicationSet, and what is wrong with it.
type Set struct {
	ID       engine.ObjectID
	Problems []string
	Err      error
}

// Repository is what there is in a repository, from its root on, parents before their children.
type Repository struct {
	Apps []App
	Sets []Set
	// read are the files of the working copy that any Application read.
	read map[string]bool
}

// Find returns an Application by its identity.
func (r *Repository) Find(id engine.UnitID) (*App, bool) {
	for i := range r.Apps {
		if r.Apps[i].ID == id {
			return &r.Apps[i], true
		}
	}
	return nil, false
}

// Unread are the declarations, by their place in a working copy, that nothing leads to: they were not found on the way, and
// no Application read their file.
func (r *Repository) Unread(found []Declaration) []Declaration {
	known := map[string]bool{}
	for _, a := range r.Apps {
		known[a.ID.Kind+"/"+a.ID.Name] = true
	}
	for _, s := range r.Sets {
		known[s.ID.Kind+"/"+s.ID.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(found), func(d Declaration) bool {
		return r.read[d.File] || known[d.Object.GetKind()+"/"+d.Object.GetName()]
	})
}

// Walk goes from root objects down: through Applications to what they render to, and through ApplicationSets to what
// they generate. What fails is part of what it returns; the error is that of ctx.
func Walk(ctx context.Context, roots []*unstructured.Unstructured, o Options) (*Repository, error) {
	w := &walk{options: o, renderer: manifests.New(), out: &Repository{read: map[string]bool{}}, known: map[engine.UnitID]bool{}}
	for _, root := range roots {
		w.take(ctx, root, App{}, Namespace)
	}
	for len(w.queue) > 0 && ctx.Err() == nil {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.visit(ctx, next)
	}
	return w.out, ctx.Err()
}

// walk is one pass over a repository.
type walk struct {
	options  Options
	renderer *manifests.Renderer
	out      *Repository
	queue    []App
	known    map[engine.UnitID]bool
}

// take enters an object, if it is one that leads to others. The namespace is where it is when it names none.
func (w *walk) take(ctx context.Context, o *unstructured.Unstructured, parent App, namespace string) {
	gvk := o.GroupVersionKind()
	if gvk.Group != Group || gvk.Kind != applicationKind && gvk.Kind != applicationSetKind {
		return
	}
	o = o.DeepCopy()
	if o.GetNamespace() == "" {
		o.SetNamespace(namespace)
	}
	from := App{Parent: parent.ID, Wave: operation.WaveOf(o.GetAnnotations())}
	if gvk.Kind == applicationSetKind {
		w.generate(ctx, o, from)
		return
	}
	w.enter(o, from)
}

// enter puts an Application into the queue.
func (w *walk) enter(o *unstructured.Unstructured, a App) {
	a.ID, a.Object = engine.UnitID{Group: Group, Kind: applicationKind, Namespace: o.GetNamespace(), Name: o.GetName()}, o
	if w.known[a.ID] {
		// A root that declares itself; of others, the objects say that they are declared twice.
		return
	}
	w.known[a.ID] = true
	a.Spec = &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, a.Spec); err != nil {
		a.Err = fmt.Errorf("reading: %w", err)
		w.out.Apps = append(w.out.Apps, a)
		return
	}
	w.queue = append(w.queue, a)
}

// visit renders an Application, and enters what it declares.
func (w *walk) visit(ctx context.Context, a App) {
	w.render(ctx, &a)
	w.out.Apps = append(w.out.Apps, a)
	if w.options.Alone {
		return
	}
	for _, o := range a.Objects {
		w.take(ctx, o, a, a.Spec.Spec.Destination.Namespace)
	}
}

// sourcesOf are the sources of an Application.
func sourcesOf(app *v1alpha1.Application) []v1alpha1.ApplicationSource {
	if one := policy.SourceOf(app.Spec); one != nil && len(app.Spec.Sources) == 0 {
		return []v1alpha1.ApplicationSource{*one}
	}
	return app.Spec.Sources
}
