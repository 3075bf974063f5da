package engine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Occupant is another unit than the one that deletes a Namespace or a definition, with the objects that it has there: they would be deleted
// with it.
type Occupant struct {
	Unit    UnitID
	Objects []ObjectID
}

// OccupantOf is a unit with these objects.
func OccupantOf(unit UnitID, entries []Entry) Occupant {
	o := Occupant{Unit: unit}
	for _, e := range entries {
		o.Objects = append(o.Objects, e.ID)
	}
	return o
}

// String names the objects and the unit.
func (o Occupant) String() string {
	objects := make([]Subject, len(o.Objects))
	for i, id := range o.Objects {
		objects[i] = id
	}
	return Named(objects) + " of " + o.Unit.String()
}

// Contains reports whether an object is deleted with another one: it is in that Namespace, or is of the kind that is defined there, whose
// name in the API is plural.
func (id ObjectID) Contains(object ObjectID, plural string) bool {
	switch {
	case id.Cluster != object.Cluster || id == object:
		return false
	case id.GroupKind() == schema.GroupKind{Kind: "Namespace"}:
		return object.Namespace == id.Name
	case id.Defines():
		name, group, _ := strings.Cut(id.Name, ".")
		return object.Group == group && name == plural
	default:
		return false
	}
}

// Defines reports whether an object is the definition of a kind.
func (id ObjectID) Defines() bool {
	return id.GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// Encloses reports whether other objects may be deleted with an object: it is a Namespace or a definition.
func (id ObjectID) Encloses() bool {
	return id.Defines() || id.GroupKind() == schema.GroupKind{Kind: "Namespace"}
}

// occupy has a unit wait with what holds objects of others.
func (h *Hold) occupy(doomed Doomed) {
	for _, id := range doomed.Objects {
		for _, o := range doomed.Occupants[id] {
			h.enter(Wait{On: o.Unit, Reason: fmt.Sprintf("%s still holds %s", id, o)}, doomed, doomed.Bound, []ObjectID{id})
		}
	}
}
