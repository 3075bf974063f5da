package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// forest is where trees are read from: a directory, or a cluster whose units may deploy to others.
type forest struct {
	*console.Globals
	look     func(context.Context, console.Reference) (crown, error)
	client   dynamic.Interface
	clusters *console.Clusters
	units    []*unstructured.Unstructured
	held     holdings
	// cluster is the name of the one that was chosen, begun is set when the unit at the root was read.
	cluster string
	begun   bool
}

// forestOf finds units in the cluster, or in a directory.
func forestOf(ctx context.Context, o console.OfflineOptions, cluster string) (*forest, error) {
	f := &forest{Globals: o.Globals, cluster: cluster}
	if o.Dir != "" {
		if cluster != "" {
			return nil, console.Hint(errors.New("--cluster requires a cluster, and not a directory"), "headgate tree --cluster %s", cluster)
		}
		w, err := o.Walk(ctx)
		if err != nil {
			return nil, err
		}
		w.Close()
		f.look = func(_ context.Context, ref console.Reference) (crown, error) { return planted(w, ref) }
		return f, nil
	}
	if o.Charts || o.Root != "" || o.AgeKeyFile != "" || len(o.Rewrite) > 0 || o.Rules.Given() {
		return nil, console.Hint(errors.New("--charts, --rewrite, --path, --age-key-file and the policy flags require a directory"), "headgate tree --repository PATH")
	}
	var err error
	if f.client, err = o.Client(); err != nil {
		return nil, err
	}
	if f.units, err = o.ListUnits(ctx, f.client); err != nil {
		return nil, err
	}
	f.held, f.look, f.clusters = holdingsOf(o.Globals, f.units), f.grown, o.Clusters(ctx, f.client)
	return f, f.clusters.Check(cluster)
}

// print prints the tree of a unit.
func (f *forest) print(ctx context.Context, ref console.Reference, all bool) error {
	t := &treePrinter{Globals: f.Globals, look: f.look, all: all, seen: map[engine.UnitID]bool{ref.ID(): true}}
	root, err := f.look(ctx, ref)
	if err != nil {
		return err
	}
	fmt.Fprintln(f.IO.Out, strings.TrimRight(ref.String()+"  "+root.text, " "))
	return t.children(ctx, root, "", true)
}

// printHeld prints the unit that holds an object, with that object alone.
func (f *forest) printHeld(ctx context.Context, target, namespace string) error {
	sought, err := console.Seek(target, namespace, f.cluster)
	if err != nil {
		return err
	}
	found, err := f.Locate(f.clusters, f.units, sought, "tree")
	if err != nil {
		return err
	}
	ref, err := f.ReferenceTo(console.IdOf(found.Unit))
	if err != nil {
		return err
	}
	root, err := f.look(ctx, ref)
	if err != nil {
		return err
	}
	root.holds = slices.DeleteFunc(root.holds, func(id engine.ObjectID) bool { return id != found.ID })
	fmt.Fprintln(f.IO.Out, strings.TrimRight(ref.String()+"  "+root.text, " "))
	t := &treePrinter{Globals: f.Globals, look: f.look, seen: map[engine.UnitID]bool{ref.ID(): true}}
	return t.children(ctx, root, "", true)
}
