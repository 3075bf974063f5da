package inspect

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
)

// forest is where trees are read from: a directory, or a cluster whose units may deploy to others.
type forest struct {
	*console.Globals
	look   func(context.Context, console.Reference) (crown, error)
	client dynamic.Interface
	// made are the units that objects which are no units have made, such as an ApplicationSet.
	made map[engine.ObjectID][]engine.ObjectID
	// marks say how objects of the cluster stand.
	marks func(context.Context, []engine.ObjectID, []engine.HealthExpr) map[engine.ObjectID]standing
	// declared are the units that others declare, all are those that there are.
	declared func() (all, declared []engine.UnitID)
	clusters *console.Clusters
	units    []*unstructured.Unstructured
	held     holdings
	// cluster is the name of the one that was chosen, begun is set when the unit at the root was read.
	cluster string
	begun   bool
	// all is set when the objects of the units below are listed as well; output is how trees are written.
	all    bool
	output string
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
		f.declared = func() (all, declared []engine.UnitID) { return declaredIn(w) }
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
	f.declared = f.declaredBy
	f.made = madeBy(f.units)
	f.marks = newMarker(o.Globals, f.client).marks
	f.held, f.look, f.clusters = holdingsOf(o.Globals, f.units), f.grown, o.Clusters(ctx, f.client)
	return f, f.clusters.Check(cluster)
}

// declaredIn are the units of a directory, and those of them that others declare.
func declaredIn(w *offline.Walk) (all, declared []engine.UnitID) {
	for i := range w.Units {
		u := &w.Units[i]
		all = append(all, u.Unit.ID)
		for _, o := range u.Held() {
			if id := engine.UnitOf(u.IDOf(o, nil)); id != u.Unit.ID {
				declared = append(declared, id)
			}
		}
		if _, there := w.Find(u.Parent); there && u.Parent != u.Unit.ID {
			declared = append(declared, u.Unit.ID)
		}
	}
	return all, declared
}

// exists reports whether the cluster has a unit.
func (f *forest) exists(id engine.UnitID) bool {
	return slices.ContainsFunc(f.units, func(u *unstructured.Unstructured) bool { return console.IdOf(u) == id })
}

// declaredBy are the units of the cluster, and those of them that others declare.
func (f *forest) declaredBy() (all, declared []engine.UnitID) {
	for _, u := range f.units {
		all = append(all, console.IdOf(u))
	}
	for _, u := range f.units {
		for _, id := range f.Catalogue.StateOf(u).Inventory {
			for _, made := range f.made[id] {
				declared = append(declared, engine.UnitOf(made))
			}
		}
		if owner, is := f.OwnerOf(u); is && owner.ID() != console.IdOf(u) && slices.Contains(all, owner.ID()) {
			declared = append(declared, console.IdOf(u))
		}
	}
	return all, declared
}

// madeBy are the units that have controllers, by these.
func madeBy(units []*unstructured.Unstructured) map[engine.ObjectID][]engine.ObjectID {
	made := map[engine.ObjectID][]engine.ObjectID{}
	for _, u := range units {
		if by := metav1.GetControllerOf(u); by != nil {
			group, _, _ := strings.Cut(by.APIVersion, "/")
			id := engine.ObjectID{Group: group, Kind: by.Kind, Namespace: u.GetNamespace(), Name: by.Name}
			made[id] = append(made[id], engine.IDOf(u))
		}
	}
	return made
}

// printAll prints the trees of the units that no other one declares, of all if each is declared by another.
func (f *forest) printAll(ctx context.Context) error {
	units, declared := f.declared()
	roots := slices.DeleteFunc(slices.Clone(units), func(id engine.UnitID) bool { return slices.Contains(declared, id) })
	if len(roots) == 0 {
		roots = units
	}
	if len(roots) == 0 {
		return console.Hint(errors.New("there are no units"), "headgate up PATH")
	}
	slices.SortFunc(roots, engine.UnitID.Compare)
	trees := make([]*branch, len(roots))
	for i, id := range roots {
		ref, err := f.ReferenceTo(id)
		if err != nil {
			return err
		}
		if trees[i], err = f.tree(ctx, ref, nil); err != nil {
			return err
		}
	}
	return printBranches(f.IO, f.output, trees, false)
}

// tree reads the tree of a unit, with the object alone that is given, if one is.
func (f *forest) tree(ctx context.Context, ref console.Reference, only *engine.ObjectID) (*branch, error) {
	root, err := f.look(ctx, ref)
	if err != nil {
		return nil, err
	}
	if only != nil {
		root.holds = slices.DeleteFunc(root.holds, func(id engine.ObjectID) bool { return id != *only })
	}
	t := &treeBuilder{Globals: f.Globals, look: f.look, made: f.made, marks: f.marks, all: f.all, seen: map[engine.UnitID]bool{ref.ID(): true}}
	b := branchOf(ref.ID().Object())
	b.about = root.about
	b.Objects, err = t.objects(ctx, root, true)
	return b, err
}

// print prints the tree of a unit.
func (f *forest) print(ctx context.Context, ref console.Reference, only *engine.ObjectID) error {
	b, err := f.tree(ctx, ref, only)
	if err != nil {
		return err
	}
	return printBranches(f.IO, f.output, []*branch{b}, true)
}

// printNamed prints the tree of a unit as a person names it: a name alone may be that of any other kind, or of an object of a unit.
func (f *forest) printNamed(ctx context.Context, ref console.Reference, name, namespace string) error {
	if f.client != nil {
		picked, err := f.Pick(ctx, f.client, console.Wanted{Target: name, Namespace: namespace, Verb: "tree"})
		switch {
		case err == nil:
			ref = picked
		case !apierrors.IsNotFound(err):
			return err
		}
	}
	err := f.print(ctx, ref, nil)
	var missing *missingError
	if f.client == nil || !errors.As(err, &missing) || missing.err == nil {
		return err
	}
	if strings.Contains(name, "/") {
		return ref.Absent(ctx, f.client, "tree", missing.err)
	}
	other, held, err := f.Named(ctx, f.client, name, namespace, "tree")
	switch {
	case err != nil:
		return err
	case other == nil:
		return f.printHeld(ctx, held, namespace)
	}
	return f.print(ctx, *other, nil)
}

// printHeld prints the unit that holds an object, with that object alone.
func (f *forest) printHeld(ctx context.Context, target, namespace string) error {
	sought, err := console.Seek(target, namespace, f.cluster)
	if err != nil {
		return err
	}
	found, err := f.Locate(f.clusters, f.units, sought, "tree")
	if before, name, pair := strings.Cut(target, "/"); notHeld(err) && pair && !strings.Contains(name, "/") {
		// It may be NAMESPACE/NAME of a unit.
		if ref, _, failed := f.Named(ctx, f.client, name, before, "tree"); failed == nil && ref != nil {
			return f.print(ctx, *ref, nil)
		}
	}
	if err != nil {
		return err
	}
	ref, err := f.ReferenceTo(console.IdOf(found.Unit))
	if err != nil {
		return err
	}
	return f.print(ctx, ref, &found.ID)
}
