package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/engine"
)

// ask has the loop answer something that a worker asks; it is an error when ctx ends before.
func ask[T any](ctx context.Context, r *Runner, question func() T) (T, error) {
	got := make(chan T, 1)
	r.mail.post(func() { got <- question() })
	select {
	case answer := <-got:
		return answer, nil
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("reading the claims of other units: %w", context.Cause(ctx))
	}
}

// behind names the first of several units whose rendering is not of what its source has now.
func (r *Runner) behind(ctx context.Context, units []engine.UnitID) (engine.UnitID, bool) {
	late, err := ask(ctx, r, func() []engine.UnitID {
		for _, id := range units {
			u, known := r.units[id]
			if !known || u.Suspended || u.Deleting || u.Invalid != (engine.Invalid{}) {
				continue
			}
			fact, _ := r.sources.Source(u.Source)
			if fact.Revision != "" && !r.current(u) && !r.condemned(u) {
				return []engine.UnitID{id}
			}
		}
		return nil
	})
	switch {
	case err != nil && len(units) > 0:
		return units[0], true
	case len(late) > 0:
		return late[0], true
	}
	return engine.UnitID{}, false
}

// claimed are the entries that other units than one want.
func (r *Runner) claimed(ctx context.Context, id engine.UnitID, entries []engine.Entry) (map[engine.ObjectID]bool, error) {
	return ask(ctx, r, func() map[engine.ObjectID]bool {
		found := map[engine.ObjectID]bool{}
		for _, e := range entries {
			if r.wanted(e.ID, id) {
				found[e.ID] = true
			}
		}
		return found
	})
}

// ownerFor answers a unit which other one has an object.
func (r *Runner) ownerFor(id engine.UnitID) func(context.Context, engine.ObjectID) (engine.UnitID, bool, error) {
	return func(ctx context.Context, object engine.ObjectID) (engine.UnitID, bool, error) {
		found, err := ask(ctx, r, func() []engine.UnitID {
			if owner, owned := r.owners.Owner(object); owned && owner != id {
				return []engine.UnitID{owner}
			}
			// What a status names belongs to its unit, unless the object is known to be marked otherwise.
			return slices.DeleteFunc(r.owners.Recorded(object, id), func(other engine.UnitID) bool {
				u, known := r.units[other]
				return !known || r.refuted(u, object)
			})
		})
		if err != nil || len(found) == 0 {
			return engine.UnitID{}, false, err
		}
		return found[0], true, nil
	}
}
