package inspect

import (
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// unitsOfMoments are the units of a way through moments, each once in a row.
func unitsOfMoments(way []engine.UnitID) []engine.UnitID {
	units := make([]engine.UnitID, len(way))
	for i, moment := range way {
		units[i] = engine.UnitOfMoment(moment)
	}
	units = slices.Compact(units)
	if len(units) == 1 {
		// One that waits for itself leads back to itself.
		units = append(units, units[0])
	}
	return units
}

// order is what has to happen before what. A unit begins after what it depends on is ready, after the unit with an object that it
// depends on begins, and after the one that makes it; in a tree also after those of the wave before, and what makes them is ready after
// all of them.
func (g *unitGraph) order() engine.Graph {
	order := engine.Graph{}
	after := func(later, earlier engine.UnitID) { order[later] = append(order[later], earlier) }
	for id, u := range g.units {
		after(engine.ReadyMoment(id), id)
		for _, n := range g.needs[id] {
			switch {
			case n.missing || n.unit == (engine.UnitID{}):
			case n.object == (engine.ObjectID{}):
				after(id, engine.ReadyMoment(n.unit))
			case n.unit != id:
				after(id, n.unit)
			}
		}
		if maker := g.maker(u); maker != nil {
			after(id, maker.Unit.ID)
			if u.Tree && maker.Tree {
				after(engine.ReadyMoment(maker.Unit.ID), engine.ReadyMoment(id))
			}
		}
	}
	for _, waves := range g.waves() {
		numbers := slices.Sorted(maps.Keys(waves))
		for i := 1; i < len(numbers); i++ {
			for _, later := range waves[numbers[i]] {
				for _, earlier := range waves[numbers[i-1]] {
					after(later, engine.ReadyMoment(earlier))
				}
			}
		}
	}
	return order
}

// waves are the units that each unit of a tree makes, by their waves.
func (g *unitGraph) waves() map[engine.UnitID]map[int][]engine.UnitID {
	all := map[engine.UnitID]map[int][]engine.UnitID{}
	for _, u := range g.trees {
		var maker *dialect.OfflineUnit
		if maker = g.maker(u); maker == nil || !maker.Tree {
			continue
		}
		if all[maker.Unit.ID] == nil {
			all[maker.Unit.ID] = map[int][]engine.UnitID{}
		}
		all[maker.Unit.ID][u.Wave] = append(all[maker.Unit.ID][u.Wave], u.Unit.ID)
	}
	return all
}
