package runner

import (
	"context"

	"github.com/headgate-dev/headgate/internal/engine"
)

// settle asks the cluster whose the contested objects are: one that is marked as a rival's is its, and so is one that cannot
// be read.
func (c claims) settle(ctx context.Context, r *Runner, t *target) []belief {
	var beliefs []belief
	for e, rivals := range c.contested {
		live, err := r.marksOf(ctx, t, e)
		for _, other := range rivals {
			marked := err == nil && other.names.Marks(live, other.unit)
			if err == nil {
				beliefs = append(beliefs, belief{e.ID, other.unit, marked})
			}
			if _, settled := c.conflicts[e.ID]; !settled && (err != nil || marked) {
				c.conflicts[e.ID] = other.unit
			}
		}
	}
	return beliefs
}

// belief is whether an object that the status of a unit names is marked as its own.
type belief struct {
	object engine.ObjectID
	unit   engine.UnitID
	marked bool
}

// believe has units hold what their status names and the live objects confirm, and nothing else of it.
func (r *Runner) believe(id engine.UnitID, beliefs []belief) {
	for _, v := range beliefs {
		if r.units[v.unit] == nil || r.owners.Grip(v.object, v.unit) != engine.Recorded {
			continue
		}
		if !v.marked {
			r.owners.Loosen(v.object, v.unit, engine.Loose)
			continue
		}
		if r.owners.Grip(v.object, id) == engine.Applying {
			r.owners.Written(v.object, id)
			r.owners.Loosen(v.object, id, engine.Loose)
		}
		r.owners.Hold(v.object, v.unit)
	}
}
