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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/progress"
)

// NewTree is the command that shows what units hold.
func NewTree(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	var all bool
	var cluster string
	cmd := &cobra.Command{
		Use:   "tree [[KIND/]NAME] | tree KIND NAME",
		Short: "Show the objects of a unit, and the units below it",
		Long: `Show the objects of a unit, in these steps:

  1. read the unit (NAME alone is a Kustomization, or else whatever has that name), or each root, which no unit declares, from the
     cluster or with --repository from a directory
  2. print the objects of its inventory, or those that it would apply; a Kustomization or a HelmRelease
     among them is gone into, with what it waits for, or came after, and where its chart comes from; units that own an object
     together with the one above it are named beside it
  3. in a cluster, mark each object that has a status: ✓, or ✗ with what is wrong. The objects of a kind are read by one request, and
     those of other clusters are not

KIND/NAMESPACE/NAME of an object shows the unit that holds it, and the object. When units deploy to several clusters, each unit is shown
with the one that it deploys to ("→ NAME"), and each object with the one that it is in ("@ NAME"). An object that is in more than one of
them is chosen by --cluster.`,
		Example:           "  headgate tree\n  headgate tree apps\n  headgate tree hr/podinfo -n apps\n  headgate tree --all\n  headgate tree --repository . --charts\n  headgate tree Deployment/backstage/web --cluster dev-vcluster",
		ValidArgsFunction: g.CompleteObject,
		Args:              cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := forestOf(cmd.Context(), o, cluster)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return f.printAll(cmd.Context(), all)
			}
			name, given := console.Joined(args), console.GivenNamespace(cmd)
			ref, err := g.ParseReference(name, o.Namespace)
			if err == nil {
				return f.printNamed(cmd.Context(), ref, name, given, all)
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
	return cmd
}

// crown is what a tree shows of a unit.
type crown struct {
	text  string
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
	state := g.Catalogue.StateOf(u)
	about := described(d, waitWord(state), f.exists)
	c := crown{text: markOf(g, u) + about, holds: state.Inventory, with: map[engine.ObjectID][]engine.UnitID{}, exprs: d.Unit.Health.Exprs}
	if made := f.made[engine.IDOf(u)]; !g.Catalogue.IsUnit(engine.IDOf(u)) {
		c.holds = made
	}
	for _, id := range c.holds {
		c.with[id] = f.held.beside(u, id)
	}
	at := f.clusters.Of(u)
	c.away = at != f.clusters.Home()
	if f.clusters.Several(f.units) {
		c.cluster, c.text = at, markOf(g, u)+"  → "+at+about
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
	about := described(console.Declaration{Unit: u.Unit, Chart: u.Chart}, "waits for", func(engine.UnitID) bool { return true })
	if u.Err != nil {
		return crown{text: fmt.Sprintf("✗ %v", u.Err) + about}, nil
	}
	c := crown{text: strings.TrimSpace(about)}
	if u.Elsewhere != "" {
		c.text = strings.TrimSpace(c.text + "  · " + u.Elsewhere)
	}
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

// waitWord is what stands before what a unit waits for, or has waited for.
func waitWord(s dialect.State) string {
	if s.Ready == "True" {
		return "after"
	}
	return "waits for"
}

// described says where the chart of a unit comes from, and what the unit waits for.
func described(d console.Declaration, waits string, exists func(engine.UnitID) bool) string {
	text := ""
	if d.Chart.Text != "" {
		text += "  (" + d.Chart.Text + ")"
	}
	names := make([]string, len(d.Unit.Dependencies))
	for i, dependency := range d.Unit.Dependencies {
		names[i] = dependency.String()
		if dependency.Unit != (engine.UnitID{}) && !exists(dependency.Unit) {
			names[i] += " (missing)"
		}
	}
	if len(names) > 0 {
		text += "  " + waits + " " + strings.Join(names, ", ")
	}
	return text
}

type treePrinter struct {
	*console.Globals
	look func(context.Context, console.Reference) (crown, error)
	made map[engine.ObjectID][]engine.ObjectID
	// marks say how objects stand that are no units; nil without a cluster.
	marks func(context.Context, []engine.ObjectID, []engine.HealthExpr) map[engine.ObjectID]string
	all   bool
	seen  map[engine.UnitID]bool
}

func markOf(g *console.Globals, u *unstructured.Unstructured) string {
	switch s := g.Catalogue.StateOf(u); {
	case s.Suspended:
		return "suspended"
	case s.Ready == "True", s.Static != "":
		return strings.TrimSpace("✓ " + progress.Short(s.Revision))
	default:
		return "✗ " + s.Reason
	}
}

func (t *treePrinter) children(ctx context.Context, c crown, indent string, list bool) error {
	ids := slices.Clone(c.holds)
	if !list && !t.all {
		ids = slices.DeleteFunc(ids, func(id engine.ObjectID) bool { return !t.goesOn(id) })
	}
	var marks map[engine.ObjectID]string
	if t.marks != nil && !c.away {
		marks = t.marks(ctx, slices.DeleteFunc(slices.Clone(ids), t.goesOn), c.exprs)
	}
	for i, id := range ids {
		branch, next := "├── ", indent+"│   "
		if i == len(ids)-1 {
			branch, next = "└── ", indent+"    "
		}
		line := indent + branch + id.String()
		if with := c.with[id]; len(with) > 0 {
			names := make([]string, len(with))
			for i, unit := range with {
				names[i] = unit.String()
			}
			line += "  (with " + strings.Join(names, ", ") + ")"
		}
		if c.cluster != "" {
			line += "  @ " + c.cluster
		}
		if c.away {
			// Whatever it is, no unit of this cluster is meant.
			fmt.Fprintln(t.IO.Out, line)
			continue
		}
		if mark := marks[id]; mark != "" {
			line += "  " + mark
		}
		if err := t.child(ctx, id, line, next); err != nil {
			return err
		}
	}
	return nil
}

// goesOn tells whether a tree goes on below an object: a unit, or what has made some.
func (t *treePrinter) goesOn(id engine.ObjectID) bool {
	_, known := t.Catalogue.Kind(id.GroupKind())
	return t.Catalogue.IsUnit(id) || known && len(t.made[id]) > 0
}

// child prints the line of an object, and goes on when it is a unit that was not seen yet.
func (t *treePrinter) child(ctx context.Context, id engine.ObjectID, line, indent string) error {
	at := engine.UnitOf(id)
	if !t.goesOn(id) || t.seen[at] {
		fmt.Fprintln(t.IO.Out, line)
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
		fmt.Fprintln(t.IO.Out, line+"  ✗ missing")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(t.IO.Out, strings.TrimRight(line+"  "+below.text, " "))
	return t.children(ctx, below, indent, false)
}
