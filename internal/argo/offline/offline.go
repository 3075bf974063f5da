// Package offline reads the Applications of a repository without a cluster: where it begins, which Applications there are,
// those that ApplicationSets generate among them, what each of them renders to, and how that compares with a cluster.
//
// It renders with the code of the engine, from a working copy and from what is fetched. It refuses to write, and to ask a
// cluster for anything but the settings of an installation.
package offline

import (
	"context"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/feed"
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

// app is an Application, and what it renders to.
type app struct {
	id engine.UnitID
	// object is the Application as it is declared, spec the same in its type.
	object *unstructured.Unstructured
	spec   *v1alpha1.Application
	// parent declares it; zero for a root. set is the ApplicationSet that generates it, nil when none does.
	parent engine.UnitID
	set    *unstructured.Unstructured
	// wave is the one in the sync of the parent: that of the ApplicationSet if there is one.
	wave int
	// secret are texts in it that are not to be shown.
	secret []string
	// objects are what it declares, hooks among them. skipped is why it was not rendered, where that is no failure.
	objects []*unstructured.Unstructured
	skipped string
	// problems are what it asks for and does not get; err is why it cannot be rendered.
	problems []string
	err      error
}

// Walk goes from root objects down: through Applications to what they render to, and through ApplicationSets to what
// they generate. It is one dialect's part of a walk.
type Walk struct {
	repository *dialect.Repository
	renderer   *manifests.Renderer
	decrypt    *decrypt.Keys
	queue      []app
	known      map[engine.UnitID]bool
	sets       []dialect.Broken
	// names are the declarations that were found on the way, read the files of the working copy that any Application read.
	names, read map[string]bool
	// settings, tree and network are there when the first Application is.
	begun    bool
	projects map[string]*v1alpha1.AppProject
	settings settings.Settings
	given    bool
	tree     *source.Tree
	treeErr  error
	network  *Network
	spill    string
	// NoRemoteBases refuses kustomizations that refer to something outside their source.
	NoRemoteBases bool
	remotes       *feed.Feed
	bases         *bases.Store
}

// New begins a walk with the settings that the repository has.
func New(r *dialect.Repository) (*Walk, error) {
	remotes := feed.New()
	w := &Walk{
		remotes: remotes, bases: bases.New(remotes, ""), repository: r, renderer: manifests.New(),
		known: map[engine.UnitID]bool{}, names: map[string]bool{}, read: map[string]bool{}, projects: map[string]*v1alpha1.AppProject{},
	}
	if len(r.AgeKey) == 0 {
		return w, nil
	}
	var err error
	if w.decrypt, err = decrypt.NewKeys(map[string][]byte{"age.agekey": r.AgeKey}); err != nil {
		return nil, fmt.Errorf("--age-key-file: %w", err)
	}
	return w, nil
}

// With begins a walk with settings that are known.
func With(r *dialect.Repository, s settings.Settings) (*Walk, error) {
	w, err := New(r)
	if err == nil {
		w.settings, w.given = s, true
	}
	return w, err
}

// begin prepares what the first Application needs.
func (w *Walk) begin(ctx context.Context) {
	if w.begun {
		return
	}
	w.begun = true
	if w.repository.Dir != "" {
		if w.tree, w.treeErr = w.repository.Files.Tree(source.Selection{}); w.treeErr == nil {
			w.treeErr = w.findProjects()
		}
	}
	if !w.given {
		var err error
		if w.settings, err = FindSettings(w.repository.Dir); err != nil && w.repository.Warn != nil {
			w.repository.Warn("settings: " + err.Error())
		}
	}
	if !w.repository.Network {
		return
	}
	var err error
	if w.spill, err = os.MkdirTemp("", "headgate-"); err != nil {
		w.treeErr = fmt.Errorf("creating a directory for fetched content: %w", err)
		return
	}
	w.network = NewNetwork(ctx, w.settings, w.repository.Rewrites, w.spill)
}

// Close ends what is being fetched.
func (w *Walk) Close() {
	w.bases.Close()
	w.remotes.Wait()
	if w.network != nil {
		w.network.Close()
	}
	if w.spill != "" {
		_ = os.RemoveAll(w.spill)
	}
}

// Begin adds nothing.
func (*Walk) Begin() ([]*unstructured.Unstructured, error) { return nil, nil }

// Take enters the Applications among what a unit declares, and those that ApplicationSets among it generate.
func (w *Walk) Take(ctx context.Context, of *dialect.OfflineUnit) {
	if of.Unit.Target.Cluster != "" && !w.known[of.Unit.ID] {
		return
	}
	namespace := of.Namespace
	if of.Unit.ID == (engine.UnitID{}) {
		namespace = Namespace
	}
	for _, o := range of.Objects {
		w.take(ctx, o, of, namespace)
	}
}

// take enters an object, if it is one that leads to others. The namespace is where it is when it names none.
func (w *Walk) take(ctx context.Context, o *unstructured.Unstructured, of *dialect.OfflineUnit, namespace string) {
	w.takeProject(o)
	gvk := o.GroupVersionKind()
	if gvk.Group != Group || gvk.Kind != applicationKind && gvk.Kind != applicationSetKind {
		return
	}
	w.begin(ctx)
	w.names[gvk.Kind+"/"+o.GetName()] = true
	from := app{parent: of.Unit.ID, wave: operation.WaveOf(o.GetAnnotations())}
	if shown, there := of.Shown[engine.IDOf(o)]; there {
		from.secret = dialect.SecretTexts(o, shown)
	}
	o = o.DeepCopy()
	if o.GetNamespace() == "" {
		o.SetNamespace(namespace)
	}
	if gvk.Kind == applicationSetKind {
		w.generate(ctx, o, from)
		return
	}
	w.enter(o, from)
}

// enter puts an Application into the queue.
func (w *Walk) enter(o *unstructured.Unstructured, a app) {
	a.id, a.object = engine.UnitID{Group: Group, Kind: applicationKind, Namespace: o.GetNamespace(), Name: o.GetName()}, o
	if w.known[a.id] {
		// A root that declares itself; of others, the objects say that they are declared twice.
		return
	}
	w.known[a.id] = true
	w.names[applicationKind+"/"+o.GetName()] = true
	a.spec = &v1alpha1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, a.spec); err != nil {
		a.spec, a.err = nil, fmt.Errorf("reading: %w", err)
	}
	w.queue = append(w.queue, a)
}

// Turn is that of what may read anything, once it has been declared.
func (w *Walk) Turn() dialect.Turn {
	if len(w.queue) == 0 {
		return dialect.TurnOver
	}
	return dialect.TurnNow
}

// Next renders the first Application in the queue.
func (w *Walk) Next(ctx context.Context) dialect.OfflineUnit {
	a := w.queue[0]
	w.queue = w.queue[1:]
	if a.spec != nil {
		w.render(ctx, &a)
	}
	return w.unit(&a)
}

// sourcesOf are the sources of an Application.
func sourcesOf(app *v1alpha1.Application) []v1alpha1.ApplicationSource {
	if one := policy.SourceOf(app.Spec); one != nil && len(app.Spec.Sources) == 0 {
		return []v1alpha1.ApplicationSource{*one}
	}
	return app.Spec.Sources
}

var _ dialect.Walk = (*Walk)(nil)
