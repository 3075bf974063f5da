package flux

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// OfflineOptions say how far a repository is rendered, and for what cluster.
type OfflineOptions struct {
	// Policy is what holds for every unit, beside what FluxInstances in the repository ask for.
	Policy Policy
	// Masks has Shown be filled in for what holds values of Secrets.
	Masks bool
	// Releases selects the HelmReleases whose charts are fetched and rendered; nil selects none.
	Releases func(engine.UnitID) bool
	// Rewrites send fetches of charts elsewhere.
	Rewrites source.Rewrites
	// Ours tells which URLs of GitRepositories are that of the repository itself, beside the root's; Branch is the one
	// that it shows them, empty for any.
	Ours   func(url string) bool
	Branch string
	// KubeVersion is what charts see, and APIVersions the kinds beside those of CRDs in the repository.
	KubeVersion string
	APIVersions []string
	// Installed tells which releases the cluster has: they are rendered as for an upgrade.
	Installed func(engine.UnitID) bool
	// Generation is that of a HelmChart that the cluster has, and 0 of another one: the version of a chart
	// with values of its own shows it.
	Generation func(engine.SourceID) int64
	// Replaced are the objects that are left as they are where a cluster is served.
	Replaced dialect.Replaced
	// Marks replaces values that cannot be decrypted by stand-ins, and leaves out what kustomizations
	// read from elsewhere.
	Marks bool
	// ClusterWide reports that a kind has no namespaces, if it knows the kind.
	ClusterWide func(schema.GroupVersionKind) (is, known bool)
}

// Mark is how stand-ins of values begin that cannot be decrypted.
const Mark = "encrypted-"

// OfflineUnit is a unit as a repository declares it, with what it would apply.
type OfflineUnit struct {
	Declaration
	// Rendered is set unless it is a release whose chart was not requested, or its source is elsewhere.
	Rendered bool
	// Elsewhere says, in one line, which source cannot be read without a cluster; empty when none is missing.
	Elsewhere string
	Objects   []*unstructured.Unstructured
	// Shown are those of the objects, and of the hooks, that hold values of Secrets without being any, with "**" in the
	// place of these.
	Shown map[engine.ObjectID]*unstructured.Unstructured
	// Hooks are those of a release: they come and go, and are no objects of it.
	Hooks []helm.Hook
	// Namespaces are those that it makes beside its objects.
	Namespaces []string
	// Kept are the objects that are left as they are once they exist.
	Kept map[engine.ObjectID]bool
	// Err is why it cannot be rendered.
	Err error
}

// Offline renders a repository as the engine would, without a cluster: the root, the units that it
// declares with the patches that it applies to them, and so on; then the requested releases.
// ConfigMaps and Secrets that a unit reads are taken from what was rendered before it.
func Offline(ctx context.Context, files source.Directory, root Root, o OfflineOptions) ([]OfflineUnit, error) {
	w := &walk{
		options: o, files: files, trees: map[engine.SourceID]*source.Tree{}, generating: map[engine.ObjectID]bool{}, renderer: render.New(), held: map[engine.ObjectID]*unstructured.Unstructured{},
		done: map[engine.UnitID]bool{}, indexes: map[engine.SourceID]*source.Index{}, twins: map[engine.ObjectID]*unstructured.Unstructured{},
	}
	w.now = o.Policy
	w.reach = reach{rules: func() source.Rewrites { return w.rewriting(ctx) }, held: w.Secret, account: noAccount}
	objects, err := RootObjects(root)
	if err != nil {
		return nil, err
	}
	w.take(objects)
	for len(w.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.visit(ctx, w.next())
	}
	return w.units, nil
}

// walk goes down the units of a repository.
type walk struct {
	reach

	options OfflineOptions
	files   source.Directory
	trees   map[engine.SourceID]*source.Tree
	// generating are the generators whose trees are being made.
	generating map[engine.ObjectID]bool
	renderer   *render.Renderer
	held       map[engine.ObjectID]*unstructured.Unstructured
	queue      []declaration
	done       map[engine.UnitID]bool
	indexes    map[engine.SourceID]*source.Index
	units      []OfflineUnit
	// now is the policy in effect, twins the objects as they would be with marks instead of secret values.
	now   Policy
	twins map[engine.ObjectID]*unstructured.Unstructured
}

// declaration is a unit in the queue: ks, hr or rs is set.
type declaration struct {
	Declaration
	ks *kustomizev1.Kustomization
	hr *helmv2.HelmRelease
	rs *fluxcdv1.ResourceSet
}

// next takes a unit whose dependencies have been visited, or the first one when there is none. Releases
// come late, since anything else may declare what they read, and last what reads something that nothing has declared yet.
func (w *walk) next() declaration {
	best, bestRank := 0, -1
	for i, d := range w.queue {
		rank := 0
		switch {
		case d.ks != nil && w.waiting(d):
		case d.ks != nil:
			rank += 6
		case d.rs != nil:
			// Anything may declare what provides inputs.
			rank += 4
		default:
			rank += 2
		}
		if !slices.ContainsFunc(d.Unit.Dependencies, func(on engine.Dependency) bool {
			return on.Unit != (engine.UnitID{}) && !w.done[on.Unit]
		}) {
			rank++
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	d := w.queue[best]
	w.queue = slices.Delete(w.queue, best, best+1)
	return d
}

func (w *walk) visit(ctx context.Context, d declaration) {
	if w.done[d.Unit.ID] {
		return
	}
	w.done[d.Unit.ID] = true
	unit := OfflineUnit{Declaration: d.Declaration}
	if d.hr != nil && d.hr.GetInstall().CreateNamespace {
		unit.Namespaces = []string{d.hr.GetReleaseNamespace()}
	}
	switch {
	case d.Unit.Invalid.Message != "":
		unit.Rendered, unit.Err = true, errors.New(d.Unit.Invalid.Message)
	case d.ks != nil:
		unit.Rendered = true
		unit.Objects, unit.Shown, unit.Err = w.render(ctx, d)
	case d.rs != nil:
		unit.Rendered = true
		unit.Objects, unit.Err = w.renderSet(ctx, d.rs)
	case replacedChart(d.hr, w.origin) != "":
		unit.Rendered = true
	case w.options.Releases != nil && w.options.Releases(d.Unit.ID):
		w.release(ctx, d.hr, &unit)
	}
	if isElsewhere(unit.Err) {
		unit.Elsewhere, unit.Rendered, unit.Err = unit.Err.Error(), false, nil
	}
	w.take(unit.Objects)
	w.units = append(w.units, unit)
}

func (w *walk) render(ctx context.Context, d declaration) ([]*unstructured.Unstructured, map[engine.ObjectID]*unstructured.Unstructured, error) {
	ks := d.ks
	tree, err := w.sourceTree(ctx, sourceOf(ks))
	if err != nil {
		return nil, nil, err
	}
	if err := w.unread(d); err != nil {
		return nil, nil, err
	}
	inputs, err := w.policy().inputsOf(ctx, ks, w)
	if err != nil {
		return nil, nil, err
	}
	result, err := w.renderer.Build(ctx, tree, inputs.Options)
	if err != nil {
		return nil, nil, err
	}
	objects := w.finished(result.Objects, inputs.Labels)
	var shown map[engine.ObjectID]*unstructured.Unstructured
	if w.options.Masks {
		shown = w.mask(ctx, ks, tree, inputs, objects)
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return RootIDs()[engine.IDOf(o)] || w.options.Replaced.Why(o) != ""
	})
	return engine.Sort(objects), shown, nil
}

// finished are rendered objects with the labels of their unit.
func (w *walk) finished(rendered []*unstructured.Unstructured, add map[string]string) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, 0, len(rendered))
	for _, o := range rendered {
		o = o.DeepCopy()
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, add)
		o.SetLabels(labels)
		objects = append(objects, o)
	}
	return objects
}

func (w *walk) policy() Policy {
	policy := w.now
	if !w.options.Marks {
		return policy
	}
	mark := func(key string) string { return Mark + key }
	policy.content = &standInContent{
		leaveOut: func(engine.UnitID) func(string, string) { return func(string, string) {} },
		marks:    func(engine.UnitID) func(string) string { return mark },
	}
	return policy
}

// ask takes what a FluxInstance asks for, as the engine does.
func (w *walk) ask(o *unstructured.Unstructured) {
	if o.GetKind() != fluxcdv1.FluxInstanceKind || o.GroupVersionKind().Group != fluxcdv1.GroupVersion.Group || o.GetNamespace() != Namespace {
		return
	}
	if instance, err := declared.Read[fluxcdv1.FluxInstance](o); err == nil {
		w.now = w.now.with(wishesOf(instance.Spec).policy)
	}
}

// take enters what was rendered, and the units among it.
func (w *walk) take(objects []*unstructured.Unstructured) {
	for _, o := range objects {
		w.held[engine.IDOf(o)] = o
		w.ask(o)
		if !IsUnit(o) {
			continue
		}
		d, err := w.policy().declareAny(o)
		if err != nil {
			w.units = append(w.units, OfflineUnit{Declaration: d.Declaration, Rendered: true, Err: err})
			continue
		}
		if !w.done[d.Unit.ID] {
			w.queue = append(w.queue, d)
		}
	}
}

// ConfigMap reads one that was rendered.
func (w *walk) ConfigMap(_ context.Context, namespace, name string) (map[string]string, error) {
	o, ok := w.held[engine.ObjectID{Kind: "ConfigMap", Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	return data, err
}

// MissingSecretError is that of a Secret which nothing in a repository declares.
type MissingSecretError struct{ Namespace, Name string }

// Error is that of a cluster.
func (e *MissingSecretError) Error() string { return e.Unwrap().Error() }

// Unwrap tells it from other failures.
func (e *MissingSecretError) Unwrap() error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, e.Name)
}

// Secret reads one that was rendered.
func (w *walk) Secret(_ context.Context, namespace, name string) (map[string][]byte, error) {
	o, ok := w.held[engine.ObjectID{Kind: "Secret", Namespace: namespace, Name: name}]
	if !ok {
		return nil, &MissingSecretError{namespace, name}
	}
	out := map[string][]byte{}
	encoded, _, _ := unstructured.NestedStringMap(o.Object, "data")
	for k, v := range encoded {
		raw, err := base64.StdEncoding.DecodeString(v)
		if err != nil {
			return nil, fmt.Errorf("data[%q] is not base64", k)
		}
		out[k] = raw
	}
	texts, _, _ := unstructured.NestedStringMap(o.Object, "stringData")
	for k, v := range texts {
		out[k] = []byte(v)
	}
	return out, nil
}
