package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/engine"
)

// graphArgo prints the tree of Applications of a repository, by waves, or what is wrong with it.
func (o offlineOptions) graphArgo(ctx context.Context, p place, format string, check bool) error {
	r, err := o.repository(ctx, p)
	if err != nil {
		return err
	}
	if check {
		return o.checkArgo(ctx, p, r)
	}
	switch format {
	case "text":
		printWaves(o.io, r, engine.UnitID{}, "")
	case "dot":
		fmt.Fprintln(o.io.Out, "digraph headgate {")
		for _, a := range r.Apps {
			fmt.Fprintf(o.io.Out, "  %q [label=%q];\n", nodeName(a.ID), a.ID.Name+waveNote(a))
			for _, e := range edgesOf(a) {
				fmt.Fprintf(o.io.Out, "  %q -> %q%s;\n", nodeName(e.from), nodeName(a.ID), choose(e.parent, "", " [style=dashed]"))
			}
		}
		fmt.Fprintln(o.io.Out, "}")
	case "mermaid":
		fmt.Fprintln(o.io.Out, "graph TD")
		for _, a := range r.Apps {
			fmt.Fprintf(o.io.Out, "  %s[%s]\n", mermaidID(nodeName(a.ID)), a.ID.Name+strings.NewReplacer("(", "", ")", "").Replace(waveNote(a)))
			for _, e := range edgesOf(a) {
				fmt.Fprintf(o.io.Out, "  %s %s %s\n", mermaidID(nodeName(e.from)), choose(e.parent, "-->", "-.->"), mermaidID(nodeName(a.ID)))
			}
		}
	default:
		return fmt.Errorf("unknown output %q; use text, dot or mermaid", format)
	}
	return o.endless(r)
}

// edge is an Application that leads to another one, or that is depended on.
type edge struct {
	from   engine.UnitID
	parent bool
}

// edgesOf are the edges to an Application: from its parent, and from those that it depends on.
func edgesOf(a offline.App) []edge {
	var edges []edge
	if a.Parent != (engine.UnitID{}) {
		edges = append(edges, edge{a.Parent, true})
	}
	needs, err := appDepends(a.Object)
	if err != nil {
		return edges
	}
	for _, id := range needs {
		edges = append(edges, edge{from: id})
	}
	return edges
}

// choose is one of two texts.
func choose(first bool, one, other string) string {
	if first {
		return one
	}
	return other
}

// endless names the waits that never end.
func (o offlineOptions) endless(r *offline.Repository) error {
	never := false
	for _, f := range findings(r, nil) {
		if f.Never {
			never = true
			fmt.Fprintln(o.io.Err, "✗ a wait that never ends: "+f.Text)
		}
	}
	if o.tellSets(r) || never {
		return errNo
	}
	return nil
}

// printWaves prints the Applications that another one declares, wave by wave, with those below them.
func printWaves(streams IO, r *offline.Repository, parent engine.UnitID, indent string) {
	var members []offline.App
	for _, a := range r.Apps {
		if a.Parent == parent {
			members = append(members, a)
		}
	}
	slices.SortStableFunc(members, func(a, b offline.App) int { return cmp.Or(a.Wave-b.Wave, a.ID.Compare(b.ID)) })
	for i, a := range members {
		if indent != "" && (i == 0 || members[i-1].Wave != a.Wave) {
			fmt.Fprintf(streams.Out, "%swave %d\n", indent, a.Wave)
		}
		at := indent
		if indent != "" {
			at += "  "
		}
		fmt.Fprintln(streams.Out, at+nodeName(a.ID)+appNote(a))
		printWaves(streams, r, a.ID, at+"  ")
	}
}

func waveNote(a offline.App) string {
	if a.Parent == (engine.UnitID{}) {
		return ""
	}
	return fmt.Sprintf(" (wave %d)", a.Wave)
}

// appNote says what an Application waits for, what generates it, and what it declares.
func appNote(a offline.App) string {
	text := ""
	if needs, err := appDepends(a.Object); err == nil && len(needs) > 0 {
		names := make([]string, len(needs))
		for i, id := range needs {
			names[i] = nodeName(id)
		}
		text += "  waits for " + strings.Join(names, ", ")
	}
	if a.Set != "" {
		text += "  (of ApplicationSet " + a.Set + ")"
	}
	switch {
	case a.Err != nil:
		text += "  ✗ " + oneLine(a.Err.Error())
	case a.Skipped != "":
		text += "  · not rendered"
	default:
		text += fmt.Sprintf("  %d objects", len(a.Objects))
	}
	return text
}

// checkArgo prints what is wrong with a repository of an Argo CD.
func (o offlineOptions) checkArgo(ctx context.Context, p place, r *offline.Repository) error {
	c := &checker{io: o.io, catalogue: o.catalogue}
	skipped := 0
	for _, a := range r.Apps {
		switch {
		case a.Err != nil:
			c.tell("%s cannot be rendered: %s", a.ID, a.Err)
		case a.Skipped != "":
			skipped++
		}
	}
	for _, s := range r.Sets {
		if s.Err != nil {
			c.tell("%s generates nothing: %s", s.ID, s.Err)
		}
		for _, problem := range s.Problems {
			c.tell("%s: %s", s.ID, problem)
		}
	}
	// What is wrong with the settings was said when they were found.
	s, _ := offline.FindSettings(p.Repository)
	objects, around := argoObjects(r, s)
	server, err := c.survey(ctx, objects, around)
	if err != nil {
		return err
	}
	for _, f := range findings(r, server) {
		if f.Never {
			c.tell("a wait that never ends: %s", f.Text)
		} else {
			c.tell("%s", f.Text)
		}
	}
	found, err := offline.Scan(p.Repository)
	if err != nil {
		return err
	}
	for _, d := range r.Unread(found) {
		c.tell("%s: nothing leads to %s %s; add an Application that reads it, or delete it", d.File, d.Object.GetKind(), d.Object.GetName())
	}
	if skipped > 0 {
		c.note("%d Applications are not rendered, since they read other repositories or charts; --charts fetches them", skipped)
	}
	return c.end("%d Applications: every wait can end", len(r.Apps))
}
