package flux

import (
	"context"
	"encoding/base64"
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// OfflineUnit is a unit as a repository declares it, with what it would apply.
type OfflineUnit struct {
	Unit    engine.Unit
	Objects []*unstructured.Unstructured
	// Err is why it cannot be rendered.
	Err error
}

// Offline renders a repository as the engine would, without a cluster: the root, the units that it
// declares with the patches that it lays on them, and so on down. ConfigMaps and Secrets that a
// unit reads are looked for among what was rendered before it.
func Offline(ctx context.Context, tree *source.Tree, root Root) ([]OfflineUnit, error) {
	w := &walk{tree: tree, renderer: render.New(), held: map[engine.ObjectID]*unstructured.Unstructured{}, done: map[engine.UnitID]bool{}}
	objects, err := rootObjects(root)
	if err != nil {
		return nil, err
	}
	w.take(objects)
	for len(w.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ks, rest := w.next()
		w.queue = rest
		w.visit(ctx, ks)
	}
	return w.units, nil
}

// walk goes down the units of a repository.
type walk struct {
	tree     *source.Tree
	renderer *render.Renderer
	held     map[engine.ObjectID]*unstructured.Unstructured
	queue    []*kustomizev1.Kustomization
	done     map[engine.UnitID]bool
	units    []OfflineUnit
}

// next takes a unit whose dependencies have been visited, or the first one when there is none.
func (w *walk) next() (*kustomizev1.Kustomization, []*kustomizev1.Kustomization) {
	for i, ks := range w.queue {
		ready := true
		for _, d := range (Policy{}).declare(ks).Dependencies {
			ready = ready && (d.Unit == (engine.UnitID{}) || w.done[d.Unit])
		}
		if ready {
			return ks, append(append([]*kustomizev1.Kustomization{}, w.queue[:i]...), w.queue[i+1:]...)
		}
	}
	return w.queue[0], w.queue[1:]
}

func (w *walk) visit(ctx context.Context, ks *kustomizev1.Kustomization) {
	unit := OfflineUnit{Unit: Policy{}.declare(ks)}
	w.done[unit.Unit.ID] = true
	unit.Objects, unit.Err = w.render(ctx, ks)
	w.take(unit.Objects)
	w.units = append(w.units, unit)
}

func (w *walk) render(ctx context.Context, ks *kustomizev1.Kustomization) ([]*unstructured.Unstructured, error) {
	inputs, err := Policy{}.inputsOf(ctx, ks, w)
	if err != nil {
		return nil, err
	}
	result, err := w.renderer.Build(ctx, w.tree, inputs.Options)
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, 0, len(result.Objects))
	for _, o := range result.Objects {
		if RootIDs()[engine.IDOf(o)] {
			continue
		}
		o = o.DeepCopy()
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		for k, v := range inputs.Labels {
			labels[k] = v
		}
		o.SetLabels(labels)
		objects = append(objects, o)
	}
	return engine.Sort(objects), nil
}

// take enters what was rendered, and the units among it.
func (w *walk) take(objects []*unstructured.Unstructured) {
	for _, o := range objects {
		w.held[engine.IDOf(o)] = o
		if o.GroupVersionKind().GroupKind() != kustomizationKind {
			continue
		}
		ks := &kustomizev1.Kustomization{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, ks); err != nil {
			w.units = append(w.units, OfflineUnit{
				Unit: engine.Unit{ID: unitID(o.GetNamespace(), o.GetName())}, Err: fmt.Errorf("reading it: %w", err),
			})
			continue
		}
		if !w.done[unitID(ks.Namespace, ks.Name)] {
			w.queue = append(w.queue, ks)
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

// Secret reads one that was rendered.
func (w *walk) Secret(_ context.Context, namespace, name string) (map[string][]byte, error) {
	o, ok := w.held[engine.ObjectID{Kind: "Secret", Namespace: namespace, Name: name}]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
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
