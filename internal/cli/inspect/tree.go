package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
)

// NewTree is the command that shows what units hold.
func NewTree(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	var all bool
	var cluster, output string
	cmd := &cobra.Command{
		Use:   "tree [[KIND/]NAME] | tree KIND NAME",
		Short: "Show the objects of a unit, and the units below it",
		Long: `Show the objects of a unit, in these steps:

  1. read the unit (NAME alone is whatever has that name), or each root, which no unit declares, from the
     cluster or with --repository from a directory
  2. print the objects of its inventory, or those that it would apply; a Kustomization or a HelmRelease
     among them is gone into, with what it waits for, or came after, and where its chart comes from; units that own an object
     together with the one above it are named beside it
  3. in a cluster, mark each object that has a status: ✓, or ✗ with what is wrong. The objects of a kind are read by one request, and
     those of other clusters are not

KIND/NAMESPACE/NAME of an object shows the unit that holds it, and the object. When units deploy to several clusters, each unit is shown
with the one that it deploys to ("→ NAME"), and each object with the one that it is in ("@ NAME"). An object that is in more than one of
them is chosen by --cluster.`,
		Example:           "  headgate tree\n  headgate tree apps\n  headgate tree hr/podinfo -n apps\n  headgate tree --all\n  headgate tree --repository . --charts\n  headgate tree Deployment/backstage/web --cluster dev-vcluster\n  headgate tree -o json",
		ValidArgsFunction: g.CompleteObject,
		Args:              cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.CheckOutput(output, "json", "yaml", "name"); err != nil {
				return err
			}
			f, err := forestOf(cmd.Context(), o, cluster)
			if err != nil {
				return err
			}
			f.all, f.output = all, output
			if len(args) == 0 {
				return f.printAll(cmd.Context())
			}
			name, given := console.Joined(args), console.GivenNamespace(cmd)
			ref, err := g.ParseReference(name, o.Namespace)
			if err == nil {
				return f.printNamed(cmd.Context(), ref, name, given)
			}
			if o.Dir != "" || !strings.Contains(name, "/") {
				return err
			}
			return f.printHeld(cmd.Context(), name, given)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindCharts(cmd, &o)
	cmd.Flags().StringVar(&o.Dir, "repository", "", "read this directory instead of the cluster")
	console.BindCluster(cmd, &cluster, "the cluster that the object is in, or that the unit deploys to")
	cmd.Flags().BoolVar(&all, "all", false, "also list the objects of the units below")
	cmd.Flags().StringVarP(&output, "output", "o", "", "json, yaml or name")
	console.CompleteOutput(cmd, "json", "yaml", "name")
	return cmd
}

// crown is what a tree shows of a unit.
type crown struct {
	about
	holds []engine.ObjectID
	// with are the units that own objects together with this one.
	with map[engine.ObjectID][]engine.UnitID
	// cluster is the name of the one that the objects are in, when there are several; away is set when that is not the one of the units.
	cluster string
	away    bool
	// exprs are the health expressions of the unit.
	exprs []engine.HealthExpr
}

// missingError names a unit that is not there; err is what the API server said, where one was asked.
type missingError struct {
	ref console.Reference
	err error
}

func (e *missingError) Error() string { return fmt.Sprintf("%s does not exist", e.ref) }

// grown reads a unit of the cluster.
func (f *forest) grown(ctx context.Context, ref console.Reference) (crown, error) {
	g := f.Globals
	u, err := ref.Client(f.client).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return crown{}, console.Hint(&missingError{ref, err}, "headgate get all")
	}
	if err != nil {
		return crown{}, console.Unreachable(fmt.Errorf("reading %s: %w", ref, err))
	}
	d, err := g.DeclaredBy(u)
	if err != nil {
		return crown{}, err
	}
	c := crown{about: aboutUnit(d, f.exists), holds: g.Catalogue.StateOf(u).Inventory, with: map[engine.ObjectID][]engine.UnitID{}, exprs: d.Unit.Health.Exprs}
	c.standing = standingOf(g, u)
	if made := f.made[engine.IDOf(u)]; !g.Catalogue.IsUnit(engine.IDOf(u)) {
		c.holds = made
	}
	for _, id := range c.holds {
		c.with[id] = f.held.beside(u, id)
	}
	at := f.clusters.Of(u)
	c.away = at != f.clusters.Home()
	if f.clusters.Several(f.units) {
		c.cluster, c.Target = at, at
	}
	if f.cluster != "" && at != f.cluster && !f.begun {
		return crown{}, console.Hint(fmt.Errorf("%s is for cluster %s, not for %s", ref, at, f.cluster), "headgate tree %s --cluster %s", ref, at)
	}
	f.begun = true
	return c, nil
}

// planted finds a unit of a repository.
func planted(w *offline.Walk, ref console.Reference) (crown, error) {
	u, found := w.Find(ref.ID())
	if !found {
		return crown{}, console.Hint(&missingError{ref, nil}, "headgate graph PATH")
	}
	c := crown{about: aboutUnit(console.Declaration{Unit: u.Unit, Chart: u.Chart}, func(engine.UnitID) bool { return true })}
	if u.Err != nil {
		c.standing = badStanding(u.Err.Error())
		return c, nil
	}
	c.Note = u.Elsewhere
	for _, o := range u.Held() {
		c.holds = append(c.holds, u.IDOf(o, nil))
	}
	for i := range w.Units {
		// What is generated is not among them.
		if id := w.Units[i].Unit.ID.Object(); w.Units[i].Parent == u.Unit.ID && !slices.Contains(c.holds, id) {
			c.holds = append(c.holds, id)
		}
	}
	return c, nil
}

// treeBuilder reads trees.
type treeBuilder struct {
	*console.Globals
	look func(context.Context, console.Reference) (crown, error)
	made map[engine.ObjectID][]engine.ObjectID
	// marks say how objects stand that are no units; nil without a cluster.
	marks func(context.Context, []engine.ObjectID, []engine.HealthExpr) map[engine.ObjectID]standing
	all   bool
	seen  map[engine.UnitID]bool
}

// objects reads what a unit holds: the units and what is below them, and the other objects if they are listed.
func (t *treeBuilder) objects(ctx context.Context, c crown, list bool) ([]*branch, error) {
	ids := slices.Clone(c.holds)
	if !list && !t.all {
		ids = slices.DeleteFunc(ids, func(id engine.ObjectID) bool { return !t.goesOn(id) })
	}
	var marks map[engine.ObjectID]standing
	if t.marks != nil && !c.away {
		marks = t.marks(ctx, slices.DeleteFunc(slices.Clone(ids), t.goesOn), c.exprs)
	}
	all := make([]*branch, len(ids))
	for i, id := range ids {
		b := branchOf(id)
		for _, unit := range c.with[id] {
			b.With = append(b.With, unit.String())
		}
		b.Cluster, b.standing, all[i] = c.cluster, marks[id], b
		if c.away {
			// Whatever it is, no unit of this cluster is meant.
			continue
		}
		if err := t.goOn(ctx, id, b); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// goesOn reports whether a tree goes on below an object: a unit, or what has made some.
func (t *treeBuilder) goesOn(id engine.ObjectID) bool {
	_, known := t.Catalogue.Kind(id.GroupKind())
	return t.Catalogue.IsUnit(id) || known && len(t.made[id]) > 0
}

// goOn reads what is below an object when it is a unit that was not seen yet.
func (t *treeBuilder) goOn(ctx context.Context, id engine.ObjectID, b *branch) error {
	at := engine.UnitOf(id)
	if !t.goesOn(id) || t.seen[at] {
		return nil
	}
	t.seen[at] = true
	ref, err := t.ReferenceTo(at)
	if err != nil {
		return err
	}
	below, err := t.look(ctx, ref)
	var missing *missingError
	if errors.As(err, &missing) {
		b.standing = badStanding("missing")
		return nil
	}
	if err != nil {
		return err
	}
	b.about = below.about
	b.Objects, err = t.objects(ctx, below, false)
	return err
}
