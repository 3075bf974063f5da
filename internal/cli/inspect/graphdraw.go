package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// drawing is a graph as nodes and links, for every language of pictures.
type drawing struct {
	nodes []node
	links []link
}

// node is a unit, or something else that a unit waits for.
type node struct {
	name, label string
	// cycle is set for a unit of a cycle, missing for one that does not exist, object for an object that no unit is known to declare.
	cycle, missing, object bool
}

// line is how a link is drawn.
type line int

const (
	// solid leads to what waits, and in a tree to what is made.
	solid line = iota
	// dashed leads to what waits in a tree.
	dashed
	// makes leads to what is made, beside dependencies.
	makes
	// fromSource leads from the source of a chart.
	fromSource
)

type link struct {
	from, to string
	line     line
	// by is the object that a dependency names, and cycle is set when the link is part of a cycle.
	by    string
	cycle bool
}

// drawing draws the graph.
func (g *unitGraph) drawing() *drawing {
	d := &drawing{}
	for _, id := range g.gated {
		u := g.units[id]
		d.nodes = append(d.nodes, node{name: g.nodeName(id), label: g.nodeName(id), cycle: g.inKnot(id)})
		d.needs(g, id, solid)
		if maker := g.maker(u); maker != nil && g.shows(u.Parent) {
			d.links = append(d.links, link{from: g.nodeName(u.Parent), to: g.nodeName(id), line: makes, cycle: g.inKnot(id, u.Parent)})
		}
		if u.Chart.Text != "" {
			d.links = append(d.links, link{from: u.Chart.Source.String(), to: g.nodeName(id), line: fromSource})
		}
	}
	for _, u := range g.trees {
		id := u.Unit.ID
		d.nodes = append(d.nodes, node{name: g.nodeName(id), label: id.Name + waveNote(u), cycle: g.inKnot(id)})
		if u.Parent != (engine.UnitID{}) && g.shows(u.Parent) {
			d.links = append(d.links, link{from: g.nodeName(u.Parent), to: g.nodeName(id)})
		}
		d.needs(g, id, dashed)
	}
	return d
}

// needs draws what a unit waits for.
func (d *drawing) needs(g *unitGraph, id engine.UnitID, by line) {
	for _, n := range g.needs[id] {
		l := link{to: g.nodeName(id), line: by}
		switch {
		case g.units[n.unit] != nil && !g.shows(n.unit):
			continue
		case n.unit == (engine.UnitID{}):
			l.from = n.object.String()
			d.once(node{name: l.from, label: l.from, object: true})
		case n.missing:
			l.from = g.nodeName(n.unit)
			d.once(node{name: l.from, label: l.from + " (missing)", missing: true})
		default:
			l.from, l.cycle = g.nodeName(n.unit), g.inKnot(id, n.unit)
			if n.object != (engine.ObjectID{}) {
				l.by = n.object.String()
			}
		}
		d.links = append(d.links, l)
	}
}

func (d *drawing) once(n node) {
	if !slices.Contains(d.nodes, n) {
		d.nodes = append(d.nodes, n)
	}
}

func waveNote(u *dialect.OfflineUnit) string {
	if u.Parent == (engine.UnitID{}) {
		return ""
	}
	return fmt.Sprintf(" (wave %d)", u.Wave)
}

func (d *drawing) printDOT(streams console.IO) {
	fmt.Fprintln(streams.Out, "digraph headgate {")
	for _, n := range d.nodes {
		var with []string
		if n.label != n.name {
			with = append(with, fmt.Sprintf("label=%q", n.label))
		}
		switch {
		case n.cycle:
			with = append(with, "color=red")
		case n.missing:
			with = append(with, "color=red", "style=dashed")
		case n.object:
			with = append(with, "shape=box")
		}
		fmt.Fprintf(streams.Out, "  %q%s;\n", n.name, attributes(with))
	}
	for _, l := range d.links {
		var with []string
		switch l.line {
		case fromSource:
			fmt.Fprintf(streams.Out, "  %q [shape=box];\n", l.from)
			with = append(with, "style=dashed")
		case dashed:
			with = append(with, "style=dashed")
		case makes:
			with = append(with, "style=dotted", `label="makes"`)
		case solid:
		}
		if l.by != "" {
			with = append(with, fmt.Sprintf("label=%q", l.by))
		}
		if l.cycle {
			with = append(with, "color=red")
		}
		fmt.Fprintf(streams.Out, "  %q -> %q%s;\n", l.from, l.to, attributes(with))
	}
	fmt.Fprintln(streams.Out, "}")
}

func attributes(with []string) string {
	if len(with) == 0 {
		return ""
	}
	return " [" + strings.Join(with, ", ") + "]"
}

func (d *drawing) printMermaid(streams console.IO) {
	fmt.Fprintln(streams.Out, "graph TD")
	var cycle, missing, red []string
	for _, n := range d.nodes {
		id := mermaidID(n.name)
		label := strings.NewReplacer("(", "", ")", "").Replace(n.label)
		if n.object {
			label = "[" + label + "]"
		}
		fmt.Fprintf(streams.Out, "  %s[%s]\n", id, label)
		switch {
		case n.cycle:
			cycle = append(cycle, id)
		case n.missing:
			missing = append(missing, id)
		}
	}
	for i, l := range d.links {
		from, arrow := mermaidID(l.from), "-->"
		switch l.line {
		case fromSource:
			from, arrow = from+"(["+l.from+"])", "-.->"
		case dashed:
			arrow = "-.->"
		case makes:
			arrow = "-. makes .->"
		case solid:
		}
		if l.by != "" {
			arrow += "|" + l.by + "|"
		}
		fmt.Fprintf(streams.Out, "  %s %s %s\n", from, arrow, mermaidID(l.to))
		if l.cycle {
			red = append(red, fmt.Sprint(i))
		}
	}
	if len(cycle) > 0 {
		fmt.Fprintf(streams.Out, "  classDef cycle stroke:red\n  class %s cycle\n", strings.Join(cycle, ","))
	}
	if len(missing) > 0 {
		fmt.Fprintf(streams.Out, "  classDef missing stroke:red,stroke-dasharray:4\n  class %s missing\n", strings.Join(missing, ","))
	}
	if len(red) > 0 {
		fmt.Fprintf(streams.Out, "  linkStyle %s stroke:red\n", strings.Join(red, ","))
	}
}

func mermaidID(name string) string {
	return strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(name)
}
