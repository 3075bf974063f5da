package engine

import (
	"slices"
	"strings"
)

// Graph is the dependency graph of units: for each unit, the units it waits for.
type Graph map[UnitID][]UnitID

// Cycles returns every cycle of the graph, each spelled out from its smallest member along the
// arrows back to it: a -> b -> a is [a b a]. Each strongly connected set gives one cycle that
// passes through its smallest member; a unit that depends on itself is a cycle of one.
func (g Graph) Cycles() [][]UnitID {
	var cycles [][]UnitID
	for _, members := range g.Knotted() {
		cycles = append(cycles, g.loop(members[0], members))
	}
	slices.SortFunc(cycles, func(a, b []UnitID) int { return a[0].Compare(b[0]) })
	return cycles
}

// InCycle maps each member of a strongly connected set to the cycle of its set.
func (g Graph) InCycle() map[UnitID][]UnitID {
	in := map[UnitID][]UnitID{}
	for _, members := range g.Knotted() {
		for _, m := range members {
			in[m] = g.loop(m, members)
		}
	}
	return in
}

// Knotted returns the strongly connected sets with a cycle, each sorted: each member waits for all others, directly or not.
func (g Graph) Knotted() [][]UnitID {
	return slices.DeleteFunc(g.components(), func(members []UnitID) bool {
		return len(members) == 1 && !slices.Contains(g[members[0]], members[0])
	})
}

// loop finds the shortest way from start back to itself within members.
func (g Graph) loop(start UnitID, members []UnitID) []UnitID {
	cameFrom := map[UnitID]UnitID{}
	queue := []UnitID{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, next := range sortedUnits(g[at]) {
			if next == start {
				way := []UnitID{start}
				for at != start {
					way = append(way, at)
					at = cameFrom[at]
				}
				way = append(way, start)
				slices.Reverse(way)
				return way
			}
			if _, seen := cameFrom[next]; !seen && slices.Contains(members, next) {
				cameFrom[next] = at
				queue = append(queue, next)
			}
		}
	}
	return []UnitID{start}
}

// components returns the strongly connected sets (Tarjan), each sorted.
func (g Graph) components() [][]UnitID {
	t := &tarjan{graph: g, index: map[UnitID]int{}, low: map[UnitID]int{}, on: map[UnitID]bool{}}
	nodes := make([]UnitID, 0, len(g))
	for n := range g {
		nodes = append(nodes, n)
	}
	for _, n := range sortedUnits(nodes) {
		if _, seen := t.index[n]; !seen {
			t.visit(n)
		}
	}
	return t.found
}

type tarjan struct {
	graph      Graph
	index, low map[UnitID]int
	on         map[UnitID]bool
	stack      []UnitID
	found      [][]UnitID
}

func (t *tarjan) visit(n UnitID) {
	t.index[n] = len(t.index)
	t.low[n] = t.index[n]
	t.stack = append(t.stack, n)
	t.on[n] = true
	for _, next := range t.graph[n] {
		if _, known := t.graph[next]; !known {
			continue
		}
		if _, seen := t.index[next]; !seen {
			t.visit(next)
			t.low[n] = min(t.low[n], t.low[next])
		} else if t.on[next] {
			t.low[n] = min(t.low[n], t.index[next])
		}
	}
	if t.low[n] != t.index[n] {
		return
	}
	at := slices.Index(t.stack, n)
	set := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, m := range set {
		t.on[m] = false
	}
	t.found = append(t.found, sortedUnits(set))
}

// Path writes a way through the graph as "a -> b -> c".
func Path(way []UnitID) string {
	names := make([]string, len(way))
	for i, u := range way {
		names[i] = u.String()
	}
	return strings.Join(names, " -> ")
}

func sortedUnits(units []UnitID) []UnitID {
	sorted := slices.Clone(units)
	slices.SortFunc(sorted, UnitID.Compare)
	return sorted
}
