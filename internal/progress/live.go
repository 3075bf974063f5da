package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// maxLive bounds the units that the live view shows.
const maxLive = 8

// urgency orders phases by how much there is to see: what fails, what works, what waits.
var urgency = map[engine.Phase]int{
	engine.PhaseFailed: 0, engine.PhaseWaitingForHealth: 1, engine.PhaseApplying: 2, engine.PhasePruning: 2,
	engine.PhaseRendering: 2, engine.PhaseDeleting: 3, engine.PhaseWaitingForSource: 4, engine.PhaseWaitingForDependencies: 5,
}

// view is the block below the lines that up has printed: how far the whole is, and what is not
// ready yet. It is empty when everything is.
func view(states []runner.State, now time.Time, width int) []string {
	var open []runner.State
	ready, objects := 0, 0
	for _, s := range states {
		objects += s.Objects
		if s.Ready || s.Suspended {
			ready++
			continue
		}
		open = append(open, s)
	}
	if len(open) == 0 {
		return nil
	}
	slices.SortStableFunc(open, func(a, b runner.State) int {
		if d := urgency[a.Phase] - urgency[b.Phase]; d != 0 {
			return d
		}
		return a.Unit.Compare(b.Unit)
	})
	lines := []string{fmt.Sprintf("%s %d of %d ready, %d objects", bar(ready, len(states)), ready, len(states), objects)}
	for _, s := range open[:min(len(open), maxLive)] {
		message, _, _ := strings.Cut(s.Message, "\n")
		lines = append(lines, fmt.Sprintf("  %-30s %-22s %4s  %s", subjectOf(s.Unit), s.Phase, age(now.Sub(s.Since)), message))
	}
	if more := len(open) - maxLive; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	for i, line := range lines {
		lines[i] = clip(line, width)
	}
	return lines
}

// barWidth is the width of the bar that shows how far the whole is.
const barWidth = 24

func bar(done, all int) string {
	filled := barWidth * done / max(all, 1)
	return strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled)
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
