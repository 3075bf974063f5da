package runner

import "github.com/headgate-dev/headgate/internal/engine"

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
	owner, _ := r.owners.Nearest(u.ID.Object())
	return r.units[owner]
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
