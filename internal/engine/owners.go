package engine

import "slices"

// Grip says how firmly a unit has an object.
type Grip int

// The grips. Only the last two keep others from applying the object.
const (
	// Loose is the grip of a unit that declares the object at most: others may apply it, and do not delete it.
	Loose Grip = iota
	// Recorded is that of a unit whose status says that it applied the object once. The marks of the live object
	// report whether that is so.
	Recorded
	// Applying is that of a unit that is writing the object right now.
	Applying
	// Held is that of a unit that has applied the object.
	Held
)

// Owners says which units own which object: the first that applies it, until it releases, and those that join it because
// they declare the same. A unit that declares an object without having applied it owns nothing; it only keeps others from
// deleting the object.
//
// It is a plain value for one goroutine; it is not safe for concurrent use.
type Owners struct {
	// claims are those of each object, the owners first and in the order in which they came to own it.
	claims map[ObjectID][]claim
	// marked are the units whose names the objects carry, as far as units have applied them here.
	marked map[ObjectID]UnitID
	// byUnit are the objects of each unit, so that everything goes with it.
	byUnit map[UnitID]map[ObjectID]struct{}
}

// claim is what one unit has of an object.
type claim struct {
	unit     UnitID
	declared bool
	grip     Grip
	// writing is set while the unit writes the object.
	writing bool
}

// NewOwners returns an empty registry.
func NewOwners() *Owners {
	return &Owners{
		claims: map[ObjectID][]claim{}, marked: map[ObjectID]UnitID{}, byUnit: map[UnitID]map[ObjectID]struct{}{},
	}
}

// Declare enters what a unit declares, replacing what it declared before.
func (o *Owners) Declare(unit UnitID, entries []Entry) {
	now := make(map[ObjectID]bool, len(entries))
	for _, e := range entries {
		now[e.ID] = true
		o.of(e.ID, unit).declared = true
	}
	for id := range o.byUnit[unit] {
		if !now[id] {
			o.of(id, unit).declared = false
			o.tidy(id, unit)
		}
	}
}

// Rename moves the claims on an object to another identity of it. Existing owners of that identity keep it.
func (o *Owners) Rename(old, now ObjectID) {
	if old == now {
		return
	}
	for _, c := range slices.Clone(o.claims[old]) {
		if owner, owned := o.Owner(now); owned && owner != c.unit {
			c.grip = min(c.grip, Recorded)
		}
		to := o.of(now, c.unit)
		to.declared, to.grip, to.writing = to.declared || c.declared, max(to.grip, c.grip), to.writing || c.writing
		o.sort(now)
		o.Withdraw(old, c.unit)
	}
}

// Record enters that the status of a unit names an object.
func (o *Owners) Record(id ObjectID, unit UnitID) {
	c := o.of(id, unit)
	c.grip = max(c.grip, Recorded)
}

// Reserve has a unit own an object that it is about to apply; it is false when only others own it.
func (o *Owners) Reserve(id ObjectID, unit UnitID) bool {
	if !o.free(id, unit) {
		return false
	}
	o.Join(id, unit)
	return true
}

// Join has a unit own an object that it is about to apply, together with those that own it already.
func (o *Owners) Join(id ObjectID, unit UnitID) {
	c := o.of(id, unit)
	c.grip, c.writing = max(c.grip, Applying), true
	o.sort(id)
}

// Hold has a unit own an object that it has applied; it is false when only others own it.
func (o *Owners) Hold(id ObjectID, unit UnitID) bool {
	if !o.free(id, unit) {
		return false
	}
	o.of(id, unit).grip = Held
	o.sort(id)
	if first, _ := o.Owner(id); first == unit {
		o.marked[id] = unit
	}
	return true
}

// Lead has a unit hold an object before all others that own it: the object carries its name.
func (o *Owners) Lead(id ObjectID, unit UnitID) {
	o.of(id, unit).grip = Held
	at := o.index(id, unit)
	lead := o.claims[id][at]
	o.claims[id] = slices.Insert(slices.Delete(o.claims[id], at, at+1), 0, lead)
	o.marked[id] = unit
}

// free reports whether a unit owns an object already, or no one does.
func (o *Owners) free(id ObjectID, unit UnitID) bool {
	_, owned := o.Owner(id)
	return !owned || o.Grip(id, unit) >= Applying
}

// sort puts the owners of an object first. Anyone who has come to be one is the last of them.
func (o *Owners) sort(id ObjectID) {
	slices.SortStableFunc(o.claims[id], func(a, b claim) int {
		switch owns, other := a.grip >= Applying, b.grip >= Applying; {
		case owns == other:
			return 0
		case owns:
			return -1
		default:
			return 1
		}
	})
}

// Written ends that a unit is writing an object.
func (o *Owners) Written(id ObjectID, unit UnitID) {
	if at := o.index(id, unit); at >= 0 {
		o.claims[id][at].writing = false
	}
}

// Writers returns the other units that are writing an object.
func (o *Owners) Writers(id ObjectID, but UnitID) []UnitID {
	return o.having(id, func(c claim) bool { return c.writing && c.unit != but })
}

// Loosen weakens the grip of a unit on an object. When it was the first owner of the object, or its status named the object
// and no one owned it, the next unit that declares it is returned.
func (o *Owners) Loosen(id ObjectID, unit UnitID, to Grip) (heir UnitID, changed bool) {
	owner, owned := o.Owner(id)
	named := !owned && o.Grip(id, unit) == Recorded && to == Loose
	if o.Grip(id, unit) > to {
		o.of(id, unit).grip = to
		o.sort(id)
	}
	o.tidy(id, unit)
	if !named && (owner != unit || to >= Applying) {
		return UnitID{}, false
	}
	return o.heir(id, unit)
}

// Withdraw takes everything back that a unit has of an object, its declaration included.
func (o *Owners) Withdraw(id ObjectID, unit UnitID) (heir UnitID, changed bool) {
	if at := o.index(id, unit); at >= 0 {
		o.claims[id][at].declared = false
	}
	return o.Loosen(id, unit, Loose)
}

// Of returns all objects of which a unit has anything.
func (o *Owners) Of(unit UnitID) []ObjectID {
	left := make([]ObjectID, 0, len(o.byUnit[unit]))
	for id := range o.byUnit[unit] {
		left = append(left, id)
	}
	slices.SortFunc(left, ObjectID.Compare)
	return left
}

// heir is the first of the others that declare an object.
func (o *Owners) heir(id ObjectID, unit UnitID) (UnitID, bool) {
	for _, c := range o.claims[id] {
		if c.unit != unit && c.declared {
			return c.unit, true
		}
	}
	return UnitID{}, false
}

// Owner returns the first unit that has applied an object, or is applying it.
func (o *Owners) Owner(id ObjectID) (UnitID, bool) {
	for _, c := range o.claims[id] {
		if c.grip >= Applying {
			return c.unit, true
		}
	}
	return UnitID{}, false
}

// Grip is how firmly a unit has an object.
func (o *Owners) Grip(id ObjectID, unit UnitID) Grip {
	if at := o.index(id, unit); at >= 0 {
		return o.claims[id][at].grip
	}
	return Loose
}

// Declares reports whether a unit declares an object.
func (o *Owners) Declares(id ObjectID, unit UnitID) bool {
	at := o.index(id, unit)
	return at >= 0 && o.claims[id][at].declared
}

// Owners returns the units that own an object, in the order in which they came to.
func (o *Owners) Owners(id ObjectID) []UnitID {
	return o.having(id, func(c claim) bool { return c.grip >= Applying })
}

// Marked returns the unit whose name an object carries that has been applied here.
func (o *Owners) Marked(id ObjectID) (UnitID, bool) {
	unit, known := o.marked[id]
	return unit, known
}

// Recorded returns the other units whose status names an object, and that do not own it.
func (o *Owners) Recorded(id ObjectID, but UnitID) []UnitID {
	return o.having(id, func(c claim) bool { return c.unit != but && c.grip == Recorded })
}

// Others returns the other units that have anything of an object.
func (o *Owners) Others(id ObjectID, but UnitID) []UnitID {
	return o.having(id, func(c claim) bool { return c.unit != but })
}

func (o *Owners) having(id ObjectID, what func(claim) bool) []UnitID {
	var units []UnitID
	for _, c := range o.claims[id] {
		if what(c) {
			units = append(units, c.unit)
		}
	}
	return units
}

func (o *Owners) index(id ObjectID, unit UnitID) int {
	return slices.IndexFunc(o.claims[id], func(c claim) bool { return c.unit == unit })
}

// of is what a unit has of an object, to be changed before anything else is entered.
func (o *Owners) of(id ObjectID, unit UnitID) *claim {
	at := o.index(id, unit)
	if at < 0 {
		at = len(o.claims[id])
		o.claims[id] = append(o.claims[id], claim{unit: unit})
		if o.byUnit[unit] == nil {
			o.byUnit[unit] = map[ObjectID]struct{}{}
		}
		o.byUnit[unit][id] = struct{}{}
	}
	return &o.claims[id][at]
}

// tidy forgets what says nothing any more.
func (o *Owners) tidy(id ObjectID, unit UnitID) {
	at := o.index(id, unit)
	if at < 0 || o.claims[id][at].declared || o.claims[id][at].grip > Loose {
		return
	}
	delete(o.byUnit[unit], id)
	if len(o.byUnit[unit]) == 0 {
		delete(o.byUnit, unit)
	}
	if o.claims[id] = slices.Delete(o.claims[id], at, at+1); len(o.claims[id]) == 0 {
		delete(o.claims, id)
		delete(o.marked, id)
	}
}
