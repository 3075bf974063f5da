// Package causes says in a few lines why not everything is ready: the units that are in their own way, how many wait for them, and the
// next command. It knows where units stand, from an engine of this process or from their objects, and prints nothing.
package causes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/runner"
)

const (
	// chainNames is how many units of which the same is said are named.
	chainNames = 3
	// chainWidth is how much of a message is printed.
	chainWidth = 400
)

// Lines words why not everything is ready: how many causes there are, the units that are in their own way, each in one line, and those of which
// the same is said together. Those that only wait for them are counted. The last line is the next command.
func Lines(states []runner.State) []string {
	byID := map[engine.UnitID]runner.State{}
	for _, st := range states {
		byID[st.Unit] = st
	}
	var open, causes []runner.State
	for _, st := range states {
		if st.Ready || st.Suspended {
			continue
		}
		open = append(open, st)
		if !behind(st, byID) {
			causes = append(causes, st)
		}
	}
	if len(causes) == 0 {
		// Each waits for another one.
		causes = open
	}
	if len(open) == 0 {
		return nil
	}
	reasons, lines := worded(causes, byID)
	lines = append([]string{headline(reasons, len(open), len(states))}, lines...)
	switch waiting := len(open) - len(causes); {
	case waiting == 1:
		lines = append(lines, "  1 more unit waits for that")
	case waiting > 1:
		lines = append(lines, fmt.Sprintf("  %d more units wait for that", waiting))
	}
	return append(lines, "  try: "+next(causes))
}

// next is the command that helps with the first cause: one that gives a key, where it lacks one.
func next(causes []runner.State) string {
	if LacksKey(causes[0].Message) {
		return "headgate up PATH --age-key-file FILE, or --simulate for values that stand in"
	}
	return "headgate why " + causes[0].Unit.String()
}

// headline counts the causes and what they block.
func headline(causes, open, all int) string {
	subject, unit := "1 cause blocks", "units"
	if causes > 1 {
		subject = fmt.Sprintf("%d causes block", causes)
	}
	if all == 1 {
		unit = "unit"
	}
	return fmt.Sprintf("%s %d of %d %s:", subject, open, all, unit)
}

// stances are what units of a phase do, one and several of them.
var stances = map[engine.Phase][2]string{
	engine.PhaseFailed:                 {"failed", "failed"},
	engine.PhaseWaitingForDependencies: {"waits for dependencies", "wait for dependencies"},
	engine.PhaseWaitingForHealth:       {"waits for objects", "wait for objects"},
	engine.PhaseWaitingForSource:       {"waits for its source", "wait for their sources"},
	engine.PhaseApplying:               {"is being applied", "are being applied"},
	engine.PhaseRendering:              {"is being rendered", "are being rendered"},
	engine.PhasePruning:                {"is being pruned", "are being pruned"},
	engine.PhaseDeleting:               {"is being deleted", "are being deleted"},
}

// stance is what units of a phase do.
func stance(phase engine.Phase, several bool) string {
	words, known := stances[phase]
	switch {
	case !known:
		return "not ready (" + string(phase) + ")"
	case several:
		return words[1]
	}
	return words[0]
}

// behind reports whether a unit waits for another one that is not ready: one that it depends on, or that it says
// it waits for, such as a child. A unit that failed on its own waits for nothing.
func behind(st runner.State, byID map[engine.UnitID]runner.State) bool {
	if st.Phase == engine.PhaseFailed && st.Reason != engine.ReasonHealthCheckFailed {
		return false
	}
	late := func(id engine.UnitID) bool {
		other, known := byID[id]
		return known && other.Unit != st.Unit && !other.Ready && !other.Suspended
	}
	return slices.ContainsFunc(st.Depends, late) || slices.ContainsFunc(st.Waits, func(w engine.Wait) bool {
		id, may := engine.UnitIn(w.On)
		return may && late(id) || st.Phase == engine.PhaseWaitingForDependencies && explained(w.On, byID)
	})
}

// explained reports whether a unit that is not ready says of an object that it is in the way: what depends on the object waits for that unit.
// The message of a unit that waits for health also names what its children wait for, so only its own waits count.
func explained(object engine.Subject, byID map[engine.UnitID]runner.State) bool {
	name := object.String()
	for _, st := range byID {
		switch {
		case st.Ready || st.Suspended || st.Phase == engine.PhaseWaitingForDependencies:
		case st.Phase == engine.PhaseWaitingForHealth || st.Reason == engine.ReasonHealthCheckFailed:
			if slices.ContainsFunc(st.Waits, func(w engine.Wait) bool { return w.On.String() == name }) {
				return true
			}
		case strings.Contains(st.Message+" ", name+":") || strings.Contains(st.Message+" ", name+" "):
			return true
		}
	}
	return false
}

// alike is what is said of a unit.
type alike struct {
	phase   engine.Phase
	message string
}

// worded words where units stand, those that stand alike together, and counts what is said.
func worded(states []runner.State, byID map[engine.UnitID]runner.State) (reasons int, lines []string) {
	var order []alike
	units := map[alike][]runner.State{}
	for _, st := range states {
		key := alike{st.Phase, shortened(st.Message)}
		if units[key] == nil {
			order = append(order, key)
		}
		units[key] = append(units[key], st)
	}
	for _, key := range order {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("  %s %s: %s", subjects(units[key]), stance(key.phase, len(units[key]) > 1), key.message), ": "))
		for _, st := range units[key] {
			for _, dep := range st.Depends {
				line := fmt.Sprintf("    it depends on %s, which does not exist", dep)
				if _, there := byID[dep]; !there && !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return len(order), lines
}

// healthPrefix begins messages about what the stance of their units says already.
const healthPrefix = "waiting for the health of: "

// shortened is the first line of a message, up to a width.
func shortened(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	message = strings.TrimPrefix(engine.Plain(message), healthPrefix)
	if runes := []rune(message); len(runes) > chainWidth {
		return string(runes[:chainWidth]) + "…"
	}
	return message
}

// subjects names units of which the same is said.
func subjects(states []runner.State) string {
	if len(states) == 1 {
		return states[0].Unit.String()
	}
	names := make([]string, len(states))
	for i, st := range states {
		names[i] = st.Unit.String()
	}
	return fmt.Sprintf("%d units (%s)", len(states), engine.First(names, chainNames))
}

// LacksKey reports whether a message says that the key is missing which up would have stored, or that none of the keys fits.
func LacksKey(message string) bool {
	return strings.Contains(message, "none of the keys can decrypt") ||
		strings.Contains(message, roots.AgeSecret) && strings.Contains(message, "not found")
}
