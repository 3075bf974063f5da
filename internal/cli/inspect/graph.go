package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
)

// NewGraph is the command that prints dependencies.
func NewGraph(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	var q graphQuery
	cmd := &cobra.Command{
		Use:   "graph [PATH] [KIND/NAME | KIND NAME]",
		Short: "Print the dependency graph, and its cycles",
		Long: `Print the dependency graph, in these steps:

  1. read the units of the cluster, Kustomizations and HelmReleases, or with PATH those of a repository
  2. find the units that dependencies lead to: that of a dependency on an object is the one that declares the object
  3. print the dependencies, which unit makes which, and where the charts of HelmReleases come from: as text in the order in
     which the units can be applied, as DOT, as Mermaid or as JSON; an arrow leads to what waits
  4. mark and report every cycle, and every dependency on a unit that does not exist

Of a unit that is named it prints only that one, with what it waits for, what waits for it, directly or not, and what makes them.

When units deploy to several clusters, the text names the one of each unit ("→ NAME").

Applications of Argo CD are printed as a tree, by wave, below what declares them.

With --check and PATH it prints the problems of the repository instead, in the words of the engine; "headgate validate" has them with
files and lines, and for machines. They are units that cannot be rendered, objects
that several units declare differently, and waits that can never end, by dependencies, by health checks, by kinds whose
definitions or namespaces come later, or by a combination. Each object is validated against the schemas of the
embedded API server and of the definitions in the repository: versions that are not served, missing or
unknown fields, invalid values, namespaces that nothing creates. Encrypted values are not validated,
and remote sources are skipped; with --charts the charts of HelmReleases are fetched and checked too.

With --stages it prints the pipelines of Kargo instead: which Stage takes Freight from where, what each has, and what it
waits for.

A Kustomization is printed as NAMESPACE/NAME, anything else with its kind first. The exit code is 1
if there is a cycle, or --check finds a problem. Lines with "·" depend on something outside the repository.`,
		Example:           "  headgate graph\n  headgate graph . -o mermaid\n  headgate graph ks/apps\n  headgate graph . ks/apps\n  headgate graph . --check\n  headgate graph --stages -n shop",
		ValidArgsFunction: completeGraph(&o),
		Args:              cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Marks = true
			q.dir, q.unit = o.Split(args)
			switch err := q.invalid(); {
			case err != nil:
				return err
			case q.stages:
				return graphStages(cmd.Context(), g, q.namespace, q.format)
			case q.dir != "":
				o.Dir = q.dir
				return graphRepository(cmd.Context(), o, q)
			}
			units, err := clusterGraph(cmd.Context(), g)
			if err != nil {
				return err
			}
			if err := q.narrow(units, g.Catalogue); err != nil {
				return err
			}
			return printGraph(g.IO, units, q.format)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindFetches(cmd, &o)
	cmd.Flags().BoolVar(&q.check, "check", false, "check the repository at PATH, and print only its problems")
	cmd.Flags().BoolVar(&q.stages, "stages", false, "print the pipelines of promotions")
	cmd.Flags().StringVarP(&q.namespace, "namespace", "n", "", "namespace of the unit, or Project of --stages (default: every one)")
	cmd.Flags().StringVarP(&q.format, "output", "o", "text", "text, dot, mermaid or json")
	console.CompleteOutput(cmd, "text", "dot", "mermaid", "json")
	return cmd
}

// graphRepository prints the graph of a repository, or what is wrong with it.
func graphRepository(ctx context.Context, o console.OfflineOptions, q graphQuery) error {
	w, err := o.Walk(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if q.check {
		return checkRepository(ctx, o, w)
	}
	g := newUnitGraph(o.Catalogue)
	for i := range w.Units {
		g.plant(&w.Units[i])
	}
	g.link()
	if err := q.narrow(g, o.Catalogue); err != nil {
		return err
	}
	err = printGraph(o.IO, g, q.format)
	if len(g.trees) == 0 || q.unit != "" {
		return err
	}
	if err != nil && !errors.Is(err, console.ErrNo) {
		return err
	}
	return errors.Join(err, tellEndless(o, w, g.cycles))
}

// tellEndless names the waits that never end, other than cycles that were named, and what fails to give units.
func tellEndless(o console.OfflineOptions, w *offline.Walk, cycles [][]engine.UnitID) error {
	never := false
	told := func(unit engine.UnitID) bool {
		return slices.ContainsFunc(cycles, func(cycle []engine.UnitID) bool { return slices.Contains(cycle, unit) })
	}
	for _, f := range w.Findings(nil) {
		if f.Never && f.Lacks == (engine.ObjectID{}) && (!f.Declared || !told(f.Unit)) {
			never = true
			fmt.Fprintln(o.IO.Err, "✗ a wait that never ends: "+strings.Join(f.Steps, "; "))
		}
	}
	if o.TellBroken(w) || never {
		return console.ErrNo
	}
	return nil
}

// clusterGraph reads the units of the cluster.
func clusterGraph(ctx context.Context, o *console.Globals) (*unitGraph, error) {
	g := newUnitGraph(o.Catalogue)
	g.whole = true
	client, err := o.Client()
	if err != nil {
		return g, err
	}
	list, err := o.ListUnits(ctx, client)
	if err != nil {
		return g, err
	}
	clusters := o.Clusters(ctx, client)
	several := clusters.Several(list)
	for _, u := range list {
		d, err := o.DeclaredBy(u)
		if err != nil {
			return g, err
		}
		if several {
			g.where[d.Unit.ID] = clusters.Of(u)
		}
		unit := &dialect.OfflineUnit{Unit: d.Unit, Chart: d.Chart}
		if of, has := o.Of(console.GroupKindOf(u)).(dialect.Waved); has {
			unit.Wave, unit.Tree = of.WaveOf(u)
		}
		state := o.Catalogue.StateOf(u)
		g.counts[d.Unit.ID] = len(state.Inventory)
		if clusters.Of(u) == clusters.Home() {
			for _, id := range state.Inventory {
				g.hold(d.Unit.ID, id)
			}
		}
		g.add(unit)
	}
	for id, u := range g.units {
		u.Parent = g.holder(id.Object())
	}
	// What an object that is no unit has made, such as an ApplicationSet, belongs to the unit that has the object.
	for by, made := range madeBy(list) {
		for _, id := range made {
			if u := g.units[engine.UnitOf(id)]; u != nil && u.Tree {
				u.Parent, u.Note = g.holder(by), "by "+by.String()
				u.Wave = waveOf(ctx, o, client, by)
			}
		}
	}
	g.link()
	return g, nil
}

// waveOf is the wave of an object that makes units; zero where that cannot be read.
func waveOf(ctx context.Context, o *console.Globals, client dynamic.Interface, id engine.ObjectID) int {
	ref, err := o.ReferenceTo(engine.UnitOf(id))
	if err != nil {
		return 0
	}
	of, has := o.Of(id.GroupKind()).(dialect.Waved)
	u, err := ref.Get(ctx, client)
	if err != nil || !has {
		return 0
	}
	wave, _ := of.WaveOf(u)
	return wave
}
