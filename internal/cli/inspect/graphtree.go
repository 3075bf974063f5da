package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// tops are the units at the top of trees.
func (g *unitGraph) tops() []*dialect.OfflineUnit {
	return g.below(func(u *dialect.OfflineUnit) bool {
		parent := g.units[u.Parent]
		return parent == nil || !parent.Tree
	})
}

// below are the units of trees that a test takes, by wave.
func (g *unitGraph) below(takes func(*dialect.OfflineUnit) bool) []*dialect.OfflineUnit {
	var members []*dialect.OfflineUnit
	for _, u := range g.trees {
		if takes(u) {
			members = append(members, u)
		}
	}
	slices.SortStableFunc(members, func(a, b *dialect.OfflineUnit) int {
		return cmp.Or(a.Wave-b.Wave, a.Unit.ID.Compare(b.Unit.ID))
	})
	return members
}

// printWaves prints units that another one declares, wave by wave, with those below them.
func (g *unitGraph) printWaves(streams console.IO, members []*dialect.OfflineUnit, indent string) {
	for i, u := range members {
		if indent != "" && (i == 0 || members[i-1].Wave != u.Wave) {
			fmt.Fprintf(streams.Out, "%swave %d\n", indent, u.Wave)
		}
		at := indent
		if indent != "" {
			at += "  "
		}
		fmt.Fprintln(streams.Out, at+g.nodeName(u.Unit.ID)+g.treeNote(u))
		g.printWaves(streams, g.below(func(other *dialect.OfflineUnit) bool { return other.Parent == u.Unit.ID }), at+"  ")
	}
}

// treeNote says what a unit of a tree waits for, what generates and declares it, and what it declares.
func (g *unitGraph) treeNote(u *dialect.OfflineUnit) string {
	text := ""
	if at := g.where[u.Unit.ID]; at != "" {
		text = "  → " + at
	}
	text += g.waitsText(u.Unit.ID)
	if u.Note != "" {
		text += "  (" + u.Note + ")"
	}
	if parent := g.units[u.Parent]; parent != nil && !parent.Tree {
		text += "  (of " + g.nodeName(u.Parent) + ")"
	}
	if g.inKnot(u.Unit.ID) {
		text += cycleNote
	}
	switch {
	case u.Err != nil:
		text += "  ✗ " + console.OneLine(u.Err.Error())
	case u.Skipped:
		text += "  · not rendered"
	default:
		text += "  " + objectsCount(len(u.Objects)+g.counts[u.Unit.ID])
	}
	return text
}

func objectsCount(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
