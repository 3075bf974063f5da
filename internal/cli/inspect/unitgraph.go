package inspect

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// unitGraph is what depends on what, what makes what, where charts come from, and what is not available offline. Units that
// are ordered in trees are beside the others.
type unitGraph struct {
	units map[engine.UnitID]*dialect.OfflineUnit
	// gated are the units that are ordered by gates, trees those that are ordered in trees.
	gated []engine.UnitID
	trees []*dialect.OfflineUnit
	// holders are the units that declare an object.
	holders map[engine.ObjectID][]engine.UnitID
	// needs are the dependencies of units, with where they lead.
	needs map[engine.UnitID][]need
	// cycles are ways that lead back to their beginning, and knots number the sets of units that wait for each other.
	cycles [][]engine.UnitID
	knots  map[engine.UnitID]int
	// where are the clusters that units deploy to, when there are several.
	where map[engine.UnitID]string
	// counts are how many objects units hold in a cluster.
	counts map[engine.UnitID]int
	// whole is set when there are no units beside these: nothing was skipped.
	whole bool
	// shown are the units that are printed; nil for all.
	shown map[engine.UnitID]bool
	// plain is the kind that is not named.
	plain schema.GroupKind
}

// need is a dependency of a unit.
type need struct {
	// object is set for a dependency on an object.
	object engine.ObjectID
	// unit is the one that the dependency leads to; zero for an object that none of the units is known to declare.
	unit engine.UnitID
	// missing is set when there is no such unit.
	missing bool
}

func newUnitGraph(catalogue dialect.Catalogue) *unitGraph {
	return &unitGraph{
		plain: catalogue.Default().GroupKind, units: map[engine.UnitID]*dialect.OfflineUnit{},
		holders: map[engine.ObjectID][]engine.UnitID{}, needs: map[engine.UnitID][]need{},
		where: map[engine.UnitID]string{}, counts: map[engine.UnitID]int{}, whole: true,
	}
}

// plant enters a unit of a repository, with what it would apply.
func (g *unitGraph) plant(u *dialect.OfflineUnit) {
	g.whole = g.whole && u.Rendered()
	for _, o := range u.Held() {
		g.hold(u.Unit.ID, u.IDOf(o, nil))
	}
	g.add(u)
}

func (g *unitGraph) add(u *dialect.OfflineUnit) {
	g.units[u.Unit.ID] = u
	if u.Tree {
		g.trees = append(g.trees, u)
		return
	}
	g.gated = append(g.gated, u.Unit.ID)
}

// hold enters that a unit declares an object. That one declares itself, as the root of Flux does, says nothing.
func (g *unitGraph) hold(by engine.UnitID, id engine.ObjectID) {
	if id != by.Object() && !slices.Contains(g.holders[id], by) {
		g.holders[id] = append(g.holders[id], by)
	}
}

// holder is the unit that declares an object; zero where none does, or several do.
func (g *unitGraph) holder(id engine.ObjectID) engine.UnitID {
	if all := g.holders[id]; len(all) == 1 {
		return all[0]
	}
	return engine.UnitID{}
}

// link finds where dependencies lead, once all units are entered.
func (g *unitGraph) link() {
	slices.SortFunc(g.gated, engine.UnitID.Compare)
	for id, u := range g.units {
		for _, d := range u.Unit.Dependencies {
			n := need{object: d.Object, unit: d.Unit}
			if d.Unit == (engine.UnitID{}) {
				n.unit = g.holder(d.Object)
			} else {
				n.missing = g.units[d.Unit] == nil
			}
			g.needs[id] = append(g.needs[id], n)
		}
	}
	order := g.order()
	for _, cycle := range order.Cycles() {
		g.cycles = append(g.cycles, unitsOfMoments(cycle))
	}
	g.knots = map[engine.UnitID]int{}
	for i, members := range order.Knotted() {
		for _, moment := range members {
			g.knots[engine.UnitOfMoment(moment)] = i + 1
		}
	}
}

// inKnot reports whether units wait for each other, directly or not; for one alone, whether it is part of a cycle.
func (g *unitGraph) inKnot(ids ...engine.UnitID) bool {
	first := g.knots[ids[0]]
	return first != 0 && !slices.ContainsFunc(ids, func(id engine.UnitID) bool { return g.knots[id] != first })
}

// maker is the unit that makes another one; nil where none of these does.
func (g *unitGraph) maker(u *dialect.OfflineUnit) *dialect.OfflineUnit {
	if u.Parent == u.Unit.ID {
		return nil
	}
	return g.units[u.Parent]
}

// leadsTo are the units that the dependencies of a unit lead to, each once.
func (g *unitGraph) leadsTo(id engine.UnitID) []engine.UnitID {
	units := []engine.UnitID{}
	for _, n := range g.needs[id] {
		if n.unit != (engine.UnitID{}) && !slices.Contains(units, n.unit) {
			units = append(units, n.unit)
		}
	}
	return units
}

// gates are how many gates stand before each unit: one more than before what it waits for, and no fewer than before the unit that
// makes it. Those of a cycle do not count each other.
func (g *unitGraph) gates() map[engine.UnitID]int {
	depth := map[engine.UnitID]int{}
	var depthOf func(id engine.UnitID) int
	depthOf = func(id engine.UnitID) int {
		if d, known := depth[id]; known {
			return d
		}
		depth[id] = 0
		most := 0
		for _, n := range g.needs[id] {
			if n.unit == (engine.UnitID{}) {
				most = max(most, 1)
			} else if !g.inKnot(id, n.unit) {
				most = max(most, depthOf(n.unit)+1)
			}
		}
		if u := g.units[id]; u != nil {
			if maker := g.maker(u); maker != nil && !g.inKnot(id, maker.Unit.ID) {
				most = max(most, depthOf(maker.Unit.ID))
			}
		}
		depth[id] = most
		return most
	}
	for _, id := range g.gated {
		depthOf(id)
	}
	return depth
}

// nodeName is how a unit is called in a graph.
func (g *unitGraph) nodeName(id engine.UnitID) string {
	if id.GroupKind() == g.plain {
		return id.Namespace + "/" + id.Name
	}
	return id.String()
}

// waitsText says what a unit waits for: the units and objects that there are, then those that there are not.
func (g *unitGraph) waitsText(id engine.UnitID) string {
	var there, missing []string
	for _, n := range g.needs[id] {
		switch {
		case n.missing:
			missing = append(missing, g.nodeName(n.unit))
		case n.object == (engine.ObjectID{}):
			there = append(there, g.nodeName(n.unit))
		case n.unit == (engine.UnitID{}):
			there = append(there, n.object.String())
		default:
			there = append(there, n.object.String()+" of "+g.nodeName(n.unit))
		}
	}
	text := ""
	if len(there) > 0 {
		text = "  waits for " + strings.Join(there, ", ")
	}
	if len(missing) == 0 {
		return text
	}
	if text == "" {
		text = "  waits for "
	} else {
		text += ", and for "
	}
	return text + strings.Join(missing, " and ") + ", which " + g.absence(len(missing))
}

// absence says of units that they are missing.
func (g *unitGraph) absence(n int) string {
	switch {
	case !g.whole:
		return "nothing that is rendered here declares"
	case n > 1:
		return "do not exist"
	default:
		return "does not exist"
	}
}
