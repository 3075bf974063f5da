package inspect

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// workloads continues with the workloads of a unit, and the units among its objects, unless its dialect names its objects itself.
func (w *explainer) workloads(ctx context.Context, u *unstructured.Unstructured, depth int) {
	if _, names := w.Of(console.GroupKindOf(u)).(dialect.Causing); names || w.narrow {
		return
	}
	s := w.Catalogue.StateOf(u)
	if aboutFiles(s) {
		// What it applied before is not why.
		return
	}
	ids := s.Inventory
	if waits(s) {
		// Some of what it waits for others hold.
		ids = appendNew(slices.Clone(ids), namedIn(s.Message)...)
	}
	before := w.dependsOn(u)
	ids = slices.DeleteFunc(slices.Clone(ids), func(id engine.ObjectID) bool { return slices.Contains(before, id) })
	told := 0
	for _, id := range ids {
		if told == maxCauses {
			w.print(depth, "and more: headgate tree %s", console.IdOf(u))
			return
		}
		if w.Catalogue.IsUnit(id) {
			if waits(s) && w.part(ctx, u, id, depth) {
				told++
			}
			continue
		}
		if f, ill := w.find(ctx, u, id, depth); ill {
			told++
			w.tell(ctx, f, depth)
		}
	}
}

// waits reports whether a unit is not ready because of what it waits for. One that failed on its own does not wait: what is below it follows from that.
func waits(s dialect.State) bool {
	switch engine.Reason(s.Reason) {
	case engine.ReasonProgressing, engine.ReasonHealthCheckFailed, engine.ReasonDependencyNotReady:
		return true
	}
	return false
}

// part explains a unit that another one has among its objects, and reports whether it is a cause: it may be ready.
func (w *explainer) part(ctx context.Context, u *unstructured.Unstructured, id engine.ObjectID, depth int) bool {
	ref, err := w.ReferenceTo(engine.UnitOf(id))
	if err != nil || w.seen[ref.String()] || w.clusters.Of(u) != w.clusters.Home() {
		return false
	}
	return w.cause(ctx, dialect.Cause{Unit: engine.UnitOf(id)}, depth)
}

// dependsOn are the objects, other than units, that are to be ready before a unit begins.
func (w *explainer) dependsOn(u *unstructured.Unstructured) []engine.ObjectID {
	d, err := w.DeclaredBy(u)
	if err != nil || !w.Catalogue.IsUnit(engine.IDOf(u)) {
		// That it cannot be read has been said.
		return nil
	}
	var ids []engine.ObjectID
	for _, dependency := range d.Unit.Dependencies {
		if dependency.Unit == (engine.UnitID{}) && !dependency.Exists {
			ids = append(ids, dependency.Object)
		}
	}
	return ids
}

// dependencies continues with the objects that a unit depends on.
func (w *explainer) dependencies(ctx context.Context, u *unstructured.Unstructured, depth int) {
	for _, id := range w.dependsOn(u) {
		f, ill := w.find(ctx, u, id, depth)
		if !ill {
			continue
		}
		w.tell(ctx, f, depth)
		if f.Missing {
			w.blame(ctx, f.ID, depth+1)
		}
	}
}

// blame explains the units that say why an object does not exist.
func (w *explainer) blame(ctx context.Context, id engine.ObjectID, depth int) {
	units, err := w.ListUnits(ctx, w.client)
	if err != nil {
		w.print(depth, "✗ %v", err)
		return
	}
	for _, unit := range w.mentioning(units, console.Sought{Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}).units {
		if _, err := w.explain(ctx, unit, depth); err != nil {
			w.print(depth, "✗ %v", err)
		}
	}
}

// one is workloads for one object; it reports whether something is wrong with it.
func (w *explainer) one(ctx context.Context, u *unstructured.Unstructured, id engine.ObjectID) bool {
	f, ill := w.find(ctx, u, id, 0)
	if ill {
		w.tell(ctx, f, 0)
	}
	return ill
}

// beneath is what is below an object of a unit of which something was said already.
func (w *explainer) beneath(ctx context.Context, u *unstructured.Unstructured, id engine.ObjectID, depth int) {
	if id == (engine.ObjectID{}) {
		return
	}
	f, ill := w.find(ctx, u, id, depth)
	if !ill {
		return
	}
	if len(f.Below) == 0 && f.Text != "" && !f.Missing {
		w.print(depth, "%s", console.OneLine(f.Text))
	}
	for _, next := range f.Below {
		w.tell(ctx, next, depth)
	}
}

func (w *explainer) find(ctx context.Context, u *unstructured.Unstructured, id engine.ObjectID, depth int) (below.Finding, bool) {
	reader, err := w.reader(w.clusters.Of(u))
	if reader == nil || err != nil {
		// That a cluster cannot be reached is said where its units are explained.
		return below.Finding{}, false
	}
	f, ill, err := reader.Of(ctx, id)
	if err != nil {
		w.print(depth, "✗ %v", err)
	}
	return f, ill
}

// reader reads a cluster.
func (w *explainer) reader(cluster string) (*below.Reader, error) {
	if known, read := w.below[cluster]; read {
		return known, nil
	}
	client, err := w.clientOf(cluster)
	if err != nil {
		w.below[cluster] = nil
		return nil, err
	}
	w.below[cluster] = below.New(client)
	return w.below[cluster], nil
}

func (w *explainer) clientOf(cluster string) (dynamic.Interface, error) {
	if cluster == w.clusters.Home() {
		return w.client, nil
	}
	chosen, err := w.clusters.Choose(cluster)
	if err != nil {
		return nil, err
	}
	config, err := w.clusters.Config(chosen[0])
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of cluster %s: %w", cluster, err)
	}
	return client, nil
}

// tell prints a finding, and those below it.
func (w *explainer) tell(ctx context.Context, f below.Finding, depth int) {
	w.print(depth, "✗ %s%s: %s", f.ID, w.written(ctx, f.ID), console.OneLine(f.Text))
	for _, next := range f.Below {
		w.tell(ctx, next, depth+1)
	}
	if f.More > 0 {
		w.print(depth+1, "and %d more", f.More)
	}
}
