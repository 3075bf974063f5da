// Package walk renders a repository of Flux as the engine would, without a cluster, and finds what such a repository begins with.
//
// It writes nothing.
package walk

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
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/takeover"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// walk goes down the units of a repository.
type walk struct {
	access.Reach

	repository *dialect.Repository
	// artifact is the directory of the working copy that units read by an OCIRepository of the name of the root, if any do.
	artifact func() (string, bool)
	trees    map[engine.SourceID]*source.Tree
	// generating are the generators whose trees are being made.
	generating map[engine.ObjectID]bool
	renderer   *render.Renderer
	remotes    *feed.Feed
	bases      *bases.Store
	held       map[engine.ObjectID]*unstructured.Unstructured
	queue      []declaration
	done       map[engine.UnitID]bool
	indexes    map[engine.SourceID]*source.Index
	// unread is set when a unit was not rendered, elsewhere when its source cannot be read here: it may declare anything.
	unread, elsewhere bool
	// now is the policy in effect, twins the objects as they would be with marks instead of secret values.
	now   policies.Policy
	twins map[engine.ObjectID]*unstructured.Unstructured
}

// declaration is a unit in the queue: ks, hr or rs is set, unless err is.
type declaration struct {
	Declaration
	// object declares it, parent is the unit that declares that.
	object *unstructured.Unstructured
	parent engine.UnitID
	err    error
	ks     *kustomizev1.Kustomization
	hr     *helmv2.HelmRelease
	rs     *fluxcdv1.ResourceSet
}

// next is the place in the queue of a unit whose dependencies have been visited, or of the first one when there is none; -1 when
// the queue is empty. Releases come late, since anything else may declare what they read, and last what reads something that
// nothing has declared yet.
func (w *walk) next() (at, rank int) {
	best, bestRank := -1, -1
	for i, d := range w.queue {
		rank := 0
		switch {
		case d.err != nil:
			rank += 6
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
	return best, bestRank
}

// visit renders a unit.
func (w *walk) visit(ctx context.Context, d declaration) dialect.OfflineUnit {
	unit := dialect.OfflineUnit{
		Unit: d.Unit, Object: d.object, Parent: d.parent, Chart: dialect.Origin{Source: d.Chart.Source}, Compare: comparison{d.Unit.ID},
		Written: d.ks != nil,
	}
	if d.Chart.Source.Kind != "" {
		unit.Chart.Text = d.Chart.String()
	}
	if d.hr != nil && d.hr.GetInstall().CreateNamespace {
		unit.Namespaces = []string{d.hr.GetReleaseNamespace()}
	}
	switch {
	case d.err != nil:
		unit.Err = d.err
	case d.Unit.Invalid.Message != "":
		unit.Err = errors.New(d.Unit.Invalid.Message)
	case d.ks != nil:
		unit.Err = w.render(ctx, d, &unit)
	case d.rs != nil:
		unit.Objects, unit.Err = w.renderSet(ctx, d.rs)
	case takeover.ReplacedChart(d.hr, w.origin) != "":
	case w.repository.Fetch != nil && w.repository.Fetch(d.Unit.ID):
		w.release(ctx, d.hr, &unit)
	default:
		unit.Skipped = true
	}
	if isElsewhere(unit.Err) {
		unit.Elsewhere, unit.Err = unit.Err.Error(), nil
	}
	unit.Advice = advice(unit.Err)
	for _, o := range unit.Objects {
		if LeftAlone(o) {
			handle(&unit, o, dialect.Handling{Never: true})
		}
	}
	return unit
}

// handle notes what happens to an object of a unit.
func handle(unit *dialect.OfflineUnit, o *unstructured.Unstructured, how dialect.Handling) {
	if unit.Handled == nil {
		unit.Handled = map[*unstructured.Unstructured]dialect.Handling{}
	}
	unit.Handled[o] = how
}

func (w *walk) render(ctx context.Context, d declaration, unit *dialect.OfflineUnit) error {
	ks := d.ks
	tree, err := w.sourceTree(ctx, kustomize.SourceOf(ks))
	if err != nil {
		return err
	}
	if err := w.undeclaredRead(d); err != nil {
		return err
	}
	policy := w.policy()
	if stands := policy.Content; stands != nil {
		policy.Content = &policies.StandInContent{LeaveOut: stands.LeaveOut, Marks: func(id engine.UnitID) func(string) string {
			return func(key string) string {
				unit.Sealed = true
				return stands.Marks(id)(key)
			}
		}}
	}
	inputs, err := kustomize.InputsOf(ctx, policy, ks, w)
	if err != nil {
		return err
	}
	result, err := w.build(ctx, ks, tree, inputs.Options)
	if err != nil {
		return err
	}
	unit.Reads = result.Reads.Paths()
	objects := w.finished(result.Objects, inputs.Labels)
	if w.repository.Masks {
		unit.Shown = w.mask(ctx, ks, tree, inputs, objects)
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return w.rooted(engine.IDOf(o)) || w.repository.Replaced.Why(o) != ""
	})
	unit.Objects = engine.Sort(objects)
	return nil
}

// build renders a Kustomization, with what it names elsewhere.
func (w *walk) build(ctx context.Context, ks *kustomizev1.Kustomization, tree *source.Tree, o render.Options) (result *render.Result, err error) {
	remotes := w.bases.Reader(bases.Unit{
		Owner: toolkit.KustomizationID(ks.Namespace, ks.Name).String(), Share: ks.Namespace, Reach: bases.Anonymous{Rules: &w.Reach},
	})
	o.Elsewhere = render.NewElsewhere(remotes, false)
	said := map[string]bool{}
	o.Stray = func(field *render.Error) {
		if text := field.Error(); w.repository.Warn != nil && !said[text] {
			said[text] = true
			w.repository.Warn(text + "; it is ignored")
		}
	}
	err = o.Elsewhere.Complete(ctx, func() (err error) {
		result, err = w.renderer.Build(ctx, tree, o)
		return err
	})
	return result, err
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

func (w *walk) policy() policies.Policy {
	policy := w.now
	if !w.repository.Marks {
		return policy
	}
	mark := func(key string) string { return dialect.Mark + key }
	policy.Content = &policies.StandInContent{
		LeaveOut: func(engine.UnitID) func(string, string) { return func(string, string) {} },
		Marks:    func(engine.UnitID) func(string) string { return mark },
	}
	return policy
}

// ask takes what a FluxInstance asks for, as the engine does.
func (w *walk) ask(o *unstructured.Unstructured) {
	if o.GetKind() != fluxcdv1.FluxInstanceKind || o.GroupVersionKind().Group != fluxcdv1.GroupVersion.Group || o.GetNamespace() != toolkit.Namespace {
		return
	}
	if instance, err := declared.Read[fluxcdv1.FluxInstance](o); err == nil {
		w.now = w.now.With(takeover.WishesOf(instance.Spec).Policy)
	}
}

// take enters what was rendered, and the units among it.
func (w *walk) take(o *unstructured.Unstructured, parent engine.UnitID) {
	w.held[engine.IDOf(o)] = o
	w.ask(o)
	if !IsUnit(o) {
		return
	}
	d, err := declareAny(w.policy(), o)
	d.object, d.parent, d.err = o, parent, err
	if w.done[d.Unit.ID] || slices.ContainsFunc(w.queue, func(other declaration) bool { return other.Unit.ID == d.Unit.ID }) {
		return
	}
	w.queue = append(w.queue, d)
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
