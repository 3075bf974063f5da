package runner

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// maxDepth bounds how far up the family of a unit is searched for.
const maxDepth = 8

// kin is the source of a unit, or of the unit that declares it when it has none itself: a change of
// what it declares comes with the same commit as changes of the others.
func (r *Runner) kin(u *unit) engine.SourceID {
	for range maxDepth {
		if u.Sourced() {
			break
		}
		parent := r.parentOf(u)
		if parent == nil {
			break
		}
		u = parent
	}
	return u.Source
}

// parentOf is the unit that declares another one, nil when none is known.
func (r *Runner) parentOf(u *unit) *unit {
	id := u.ID.Object()
	owner, owned := r.owners.Owner(id)
	if owned {
		return r.units[owner]
	}
	var declares *unit
	for _, other := range r.owners.Others(id, engine.UnitID{}) {
		by := r.units[other]
		switch {
		case by == nil:
		case r.owners.Grip(id, other) == engine.Recorded && r.bears(u, by):
			return by
		case declares == nil && r.owners.Declares(id, other):
			declares = by
		}
	}
	return declares
}

// carries reports whether the object of a unit is marked as that of another one.
func (r *Runner) bears(u, by *unit) bool {
	object := r.dialects.Object(u.ID)
	return object != nil && r.names[by.Target.Owner].Marks(&unstructured.Unstructured{Object: object}, by.ID)
}

// unsettledChildren reports those that a unit declares that have no source of their own, and so come to
// claim something with the unit itself. One that waits with everything that it does makes none before: those that are not there
// are not waited for.
func (r *Runner) unsettledChildren(u *unit) string {
	if u.rendering == nil {
		return ""
	}
	for _, child := range u.rendering.children {
		c, known := r.units[child]
		if known && !c.sourceless() {
			continue
		}
		if _, exists := r.record(u, child.Object()); !exists && u.holdsAll() {
			continue
		}
		if why := r.unborn(u, child, maxDepth); why != "" {
			return why
		}
	}
	return ""
}
