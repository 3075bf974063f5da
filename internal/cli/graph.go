package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

func newGraph(g *globals) *cobra.Command {
	o := offlineOptions{globals: g}
	var format string
	var check bool
	cmd := &cobra.Command{
		Use:   "graph [PATH]",
		Short: "Print the dependency graph, and its cycles",
		Long: `Print the dependency graph, in these steps:

  1. read the units of the cluster, Kustomizations and HelmReleases, or with PATH those of a repository
  2. print the dependencies, and where the charts of HelmReleases come from: as text in the order in
     which the units can be applied, as DOT or as Mermaid
  3. report every cycle

For a repository of Argo CD, it is the tree of Applications, by wave.

With --check and PATH it prints the problems of the repository instead: units that cannot be rendered, objects
that several units declare differently, and waits that can never end, by dependencies, by health checks, by kinds whose
definitions or namespaces come later, or by a combination. Each object is validated against the schemas of the
embedded API server and of the definitions in the repository: versions that are not served, missing or
unknown fields, invalid values, namespaces that nothing creates. Encrypted values are not validated,
and remote sources are skipped; with --charts the charts of HelmReleases are fetched and checked too.

A Kustomization is printed as NAMESPACE/NAME, anything else with its kind first. The exit code is 1
if there is a cycle, or --check finds a problem. Lines with "·" depend on something outside the repository.`,
		Example: "  headgate graph\n  headgate graph . -o mermaid\n  headgate graph . --check",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.cluster.Marks = true
			if len(args) > 0 {
				o.dir = args[0]
				switch p, argo, err := o.locateArgo(); {
				case err != nil:
					return err
				case argo:
					return o.graphArgo(cmd.Context(), p, format, check)
				}
			}
			if check {
				return checkGraph(cmd.Context(), o, args)
			}
			units, err := readGraph(cmd.Context(), o, args)
			if err != nil {
				return err
			}
			return printGraph(g.io, units, format)
		},
	}
	bindOffline(cmd, &o)
	bindFetches(cmd, &o)
	cmd.Flags().BoolVar(&check, "check", false, "check the repository at PATH, and print only its problems")
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, dot or mermaid")
	return cmd
}

// readGraph reads the units of the cluster, or those of a directory.
func readGraph(ctx context.Context, o offlineOptions, args []string) (unitGraph, error) {
	g := unitGraph{Graph: engine.Graph{}, charts: map[engine.UnitID]flux.ChartOrigin{}, elsewhere: map[engine.UnitID]string{}}
	if len(args) > 0 {
		o.dir = args[0]
		units, err := o.units(ctx)
		for _, u := range units {
			g.add(u.Declaration)
			g.elsewhere[u.Unit.ID] = u.Elsewhere
		}
		return g, err
	}
	client, err := o.client()
	if err != nil {
		return g, err
	}
	list, err := o.listUnits(ctx, client)
	if err != nil {
		return g, err
	}
	for _, u := range list {
		d, err := o.declaredBy(u)
		if err != nil {
			return g, err
		}
		g.add(d)
	}
	return g, nil
}

// unitGraph is what depends on what, where charts come from, and what is not available offline.
type unitGraph struct {
	engine.Graph
	charts    map[engine.UnitID]flux.ChartOrigin
	elsewhere map[engine.UnitID]string
}

func (g unitGraph) add(d flux.Declaration) {
	g.Graph[d.Unit.ID] = unitsOf(d.Unit.Dependencies)
	if d.Chart.Source.Kind != "" {
		g.charts[d.Unit.ID] = d.Chart
	}
}

// unitsOf are the units among dependencies.
func unitsOf(dependencies []engine.Dependency) []engine.UnitID {
	var units []engine.UnitID
	for _, d := range dependencies {
		if d.Unit != (engine.UnitID{}) {
			units = append(units, d.Unit)
		}
	}
	return units
}

func printGraph(streams IO, graph unitGraph, format string) error {
	ids := slices.SortedFunc(maps.Keys(graph.Graph), engine.UnitID.Compare)
	switch format {
	case "text":
		printLayers(streams, graph, ids)
	case "dot":
		printDOT(streams, graph, ids)
	case "mermaid":
		printMermaid(streams, graph, ids)
	default:
		return fmt.Errorf("unknown output %q; use text, dot or mermaid", format)
	}
	cycles := graph.Cycles()
	for _, cycle := range cycles {
		fmt.Fprintln(streams.Err, "✗ dependency cycle: "+engine.Path(cycle))
	}
	if len(cycles) > 0 {
		return errNo
	}
	return nil
}

// nodeName is how a unit is called in a graph.
func nodeName(id engine.UnitID) string {
	if id.GroupKind() == kustomizationKind {
		return id.Namespace + "/" + id.Name
	}
	return id.String()
}

func printDOT(streams IO, graph unitGraph, ids []engine.UnitID) {
	fmt.Fprintln(streams.Out, "digraph headgate {")
	for _, id := range ids {
		fmt.Fprintf(streams.Out, "  %q;\n", nodeName(id))
		for _, d := range graph.Graph[id] {
			fmt.Fprintf(streams.Out, "  %q -> %q;\n", nodeName(id), nodeName(d))
		}
		if chart, ok := graph.charts[id]; ok {
			fmt.Fprintf(streams.Out, "  %q [shape=box];\n  %q -> %q [style=dashed];\n", chart.Source, nodeName(id), chart.Source)
		}
	}
	fmt.Fprintln(streams.Out, "}")
}

func printMermaid(streams IO, graph unitGraph, ids []engine.UnitID) {
	fmt.Fprintln(streams.Out, "graph TD")
	for _, id := range ids {
		name := nodeName(id)
		fmt.Fprintf(streams.Out, "  %s[%s]\n", mermaidID(name), name)
		for _, d := range graph.Graph[id] {
			fmt.Fprintf(streams.Out, "  %s --> %s\n", mermaidID(nodeName(d)), mermaidID(name))
		}
		if chart, ok := graph.charts[id]; ok {
			from := chart.Source.String()
			fmt.Fprintf(streams.Out, "  %s([%s]) -.-> %s\n", mermaidID(from), from, mermaidID(name))
		}
	}
}

func mermaidID(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(name)
}

// printLayers prints the units by how many gates stand before them.
func printLayers(streams IO, graph unitGraph, ids []engine.UnitID) {
	depth := map[engine.UnitID]int{}
	inCycle := graph.InCycle()
	var depthOf func(id engine.UnitID) int
	depthOf = func(id engine.UnitID) int {
		if d, ok := depth[id]; ok {
			return d
		}
		depth[id] = 0
		most := 0
		for _, dep := range graph.Graph[id] {
			if inCycle[dep] == nil {
				most = max(most, depthOf(dep)+1)
			}
		}
		depth[id] = most
		return most
	}
	last := 0
	for _, id := range ids {
		last = max(last, depthOf(id))
	}
	for layer := 0; layer <= last; layer++ {
		fmt.Fprintf(streams.Out, "gate %d\n", layer)
		for _, id := range ids {
			if depth[id] == layer {
				fmt.Fprintln(streams.Out, "  "+nodeName(id)+graph.note(id))
			}
		}
	}
}

// note says what a unit waits for, and where its chart comes from.
func (g unitGraph) note(id engine.UnitID) string {
	var text string
	if waits := g.Graph[id]; len(waits) > 0 {
		names := make([]string, len(waits))
		for i, d := range waits {
			names[i] = nodeName(d)
		}
		text = "  waits for " + strings.Join(names, ", ")
	}
	if chart, ok := g.charts[id]; ok {
		text += "  (" + chart.String() + ")"
	}
	if elsewhere := g.elsewhere[id]; elsewhere != "" {
		text += "  · " + elsewhere
	}
	return text
}
