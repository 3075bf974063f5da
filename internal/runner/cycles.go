package runner

import "github.com/headgate-dev/headgate/internal/engine"

// findCycles searches for cycles of dependencies and wakes units that entered one, or left one.
func (r *Runner) findCycles() {
	graph := engine.Graph{}
	for id, u := range r.units {
		var deps []engine.UnitID
		for _, d := range u.Dependencies {
			if d.Unit != (engine.UnitID{}) {
				deps = append(deps, d.Unit)
			}
		}
		graph[id] = deps
	}
	before := r.cycles
	r.cycles = graph.InCycle()
	for id := range r.cycles {
		if before[id] == nil {
			r.mark(id)
		}
	}
	for id := range before {
		if r.cycles[id] == nil {
			r.mark(id)
		}
	}
}
