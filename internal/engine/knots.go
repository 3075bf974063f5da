package engine

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Declared is a unit with what it is known to apply.
type Declared struct {
	Unit *Unit
	// Objects are what it applies, Defines the kinds that these define, and Uses the other kinds.
	Objects []ObjectID
	Defines []schema.GroupKind
	Uses    []schema.GroupKind
	// Needs are objects without which some of its own cannot be applied, such as namespaces.
	Needs []ObjectID
	// Illegible is set when it is unknown what it applies.
	Illegible bool
}

// Knot is a wait that can never end.
type Knot struct {
	// Steps say, one after the other, what cannot happen before what.
	Steps []string
	// Units are those that wait.
	Units []UnitID
	// Declared is set where every step is a dependency that a unit declares.
	Declared bool
	// Lacks is what no known unit declares, where one may whose objects are unknown: only then does the wait end.
	Lacks ObjectID
}

// String is one line.
func (k Knot) String() string { return strings.Join(k.Steps, "; ") }

// Knots finds the waits that can never end, whatever the cluster does: units that wait for each other,
// be it by their dependencies, by the health of objects, by the kinds and the objects that these need, or by all of them
// together; dependencies that no unit declares; and health checks of units that no unit declares. Of the latter two it says
// what they lack if it is unknown what a unit applies, which may declare that. It reports nothing else about what no known
// unit applies: a chart or a controller may bring it. What several units declare is there once one of them has applied it, so that no one
// waits for a certain one. Kinds are those that declare units.
func Knots(all []Declared, kinds map[schema.GroupKind]bool) []Knot {
	k := knotter{
		kinds: kinds,
		units: map[UnitID]*Unit{}, owner: map[ObjectID]UnitID{}, definer: map[schema.GroupKind]UnitID{},
		shared: map[ObjectID]bool{}, redefined: map[schema.GroupKind]bool{}, why: map[[2]UnitID]step{}, graph: Graph{},
	}
	for _, d := range all {
		k.units[d.Unit.ID] = d.Unit
		k.illegible = k.illegible || d.Illegible
		for _, o := range d.Objects {
			if other, known := k.owner[o]; known && other != d.Unit.ID {
				k.shared[o] = true
			}
			k.owner[o] = d.Unit.ID
		}
		for _, gk := range d.Defines {
			if other, known := k.definer[gk]; known && other != d.Unit.ID {
				k.redefined[gk] = true
			}
			k.definer[gk] = d.Unit.ID
		}
	}
	for _, d := range all {
		k.look(d)
	}
	for _, cycle := range k.graph.Cycles() {
		knot := Knot{Declared: true}
		for i := range len(cycle) - 1 {
			if step := k.why[[2]UnitID{cycle[i], cycle[i+1]}]; step.text != "" {
				knot.Steps = append(knot.Steps, step.text)
				knot.Declared = knot.Declared && step.declared
			}
			if unit := UnitOfMoment(cycle[i]); !slices.Contains(knot.Units, unit) {
				knot.Units = append(knot.Units, unit)
			}
		}
		k.found = append(k.found, knot)
	}
	slices.SortFunc(k.found, func(a, b Knot) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(k.found, func(a, b Knot) bool { return a.String() == b.String() })
}

// knotter builds a graph of two moments for each unit: when it begins, and when it is ready.
type knotter struct {
	kinds   map[schema.GroupKind]bool
	units   map[UnitID]*Unit
	owner   map[ObjectID]UnitID
	definer map[schema.GroupKind]UnitID
	// shared are the objects that several units declare, redefined the kinds that several define.
	shared    map[ObjectID]bool
	redefined map[schema.GroupKind]bool
	graph     Graph
	why       map[[2]UnitID]step
	found     []Knot
	// illegible is set when some unit may declare more than is known.
	illegible bool
}

// step is why a moment comes after another one; declared is set for a dependency that a unit declares. That of a unit which is ready after it
// has begun has no text.
type step struct {
	text     string
	declared bool
}

// ReadyMoment is the moment when a unit is; the unit itself stands for the one when it begins.
func ReadyMoment(id UnitID) UnitID {
	id.Name += "\x00ready"
	return id
}

// UnitOfMoment is the unit of a moment.
func UnitOfMoment(id UnitID) UnitID {
	id.Name = strings.TrimSuffix(id.Name, "\x00ready")
	return id
}

func (k *knotter) after(later, earlier UnitID, format string, args ...any) {
	k.enter(later, earlier, step{text: fmt.Sprintf(format, args...)})
}

func (k *knotter) depends(later, earlier UnitID, format string, args ...any) {
	k.enter(later, earlier, step{fmt.Sprintf(format, args...), true})
}

func (k *knotter) enter(later, earlier UnitID, why step) {
	k.graph[later] = append(k.graph[later], earlier)
	if key := [2]UnitID{later, earlier}; k.why[key].text == "" {
		k.why[key] = why
	}
}

// undeclared enters a wait of a unit for what no unit declares.
func (k *knotter) undeclared(id UnitID, lacks ObjectID, format string) {
	knot := Knot{Steps: []string{fmt.Sprintf(format, id, lacks)}, Units: []UnitID{id}}
	if k.illegible {
		knot.Lacks = lacks
	}
	k.found = append(k.found, knot)
}

// sole is the one unit that declares an object.
func (k *knotter) sole(o ObjectID) (owner UnitID, known bool) {
	owner, known = k.owner[o]
	return owner, known && !k.shared[o]
}

func (k *knotter) look(d Declared) {
	id := d.Unit.ID
	k.after(ReadyMoment(id), id, "")
	if parent, known := k.sole(id.Object()); known && parent != id {
		k.after(id, parent, "%s is created by %s", id, parent)
	}
	for _, on := range d.Unit.Dependencies {
		switch owner, known := k.sole(on.Object); {
		case on.Unit == (UnitID{}) && known && owner != id:
			k.depends(id, owner, "%s depends on %s of %s", id, on.Object, owner)
		case on.Unit == (UnitID{}):
		case k.units[on.Unit] == nil:
			k.undeclared(id, on.Unit.Object(), "%s depends on %s, which no unit declares")
		default:
			k.depends(id, ReadyMoment(on.Unit), "%s depends on %s", id, on.Unit)
		}
	}
	for _, gk := range d.Uses {
		if definer, known := k.definer[gk]; known && definer != id && !k.redefined[gk] {
			k.after(ReadyMoment(id), definer, "%s applies objects of %s, which %s defines", id, gk, definer)
		}
	}
	for _, need := range d.Needs {
		if owner, known := k.sole(need); known && owner != id {
			k.after(ReadyMoment(id), owner, "%s applies objects that need %s of %s", id, need, owner)
		}
	}
	k.lookAtHealth(d)
}

func (k *knotter) lookAtHealth(d Declared) {
	id := d.Unit.ID
	checks := d.Unit.Health.Checks
	if d.Unit.Health.Wait {
		checks = nil
		for _, o := range d.Objects {
			checks = append(checks, Entry{ID: o})
		}
	}
	for _, check := range checks {
		child := UnitOf(check.ID)
		owner, owned := k.sole(check.ID)
		switch {
		case k.units[child] != nil && child.Object() == check.ID:
			k.after(ReadyMoment(id), ReadyMoment(child), "%s waits for the health of %s", id, child)
		case owned && owner != id:
			k.after(ReadyMoment(id), owner, "%s waits for the health of %s of %s", id, check.ID, owner)
		case !owned && !k.shared[check.ID] && k.kinds[check.ID.GroupKind()]:
			k.undeclared(id, check.ID, "%s waits for the health of %s, which no unit declares")
		}
	}
}
