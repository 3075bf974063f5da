package flux

import (
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Knots finds the waits in a repository that can never end.
func Knots(units []OfflineUnit) []engine.Knot {
	var all []engine.Declared
	for i := range units {
		u := &units[i]
		d := engine.Declared{Unit: &u.Unit, Illegible: u.Err != nil || u.Elsewhere != ""}
		for _, o := range u.Objects {
			d.Objects = append(d.Objects, engine.IDOf(o))
			d.Uses = append(d.Uses, o.GroupVersionKind().GroupKind())
			if gk, defines := engine.DefinedKind(o); defines {
				d.Defines = append(d.Defines, gk)
			}
			if need := (engine.ObjectID{Kind: "Namespace", Name: o.GetNamespace()}); need.Name != "" && !slices.Contains(d.Needs, need) {
				d.Needs = append(d.Needs, need)
			}
		}
		all = append(all, d)
	}
	return engine.Knots(all, unitKinds())
}

// Double is an object that several units declare.
type Double struct {
	Object engine.ObjectID
	Units  []engine.UnitID
}

// Doubles finds the objects that several units declare: one of them gets it, and the others fail.
func Doubles(units []OfflineUnit) []Double {
	declarers := map[engine.ObjectID][]engine.UnitID{}
	for i := range units {
		for _, o := range units[i].Objects {
			id := engine.IDOf(o)
			if !slices.Contains(declarers[id], units[i].Unit.ID) {
				declarers[id] = append(declarers[id], units[i].Unit.ID)
			}
		}
	}
	var doubles []Double
	for _, id := range slices.SortedFunc(maps.Keys(declarers), engine.ObjectID.Compare) {
		if len(declarers[id]) > 1 {
			slices.SortFunc(declarers[id], engine.UnitID.Compare)
			doubles = append(doubles, Double{id, declarers[id]})
		}
	}
	return doubles
}
