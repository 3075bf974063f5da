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
	"k8s.io/client-go/dynamic"

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
	cmd := &cobra.Command{
		Use:   "tree [[KIND/]NAME]",
		Short: "Show the objects of a unit, and the units below it",
		Long: `Show the objects of a unit, in these steps:

  1. read the unit (by default the root, flux-system/flux-system; NAME alone is a Kustomization), from the
     cluster or with --repository from a directory
  2. print the objects of its inventory, or those that it would apply; a Kustomization or a HelmRelease
     among them is gone into, with what it waits for and where its chart comes from; units that own an object
     together with the one above it are named beside it`,
		Example: "  headgate tree\n  headgate tree apps\n  headgate tree hr/podinfo -n apps\n  headgate tree --all\n  headgate tree --repository . --charts",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := console.DefaultNamespace
			if len(args) > 0 {
				name = args[0]
			}
			ref, err := g.ParseReference(name, o.Namespace)
			if err != nil {
				return err
			}
			return printTree(cmd.Context(), o, ref, all)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindCharts(cmd, &o)
	cmd.Flags().StringVar(&o.Dir, "repository", "", "read this directory instead of the cluster")
	cmd.Flags().BoolVar(&all, "all", false, "also list the objects of the units below")
	return cmd
}

func printTree(ctx context.Context, o console.OfflineOptions, ref console.Reference, all bool) error {
	look, err := forestOf(ctx, o)
	if err != nil {
		return err
	}
	t := &treePrinter{Globals: o.Globals, look: look, all: all, seen: map[engine.UnitID]bool{ref.ID(): true}}
	root, err := look(ctx, ref)
	if err != nil {
		return err
	}
	fmt.Fprintln(o.IO.Out, strings.TrimRight(ref.String()+"  "+root.text, " "))
	return t.children(ctx, root, "", true)
}

// crown is what a tree shows of a unit.
type crown struct {
	text  string
	holds []engine.ObjectID
	// with are the units that own objects together with this one.
	with map[engine.ObjectID][]engine.UnitID
}

// forestOf finds units in the cluster, or in a directory.
func forestOf(ctx context.Context, o console.OfflineOptions) (func(context.Context, console.Reference) (crown, error), error) {
	if o.Dir != "" {
		w, err := o.Walk(ctx)
		if err != nil {
			return nil, err
		}
		w.Close()
		return func(_ context.Context, ref console.Reference) (crown, error) { return planted(w, ref) }, nil
	}
	if o.Charts || o.Root != "" || o.AgeKeyFile != "" || len(o.Rewrite) > 0 || o.Rules.Given() {
		return nil, console.Hint(errors.New("--charts, --rewrite, --path, --age-key-file and the policy flags require a directory"), "headgate tree --repository PATH")
	}
	client, err := o.Client()
	if err != nil {
		return nil, err
	}
	all, err := o.ListUnits(ctx, client)
	held := holdingsOf(o.Globals, all)
	return func(ctx context.Context, ref console.Reference) (crown, error) {
		return grown(ctx, o.Globals, client, ref, held)
	}, err
}

// missingError names a unit that is not there.
type missingError struct{ ref console.Reference }

func (e *missingError) Error() string { return fmt.Sprintf("%s does not exist", e.ref) }

// grown reads a unit of the cluster.
func grown(ctx context.Context, g *console.Globals, client dynamic.Interface, ref console.Reference, held holdings) (crown, error) {
	u, err := ref.Client(client).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return crown{}, console.Hint(&missingError{ref}, "headgate get all")
	}
	if err != nil {
		return crown{}, console.Unreachable(fmt.Errorf("reading %s: %w", ref, err))
	}
	d, err := g.DeclaredBy(u)
	if err != nil {
		return crown{}, err
	}
	c := crown{text: markOf(g, u) + described(d.Unit, d.Chart), holds: g.Catalogue.StateOf(u).Inventory, with: map[engine.ObjectID][]engine.UnitID{}}
	for _, id := range c.holds {
		c.with[id] = held.beside(u, id)
	}
	return c, nil
}

// planted finds a unit of a repository.
func planted(w *offline.Walk, ref console.Reference) (crown, error) {
	u, found := w.Find(ref.ID())
	if !found {
		return crown{}, console.Hint(&missingError{ref}, "headgate graph PATH")
	}
	about := described(u.Unit, u.Chart)
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
	return c, nil
}

// described says where the chart of a unit comes from, and what the unit waits for.
func described(unit engine.Unit, chart dialect.Origin) string {
	text := ""
	if chart.Text != "" {
		text += "  (" + chart.Text + ")"
	}
	for i, id := range console.UnitsOf(unit.Dependencies) {
		if i == 0 {
			text += "  waits for " + id.String()
			continue
		}
		text += ", " + id.String()
	}
	return text
}

type treePrinter struct {
	*console.Globals
	look func(context.Context, console.Reference) (crown, error)
	all  bool
	seen map[engine.UnitID]bool
}

func markOf(g *console.Globals, u *unstructured.Unstructured) string {
	switch s := g.Catalogue.StateOf(u); {
	case s.Suspended:
		return "suspended"
	case s.Ready == "True":
		return "✓ " + progress.Short(s.Revision)
	default:
		return "✗ " + s.Reason
	}
}

func (t *treePrinter) children(ctx context.Context, c crown, indent string, list bool) error {
	ids := slices.Clone(c.holds)
	if !list && !t.all {
		ids = slices.DeleteFunc(ids, func(id engine.ObjectID) bool { return !t.Catalogue.IsUnit(id) })
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
		if err := t.child(ctx, id, line, next); err != nil {
			return err
		}
	}
	return nil
}

// child prints the line of an object, and goes on when it is a unit that was not seen yet.
func (t *treePrinter) child(ctx context.Context, id engine.ObjectID, line, indent string) error {
	at := engine.UnitOf(id)
	if !t.Catalogue.IsUnit(id) || t.seen[at] {
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
