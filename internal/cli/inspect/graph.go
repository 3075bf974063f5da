package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
)

// NewGraph is the command that prints dependencies.
func NewGraph(g *console.Globals) *cobra.Command {
	o := console.OfflineOptions{Globals: g}
	var format, namespace string
	var check, stages bool
	cmd := &cobra.Command{
		Use:   "graph [PATH]",
		Short: "Print the dependency graph, and its cycles",
		Long: `Print the dependency graph, in these steps:

  1. read the units of the cluster, Kustomizations and HelmReleases, or with PATH those of a repository
  2. print the dependencies, and where the charts of HelmReleases come from: as text in the order in
     which the units can be applied, as DOT, as Mermaid or as JSON; an arrow leads to what waits
  3. report every cycle

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
		Example: "  headgate graph\n  headgate graph . -o mermaid\n  headgate graph . --check\n  headgate graph --stages -n shop",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Marks = true
			switch {
			case stages && (len(args) > 0 || check):
				return console.Hint(errors.New("--stages is about a cluster, and takes no repository"), "headgate graph --stages")
			case stages:
				return graphStages(cmd.Context(), g, namespace, format)
			case namespace != "":
				return console.Hint(errors.New("--namespace is for --stages"), "headgate graph --stages --namespace %s", namespace)
			case len(args) > 0:
				o.Dir = args[0]
				return graphRepository(cmd.Context(), o, format, check)
			case check:
				return console.Hint(errors.New("--check requires a repository"), "headgate graph PATH --check")
			}
			units, err := clusterGraph(cmd.Context(), g)
			if err != nil {
				return err
			}
			return printGraph(g.IO, units, format)
		},
	}
	console.BindOffline(cmd, &o)
	console.BindFetches(cmd, &o)
	cmd.Flags().BoolVar(&check, "check", false, "check the repository at PATH, and print only its problems")
	cmd.Flags().BoolVar(&stages, "stages", false, "print the pipelines of promotions")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "Project of --stages (default: every one)")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, dot, mermaid or json")
	return cmd
}

// graphRepository prints the graph of a repository, or what is wrong with it.
func graphRepository(ctx context.Context, o console.OfflineOptions, format string, check bool) error {
	w, err := o.Walk(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	if check {
		return checkRepository(ctx, o, w)
	}
	g := newUnitGraph(o.Catalogue)
	for i := range w.Units {
		g.add(&w.Units[i])
	}
	err = printGraph(o.IO, g, format)
	if len(g.trees) == 0 {
		return err
	}
	if err != nil && !errors.Is(err, console.ErrNo) {
		return err
	}
	return errors.Join(err, tellEndless(o, w))
}

// tellEndless names the waits that never end, and what fails to give units.
func tellEndless(o console.OfflineOptions, w *offline.Walk) error {
	never := false
	for _, f := range w.Findings(nil) {
		if f.Never && f.Lacks == (engine.ObjectID{}) {
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
func clusterGraph(ctx context.Context, o *console.Globals) (unitGraph, error) {
	g := newUnitGraph(o.Catalogue)
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
		for _, id := range state.Inventory {
			g.parents[id] = d.Unit.ID
		}
		g.add(unit)
	}
	for _, u := range g.trees {
		u.Parent = g.parents[u.Unit.ID.Object()]
	}
	// What an object that is no unit has made, such as an ApplicationSet, belongs to the unit that has the object.
	for by, made := range madeBy(list) {
		for _, id := range made {
			if u := g.units[engine.UnitOf(id)]; u != nil && u.Tree {
				u.Parent, u.Note = g.parents[by], "by "+by.String()
				u.Wave = waveOf(ctx, o, client, by)
			}
		}
	}
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

// unitGraph is what depends on what, where charts come from, and what is not available offline. Units that are ordered in
// trees are beside it.
type unitGraph struct {
	engine.Graph
	units map[engine.UnitID]*dialect.OfflineUnit
	trees []*dialect.OfflineUnit
	// where are the clusters that units deploy to, when there are several.
	where map[engine.UnitID]string
	// counts are how many objects units hold, and parents which unit holds an object, in a cluster.
	counts  map[engine.UnitID]int
	parents map[engine.ObjectID]engine.UnitID
	// plain is the kind that is not named.
	plain schema.GroupKind
}

func newUnitGraph(catalogue dialect.Catalogue) unitGraph {
	return unitGraph{
		plain: catalogue.Default().GroupKind, Graph: engine.Graph{}, units: map[engine.UnitID]*dialect.OfflineUnit{}, where: map[engine.UnitID]string{},
		counts: map[engine.UnitID]int{}, parents: map[engine.ObjectID]engine.UnitID{},
	}
}

func (g *unitGraph) add(u *dialect.OfflineUnit) {
	g.units[u.Unit.ID] = u
	if u.Tree {
		g.trees = append(g.trees, u)
		return
	}
	g.Graph[u.Unit.ID] = console.UnitsOf(u.Unit.Dependencies)
}

func printGraph(streams console.IO, graph unitGraph, format string) error {
	ids := slices.SortedFunc(maps.Keys(graph.Graph), engine.UnitID.Compare)
	switch format {
	case "text":
		if len(ids) > 0 {
			printLayers(streams, graph, ids)
		}
		graph.printWaves(streams, graph.tops(), "")
	case "dot":
		printDOT(streams, graph, ids)
	case "mermaid":
		printMermaid(streams, graph, ids)
	case "json":
		if err := graph.printJSON(streams, ids); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown output %q; use text, dot, mermaid or json", format)
	}
	cycles := graph.Cycles()
	for _, cycle := range cycles {
		fmt.Fprintln(streams.Err, "✗ dependency cycle: "+engine.Path(cycle))
	}
	if len(cycles) > 0 {
		return console.ErrNo
	}
	return nil
}

// nodeName is how a unit is called in a graph.
func (g unitGraph) nodeName(id engine.UnitID) string {
	if id.GroupKind() == g.plain {
		return id.Namespace + "/" + id.Name
	}
	return id.String()
}

func printDOT(streams console.IO, graph unitGraph, ids []engine.UnitID) {
	fmt.Fprintln(streams.Out, "digraph headgate {")
	for _, id := range ids {
		fmt.Fprintf(streams.Out, "  %q;\n", graph.nodeName(id))
		for _, d := range graph.Graph[id] {
			fmt.Fprintf(streams.Out, "  %q -> %q;\n", graph.nodeName(d), graph.nodeName(id))
		}
		if chart := graph.units[id].Chart; chart.Text != "" {
			fmt.Fprintf(streams.Out, "  %q [shape=box];\n  %q -> %q [style=dashed];\n", chart.Source, chart.Source, graph.nodeName(id))
		}
	}
	graph.treeDOT(streams)
	fmt.Fprintln(streams.Out, "}")
}

func printMermaid(streams console.IO, graph unitGraph, ids []engine.UnitID) {
	fmt.Fprintln(streams.Out, "graph TD")
	for _, id := range ids {
		name := graph.nodeName(id)
		fmt.Fprintf(streams.Out, "  %s[%s]\n", mermaidID(name), name)
		for _, d := range graph.Graph[id] {
			fmt.Fprintf(streams.Out, "  %s --> %s\n", mermaidID(graph.nodeName(d)), mermaidID(name))
		}
		if chart := graph.units[id].Chart; chart.Text != "" {
			from := chart.Source.String()
			fmt.Fprintf(streams.Out, "  %s([%s]) -.-> %s\n", mermaidID(from), from, mermaidID(name))
		}
	}
	graph.treeMermaid(streams)
}

func mermaidID(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(name)
}

// printLayers prints the units by how many gates stand before them.
func printLayers(streams console.IO, graph unitGraph, ids []engine.UnitID) {
	depth, inCycle := gates(graph.Graph, ids), graph.InCycle()
	last := 0
	for _, id := range ids {
		last = max(last, depth[id])
	}
	for layer := 0; layer <= last; layer++ {
		fmt.Fprintf(streams.Out, "gate %d\n", layer)
		for _, id := range ids {
			if depth[id] == layer {
				note := graph.note(id)
				if inCycle[id] != nil {
					note += "  (in a cycle)"
				}
				fmt.Fprintln(streams.Out, "  "+graph.nodeName(id)+note)
			}
		}
	}
}

// gates are how many gates stand before each unit. Those of a cycle do not count each other.
func gates(graph engine.Graph, ids []engine.UnitID) map[engine.UnitID]int {
	depth := map[engine.UnitID]int{}
	inCycle := graph.InCycle()
	var depthOf func(id engine.UnitID) int
	depthOf = func(id engine.UnitID) int {
		if d, ok := depth[id]; ok {
			return d
		}
		depth[id] = 0
		most := 0
		for _, dep := range graph[id] {
			if inCycle[dep] == nil {
				most = max(most, depthOf(dep)+1)
			}
		}
		depth[id] = most
		return most
	}
	for _, id := range ids {
		depthOf(id)
	}
	return depth
}

// note says what a unit waits for, and where its chart comes from.
func (g unitGraph) note(id engine.UnitID) string {
	var text string
	if at := g.where[id]; at != "" {
		text = "  → " + at
	}
	if waits := g.Graph[id]; len(waits) > 0 {
		names := make([]string, len(waits))
		for i, d := range waits {
			names[i] = g.nodeName(d)
		}
		text += "  waits for " + strings.Join(names, ", ")
	}
	u := g.units[id]
	if u.Chart.Text != "" {
		text += "  (" + u.Chart.Text + ")"
	}
	if parent := g.units[u.Parent]; parent != nil && parent.Tree {
		text += "  (of " + g.nodeName(u.Parent) + ")"
	}
	if u.Elsewhere != "" {
		text += "  · " + u.Elsewhere
	}
	return text
}
