package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

func newGraph(g *globals) *cobra.Command {
	o := offlineOptions{globals: g}
	var format string
	cmd := &cobra.Command{
		Use:   "graph [PATH]",
		Short: "Print the dependency graph, and its cycles",
		Long: `Print the dependency graph, in these steps:

  1. read the units of the cluster, or with PATH those of a repository
  2. print what depends on what: as text in the order in which the units can go, as DOT or as Mermaid
  3. name every cycle

The exit code is 1 when there is a cycle.`,
		Example: "  headgate graph\n  headgate graph . -o mermaid",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			graph, err := readGraph(cmd.Context(), o, args)
			if err != nil {
				return err
			}
			return printGraph(g.io, graph, format)
		},
	}
	bindOffline(cmd, &o)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text, dot or mermaid")
	return cmd
}

func readGraph(ctx context.Context, o offlineOptions, args []string) (engine.Graph, error) {
	graph := engine.Graph{}
	if len(args) > 0 {
		o.dir = args[0]
		units, err := o.units(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range units {
			graph[u.Unit.ID] = nil
			for _, d := range u.Unit.Dependencies {
				if d.Unit != (engine.UnitID{}) {
					graph[u.Unit.ID] = append(graph[u.Unit.ID], d.Unit)
				}
			}
		}
		return graph, nil
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(kustomizationServed.resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, unreachable(fmt.Errorf("listing kustomizations: %w", err))
	}
	for i := range list.Items {
		u := &list.Items[i]
		id := engine.UnitID{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
		graph[id] = unitDependencies(u)
	}
	return graph, nil
}

func unitDependencies(u *unstructured.Unstructured) []engine.UnitID {
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "dependsOn")
	var deps []engine.UnitID
	for _, item := range list {
		d, _ := item.(map[string]any)
		id := engine.UnitID{Kind: u.GetKind(), Namespace: u.GetNamespace()}
		id.Name, _ = d["name"].(string)
		if namespace, _ := d["namespace"].(string); namespace != "" {
			id.Namespace = namespace
		}
		deps = append(deps, id)
	}
	return deps
}

func printGraph(streams IO, graph engine.Graph, format string) error {
	ids := make([]engine.UnitID, 0, len(graph))
	for id := range graph {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, engine.UnitID.Compare)
	switch format {
	case "text":
		printLayers(streams, graph, ids)
	case "dot":
		fmt.Fprintln(streams.Out, "digraph headgate {")
		for _, id := range ids {
			fmt.Fprintf(streams.Out, "  %q;\n", id.Namespace+"/"+id.Name)
			for _, d := range graph[id] {
				fmt.Fprintf(streams.Out, "  %q -> %q;\n", id.Namespace+"/"+id.Name, d.Namespace+"/"+d.Name)
			}
		}
		fmt.Fprintln(streams.Out, "}")
	case "mermaid":
		fmt.Fprintln(streams.Out, "graph TD")
		for _, id := range ids {
			fmt.Fprintf(streams.Out, "  %s[%s/%s]\n", mermaidID(id), id.Namespace, id.Name)
			for _, d := range graph[id] {
				fmt.Fprintf(streams.Out, "  %s --> %s\n", mermaidID(d), mermaidID(id))
			}
		}
	default:
		return fmt.Errorf("output %q is not known; use text, dot or mermaid", format)
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

func mermaidID(id engine.UnitID) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(id.Namespace + "_" + id.Name)
}

// printLayers prints the units by how many gates stand before them.
func printLayers(streams IO, graph engine.Graph, ids []engine.UnitID) {
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
	last := 0
	for _, id := range ids {
		last = max(last, depthOf(id))
	}
	for layer := 0; layer <= last; layer++ {
		fmt.Fprintf(streams.Out, "gate %d\n", layer)
		for _, id := range ids {
			if depth[id] != layer {
				continue
			}
			line := "  " + id.Namespace + "/" + id.Name
			for i, d := range graph[id] {
				if i == 0 {
					line += "  waits for "
				} else {
					line += ", "
				}
				line += d.Namespace + "/" + d.Name
			}
			fmt.Fprintln(streams.Out, line)
		}
	}
}
