package inspect

import (
	"fmt"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// cycleNote is behind the units of a cycle.
const cycleNote = "  (in a cycle)"

func printGraph(streams console.IO, graph *unitGraph, format string) error {
	switch format {
	case "text":
		if len(graph.gated) > 0 {
			graph.printLayers(streams)
		}
		graph.printWaves(streams, graph.tops(), "")
	case "dot":
		graph.drawing().printDOT(streams)
	case "mermaid":
		graph.drawing().printMermaid(streams)
	case "json":
		if err := graph.printJSON(streams); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown output %q; use text, dot, mermaid or json", format)
	}
	for _, cycle := range graph.cycles {
		fmt.Fprintln(streams.Err, "✗ dependency cycle: "+engine.Path(cycle))
	}
	if len(graph.cycles) > 0 {
		return console.ErrNo
	}
	return nil
}

// printLayers prints the units by how many gates stand before them.
func (g *unitGraph) printLayers(streams console.IO) {
	depth := g.gates()
	last := 0
	for _, id := range g.gated {
		last = max(last, depth[id])
	}
	for layer := 0; layer <= last; layer++ {
		heading := fmt.Sprintf("gate %d\n", layer)
		for _, id := range g.gated {
			if depth[id] == layer {
				fmt.Fprintf(streams.Out, "%s  %s%s\n", heading, g.nodeName(id), g.note(id))
				heading = ""
			}
		}
	}
}

// note says what a unit waits for, where its chart comes from, and what makes it, unless that is a root.
func (g *unitGraph) note(id engine.UnitID) string {
	u, text := g.units[id], ""
	if at := g.where[id]; at != "" {
		text = "  → " + at
	}
	text += g.waitsText(id)
	if u.Chart.Text != "" {
		text += "  (" + u.Chart.Text + ")"
	}
	if maker := g.maker(u); maker != nil && (maker.Tree || g.maker(maker) != nil) {
		text += "  (of " + g.nodeName(u.Parent) + ")"
	}
	if g.inKnot(id) {
		text += cycleNote
	}
	if u.Elsewhere != "" {
		text += "  · " + u.Elsewhere
	}
	return text
}
