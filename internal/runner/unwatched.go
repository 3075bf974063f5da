package runner

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// readEvery is how often an object is read that is waited for and may not be watched.
const readEvery = 3 * time.Second

// readUnwatched reads what the unit waits for where its account may not watch it, and returns when
// that is due again: zero when there is nothing of the kind.
func (r *Runner) readUnwatched(u *unit) time.Time {
	own, there := r.unwatched(u)
	if len(own)+len(there) == 0 {
		return time.Time{}
	}
	if due := u.readAt.Add(readEvery); time.Now().Before(due) || u.reading {
		return due
	}
	u.reading, u.readAt = true, time.Now()
	id, eyes, t := u.ID, r.eyes(u), r.at(u)
	end := func() {
		if u, ok := r.units[id]; ok {
			u.reading = false
			r.mark(id)
		}
	}
	r.work(id, func(ctx context.Context) func() {
		eyes.cluster.Objects.Read(ctx, own)
		if t != nil {
			t.cluster.Objects.Read(ctx, there)
		}
		return end
	}, func(error) { end() })
	return u.readAt.Add(readEvery)
}

// unwatched returns the objects that the unit waits for and that are not watched: those of the
// engine's own cluster that it depends on, and those where the unit works.
func (r *Runner) unwatched(u *unit) (own, there []engine.Entry) {
	if u.pass == nil {
		for _, id := range r.seen(u) {
			own = append(own, engine.Entry{ID: id})
		}
		return r.eyes(u).cluster.Objects.Unwatched(own), nil
	}
	t := r.at(u)
	if t == nil {
		return nil, nil
	}
	there = append(there, r.counted(u)...)
	for _, need := range u.needs {
		if need.What == apply.ObjectThere || need.What == apply.ObjectGone {
			there = append(there, engine.Entry{ID: need.Object})
		}
	}
	return nil, t.cluster.Objects.Unwatched(there)
}

// seen are the objects that a unit depends on and has to be able to see itself.
func (r *Runner) seen(u *unit) []engine.ObjectID {
	var ids []engine.ObjectID
	for _, d := range u.Dependencies {
		switch {
		case d.Unit == (engine.UnitID{}):
			ids = append(ids, d.Object)
		case r.looksInto(u, d):
			ids = append(ids, d.Unit.Object())
		}
	}
	return ids
}

// elsewhereServed are the objects of the units that a unit depends on and that other engines may serve.
func (r *Runner) elsewhereServed(u *unit) []engine.ObjectID {
	var ids []engine.ObjectID
	for _, d := range u.Dependencies {
		if r.cfg.Sharded && d.Unit != (engine.UnitID{}) {
			ids = append(ids, d.Unit.Object())
		}
	}
	return ids
}

// looksInto reports whether an expression of the unit looks into a unit of another namespace, for which
// an account needs the right to read that.
func (r *Runner) looksInto(u *unit, d engine.Dependency) bool {
	return u.Target.User != "" && d.Expr != "" && d.Unit.Namespace != u.ID.Namespace
}
