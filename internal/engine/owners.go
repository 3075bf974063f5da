package engine

import "slices"

// Owners says which unit owns which object. The first claim wins and keeps; a later claim by
// another unit is a conflict until the first one lets go.
//
// It is a plain value for one goroutine; it is not safe for concurrent use.
type Owners struct {
	claims map[ObjectID][]UnitID
}

// NewOwners returns an empty registry.
func NewOwners() *Owners { return &Owners{claims: map[ObjectID][]UnitID{}} }

// Claim enters that unit wants the object and returns the owner, which is another unit when there
// is a conflict.
func (o *Owners) Claim(id ObjectID, unit UnitID) UnitID {
	claims := o.claims[id]
	if !slices.Contains(claims, unit) {
		claims = append(claims, unit)
		o.claims[id] = claims
	}
	return claims[0]
}

// Release takes the claim of unit back and returns the unit that owns the object from now on, if
// the object changed hands.
func (o *Owners) Release(id ObjectID, unit UnitID) (heir UnitID, changed bool) {
	claims := o.claims[id]
	at := slices.Index(claims, unit)
	if at < 0 {
		return UnitID{}, false
	}
	claims = slices.Delete(slices.Clone(claims), at, at+1)
	if len(claims) == 0 {
		delete(o.claims, id)
		return UnitID{}, false
	}
	o.claims[id] = claims
	return claims[0], at == 0
}

// Rename has the claims on an object count for another identity of it, behind those that are there already.
func (o *Owners) Rename(old, now ObjectID) {
	if old == now {
		return
	}
	for _, unit := range o.claims[old] {
		o.Claim(now, unit)
	}
	delete(o.claims, old)
}

// Owner returns the owner of the object.
func (o *Owners) Owner(id ObjectID) (UnitID, bool) {
	claims := o.claims[id]
	if len(claims) == 0 {
		return UnitID{}, false
	}
	return claims[0], true
}

// Claimants returns all units that want the object, the owner first.
func (o *Owners) Claimants(id ObjectID) []UnitID { return slices.Clone(o.claims[id]) }

// ClaimedByOther tells whether a unit other than unit wants the object.
func (o *Owners) ClaimedByOther(id ObjectID, unit UnitID) bool {
	return slices.ContainsFunc(o.claims[id], func(c UnitID) bool { return c != unit })
}
