package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Rows that the live view takes at most, and that it leaves to the lines above it on a small screen.
const (
	maxLive  = 16
	leftLive = 6
)

// urgency orders phases by how much there is to see: what fails, what works, what waits.
var urgency = map[engine.Phase]int{
	engine.PhaseFailed: 0, engine.PhaseWaitingForHealth: 1, engine.PhaseApplying: 2, engine.PhasePruning: 2,
	engine.PhaseRendering: 2, engine.PhaseDeleting: 3, engine.PhaseWaitingForSource: 4, engine.PhaseWaitingForDependencies: 5,
}

// view is the tree below the lines that up has printed: how far the whole is, gate by gate, and the units that are not ready
// yet, below the one that is made of them. It is empty when everything is ready.
type view struct {
	states []runner.State
	byID   map[engine.UnitID]runner.State
	// ranks are the gates of units: how many others are before them, one after the other.
	ranks map[engine.UnitID]int
	// parts are the open units that another open unit is made of; nested are those that are part of one.
	parts  map[engine.UnitID][]runner.State
	nested map[engine.UnitID]bool
	// all has every open unit get a row of its own.
	all   bool
	now   time.Time
	width int
	// names is the width of the column of names.
	names int
}

// maxNames is the width of the widest column of names.
const maxNames = 40

func newView(states []runner.State, now time.Time, width int, all bool) view {
	v := view{
		states: states, byID: map[engine.UnitID]runner.State{}, ranks: map[engine.UnitID]int{}, parts: map[engine.UnitID][]runner.State{},
		nested: map[engine.UnitID]bool{}, all: all, now: now, width: width,
	}
	for _, s := range states {
		v.byID[s.Unit] = s
	}
	for _, s := range states {
		v.rank(s.Unit)
		if open(s) {
			v.names = max(v.names, utf8.RuneCountInString(subjectOf(s.Unit))+6)
		}
	}
	// On a narrow screen names leave half of the line to what is waited for.
	v.names = min(v.names, maxNames, width/2)
	for _, s := range states {
		for _, w := range s.Waits {
			id, is := engine.UnitIn(w.On)
			part, known := v.byID[id]
			if is && known && open(part) && !v.nested[id] && !v.above(id, s.Unit) && !slices.Contains(s.Depends, id) {
				v.nested[id] = true
				v.parts[s.Unit] = append(v.parts[s.Unit], part)
			}
		}
	}
	return v
}

// open reports whether a unit is still to become ready.
func open(s runner.State) bool { return !s.Ready && !s.Suspended }

// rank counts the gates before a unit. One in a cycle counts as if the cycle ended where it is met again.
func (v view) rank(id engine.UnitID) int {
	if rank, known := v.ranks[id]; known {
		return rank
	}
	v.ranks[id] = 0
	rank := 0
	for _, other := range v.byID[id].Depends {
		if _, known := v.byID[other]; known {
			rank = max(rank, v.rank(other)+1)
		}
	}
	v.ranks[id] = rank
	return rank
}

// above reports whether a unit is the other one, or stands above it in the tree.
func (v view) above(id, other engine.UnitID) bool {
	return id == other || slices.ContainsFunc(v.parts[id], func(s runner.State) bool { return v.above(s.Unit, other) })
}

// lines are those of the view, at most so many.
func (v view) lines(room int) []string {
	ready, objects, gates := 0, 0, 0
	for _, s := range v.states {
		objects += s.Objects
		gates = max(gates, v.ranks[s.Unit]+1)
		if !open(s) {
			ready++
		}
	}
	if ready == len(v.states) {
		return nil
	}
	lines := []string{fmt.Sprintf("%s %d of %d ready, %d objects", bar(ready, len(v.states), barWidth), ready, len(v.states), objects)}
	for gate := range gates {
		lines = append(lines, v.gate(gate, gates > 1)...)
	}
	if room = max(room, 2); len(lines) > room {
		more := len(lines) - room + 1
		lines = append(lines[:room-1], fmt.Sprintf("  and %d more lines", more))
	}
	for i, line := range lines {
		lines[i] = clip(line, v.width)
	}
	return lines
}

// gate are the lines of the units behind so many others: a heading where there are several gates, with the names of those that only
// wait for others, and a row for each of the rest.
func (v view) gate(gate int, heading bool) []string {
	var members []runner.State
	var waiting []string
	done, all := 0, 0
	for _, s := range v.states {
		if v.ranks[s.Unit] != gate {
			continue
		}
		all++
		switch {
		case !open(s):
			done++
		case v.nested[s.Unit]:
		case heading && !v.all && s.Phase == engine.PhaseWaitingForDependencies:
			waiting = append(waiting, subjectOf(s.Unit))
		default:
			members = append(members, s)
		}
	}
	if done == all {
		return nil
	}
	var lines []string
	if heading {
		line := fmt.Sprintf("gate %-2d %s %d/%d", gate, bar(done, all, partWidth), done, all)
		if len(waiting) > 0 {
			line += "  " + strings.Join(waiting, ", ")
		}
		lines = append(lines, line)
	}
	return append(lines, v.rows(members, "  ")...)
}

// rows are those of units, each followed by the ones it is made of.
func (v view) rows(members []runner.State, indent string) []string {
	slices.SortStableFunc(members, func(a, b runner.State) int {
		if d := urgency[a.Phase] - urgency[b.Phase]; d != 0 {
			return d
		}
		return a.Unit.Compare(b.Unit)
	})
	var lines []string
	for _, s := range members {
		lines = append(lines, v.row(s, indent))
		lines = append(lines, v.rows(v.parts[s.Unit], indent+"  ")...)
	}
	return lines
}

// row is the line of a unit: how it is, its name, how much of it is ready, since when, and what it does or waits for.
func (v view) row(s runner.State, indent string) string {
	mark := "·"
	switch {
	case s.Phase == engine.PhaseFailed:
		mark = "✗"
	case waits[s.Phase] || len(s.Waits) > 0:
		mark = "◌"
	}
	name := clip(fmt.Sprintf("%s%s %s", indent, mark, subjectOf(s.Unit)), v.names+1)
	part := ""
	if waiting := len(s.Waits); s.Objects > 0 && waiting <= s.Objects && s.Phase != engine.PhaseFailed {
		part = bar(s.Objects-waiting, s.Objects, partWidth)
	}
	return fmt.Sprintf("%-*s %-*s %3s  %s", v.names, name, partWidth, part, age(v.now.Sub(s.Since)), v.doing(s))
}

// verbs are what a unit does in a phase in which it waits for nothing.
var verbs = map[engine.Phase]string{
	engine.PhaseRendering: "renders", engine.PhaseApplying: "applies", engine.PhasePruning: "prunes", engine.PhaseDeleting: "is being deleted",
}

func (v view) doing(s runner.State) string {
	if verb := verbs[s.Phase]; verb != "" && len(s.Waits) == 0 {
		return verb
	}
	if len(s.Waits) > 0 && s.Phase != engine.PhaseFailed && s.Phase != engine.PhaseWaitingForDependencies {
		return counted(s.Waits, v.all)
	}
	message, _, _ := strings.Cut(s.Message, "\n")
	return message
}

// Widths of the bars that show how far the whole is, and a part of it.
const barWidth, partWidth = 24, 8

func bar(done, all, width int) string {
	filled := width * done / max(all, 1)
	return strings.Repeat("█", filled) + strings.Repeat("░", width-filled)
}

func age(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return fmt.Sprintf("%dm", int(d.Minutes()))
}

// clip cuts a line to the width of the terminal.
func clip(line string, width int) string {
	runes := []rune(line)
	if width <= 1 || len(runes) < width {
		return line
	}
	return string(runes[:width-2]) + "…"
}

// fit are lines as a terminal has room for them: what cannot be erased again must not be written.
func fit(lines []string, width, height int) []string {
	room := max(1, height-1)
	var fitting []string
	for i, line := range lines {
		if i == room-1 && len(lines) > room {
			return append(fitting, clip(fmt.Sprintf("and %d more lines", len(lines)-i), width))
		}
		fitting = append(fitting, clip(line, width))
	}
	return fitting
}

// rowsOf is how many rows of a screen lines take, those that are wider than it more than one.
func rowsOf(lines []string, width int) int {
	rows := 0
	for _, line := range lines {
		rows += max(1, (utf8.RuneCountInString(line)+width-1)/max(width, 1))
	}
	return rows
}
