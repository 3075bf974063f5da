package flux

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// Double is an object that several units declare and cannot own together.
type Double struct {
	Object engine.ObjectID
	Units  []engine.UnitID
	// Fields are declared in different ways; empty when the units cannot own it together whatever they declare.
	Fields []string
}

// declarer is a unit that declares an object.
type declarer struct {
	unit   *engine.Unit
	object *unstructured.Unstructured
}

// Doubles finds the objects that several units declare and cannot own together: one of them gets it, and the others fail.
func Doubles(units []OfflineUnit) []Double {
	declarers := map[engine.ObjectID][]declarer{}
	for i := range units {
		u := &units[i].Unit
		for _, o := range units[i].Objects {
			id := engine.IDOf(o)
			if !slices.ContainsFunc(declarers[id], func(d declarer) bool { return d.unit.ID == u.ID }) {
				declarers[id] = append(declarers[id], declarer{u, o})
			}
		}
	}
	var doubles []Double
	for _, id := range slices.SortedFunc(maps.Keys(declarers), engine.ObjectID.Compare) {
		if double, is := doubleOf(id, declarers[id]); is {
			doubles = append(doubles, double)
		}
	}
	return doubles
}

// doubleOf tells whether the declarers of an object cannot own it together.
func doubleOf(id engine.ObjectID, all []declarer) (Double, bool) {
	if len(all) < 2 {
		return Double{}, false
	}
	slices.SortFunc(all, func(a, b declarer) int { return a.unit.ID.Compare(b.unit.ID) })
	double := Double{Object: id}
	var declared []engine.Declaration
	together := true
	for _, d := range all {
		double.Units = append(double.Units, d.unit.ID)
		declared = append(declared, engine.Declaration{Unit: d.unit.ID, Object: d.object})
		together = together && d.unit.ID.GroupKind() != helmReleaseKind && d.unit.Target == all[0].unit.Target
	}
	if !together {
		return double, true
	}
	_, disputes := engine.Share(declared, prefix, resourceSetPrefix)
	for _, unit := range double.Units {
		for _, d := range disputes[unit] {
			double.Fields = append(double.Fields, d.Fields...)
		}
	}
	slices.Sort(double.Fields)
	double.Fields = slices.Compact(double.Fields)
	return double, len(disputes) > 0
}
