package inspect

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
)

// workloads continues with the workloads of a unit, unless its dialect names its objects itself.
func (w *explainer) workloads(ctx context.Context, u *unstructured.Unstructured, depth int) {
	if _, names := w.Of(console.GroupKindOf(u)).(dialect.Causing); names || w.narrow {
		return
	}
	told := 0
	for _, id := range w.Catalogue.StateOf(u).Inventory {
		f, ill := w.find(ctx, u, id, depth)
		if !ill {
			continue
		}
		if told++; told > maxCauses {
			w.print(depth, "and more: headgate tree %s", console.IdOf(u))
			return
		}
		w.tell(ctx, f, depth)
	}
}

// one is workloads for one object.
func (w *explainer) one(ctx context.Context, u *unstructured.Unstructured, id engine.ObjectID) {
	if f, ill := w.find(ctx, u, id, 0); ill {
		w.tell(ctx, f, 0)
	}
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
	if len(f.Below) == 0 && f.Text != "" {
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

// written is where the working copy declares an object, in parentheses; empty where it does not, or where there is none.
func (w *explainer) written(ctx context.Context, id engine.ObjectID) string {
	if id == (engine.ObjectID{}) {
		return ""
	}
	if w.files == nil {
		w.files = lint.NewIndex(w.documents(ctx))
	}
	file, line, found := w.files.Find(map[string]any{
		"apiVersion": id.Group + "/", "kind": id.Kind, "metadata": map[string]any{"name": id.Name, "namespace": id.Namespace},
	}, "")
	if !found {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", file, line)
}

// documents are those of the working copy that an embedded cluster serves, by their paths in it.
func (w *explainer) documents(ctx context.Context) []lint.Document {
	dir := workingCopy(ctx, w.Globals, w.client)
	if dir == "" {
		return nil
	}
	found, err := filesBelow(dir)
	if err != nil {
		return nil
	}
	documents := documentsOf(found.names, nil)
	for i := range documents {
		if path, err := filepath.Rel(dir, documents[i].File); err == nil {
			documents[i].File = path
		}
	}
	return documents
}

// broughtAbout explains an object that no unit holds and that one of a unit has brought about, such as a Pod. The error is what is said
// where there is no such object.
func (w *explainer) broughtAbout(ctx context.Context, sought console.Sought, units []*unstructured.Unstructured, err error) error {
	cluster := sought.Cluster
	if cluster == "" {
		cluster = w.clusters.Home()
	}
	reader, failed := w.reader(cluster)
	if failed != nil || reader == nil {
		return err
	}
	namespace := sought.Namespace
	if sought.Anywhere {
		namespace = ""
	}
	for _, gk := range below.Kinds() {
		if !sought.Is(engine.ObjectID{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: sought.Name}) {
			continue
		}
		o, there, failed := reader.Find(ctx, gk, namespace, sought.Name)
		if failed != nil {
			return failed
		}
		if !there {
			return err
		}
		return w.climb(ctx, reader, o, units, cluster)
	}
	return err
}

// climb explains an object, and the unit that holds the one that brought it about.
func (w *explainer) climb(ctx context.Context, reader *below.Reader, o *unstructured.Unstructured, units []*unstructured.Unstructured, cluster string) error {
	id := engine.IDOf(o)
	f, ill, err := reader.Of(ctx, id)
	if err != nil {
		return err
	}
	if ill {
		w.tell(ctx, f, 0)
	} else {
		w.print(0, "✓ %s is healthy", id)
	}
	above, err := reader.Above(ctx, o)
	if err != nil {
		return err
	}
	for _, owner := range above {
		w.print(0, "brought about by %s%s", owner, w.written(ctx, owner))
		found, err := w.Locate(w.clusters, units, console.Sought{Kind: owner.Kind, Namespace: owner.Namespace, Name: owner.Name, Cluster: cluster}, "why")
		if err != nil {
			continue
		}
		return w.held(ctx, owner.String(), append([]engine.UnitID{console.IdOf(found.Unit)}, holdingsOf(w.Globals, units).beside(found.Unit, found.ID)...))
	}
	w.print(0, "no unit holds it")
	return console.ErrNo
}
