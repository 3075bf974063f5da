package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// ask has the loop answer something that a worker asks; it is an error when ctx ends before.
func ask[T any](ctx context.Context, r *Runner, question func() T) (T, error) {
	got := make(chan T, 1)
	r.mail.post(func() {
		defer close(got)
		got <- question()
	})
	select {
	case answer, answered := <-got:
		if !answered {
			return answer, errors.New("internal error: the claims of other units cannot be read; the log of the engine has the stack")
		}
		return answer, nil
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("reading the claims of other units: %w", context.Cause(ctx))
	}
}

// Peers are the other units as a driver asks about them. Its questions are answered by the loop, for which it waits.
type Peers struct {
	runner *Runner
	unit   engine.UnitID
}

// Deletions say what becomes of objects that a driver would delete.
type Deletions struct {
	// Held is why all of them have to wait, empty when they need not; the driver is called again when that is over.
	Held string
	// Claimed are those that other units want: they are not deleted.
	Claimed map[engine.ObjectID]bool
}

// Deletions passes the prune barrier for objects that are about to be deleted.
func (p Peers) Deletions(ctx context.Context, entries []engine.Entry) (Deletions, error) {
	if len(entries) == 0 {
		return Deletions{}, nil
	}
	return ask(ctx, p.runner, func() Deletions { return p.runner.deletions(p.unit, entries) })
}

// Claimed are those of several objects that other units want, by now.
func (p Peers) Claimed(ctx context.Context, entries []engine.Entry) (map[engine.ObjectID]bool, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	return ask(ctx, p.runner, func() map[engine.ObjectID]bool { return p.runner.claimed(p.unit, entries) })
}

// Owner is the unit that has an object which need not be declared; other is false when that is nobody, or the unit
// itself.
func (p Peers) Owner(ctx context.Context, object engine.ObjectID) (owner engine.UnitID, other bool, err error) {
	found, err := ask(ctx, p.runner, func() []engine.UnitID { return p.runner.ownersBeside(p.unit, object) })
	if err != nil || len(found) == 0 {
		return engine.UnitID{}, false, err
	}
	return found[0], true, nil
}

// Claim enters what a unit is about to write, of which nothing was known before. It returns what has to be let go first, by
// others that are about to do so.
func (p Peers) Claim(ctx context.Context, entries []engine.Entry) ([]apply.Need, error) {
	return ask(ctx, p.runner, func() []apply.Need { return p.runner.claim(p.unit, entries) })
}

func (r *Runner) claim(id engine.UnitID, entries []engine.Entry) []apply.Need {
	u, known := r.units[id]
	if !known || u.pass == nil {
		return nil
	}
	r.owners.Declare(id, entries)
	u.claimed = u.pass.Key
	defer r.wakeHolding()
	var needs []apply.Need
	for _, e := range entries {
		switch wish := r.contention(u, e.ID); wish.standing {
		case waiting:
			needs = append(needs, apply.Need{Wait: engine.Wait{On: e.ID, Reason: wish.why}, What: apply.ObjectReleased, Object: e.ID})
		case yielded:
			r.loosenOthers(u, e.ID)
		}
	}
	return needs
}

// loosenOthers has the owners that give an object to a unit own it no longer.
func (r *Runner) loosenOthers(u *unit, id engine.ObjectID) {
	for _, owner := range r.owners.Owners(id) {
		if owner != u.ID && r.owners.Grip(id, owner) == engine.Held {
			r.owners.Loosen(id, owner, engine.Recorded)
		}
	}
}

// hasClaimed reports whether it is known what a unit holds whose driver says so only when it acts.
func (r *Runner) hasClaimed(u *unit) bool {
	if u.rendering == nil {
		return false
	}
	is, want := u.claimed, u.rendering.key
	is.Requested, want.Requested = "", ""
	return is == want
}

// claimedAsDeclared reports whether it is known what a unit holds by its declaration, whatever its source has by now.
func (r *Runner) claimedAsDeclared(u *unit) bool {
	claimed := u.claimed
	if u.declares() {
		claimed = u.rendering.key
	}
	return claimed.Generation == u.Generation && claimed.Inputs == u.inputs
}

// unclaimedYet says why it is not known what such a unit holds. One that waits for dependencies may wait for what comes
// only after the deletions.
func (r *Runner) unclaimedYet(u *unit) string {
	if u.traits.Declares || r.hasClaimed(u) || u.phase == engine.PhaseWaitingForDependencies {
		return ""
	}
	return fmt.Sprintf("%s has not applied revision %q yet", u.ID, u.rendering.key.Revision)
}

// takeDeferred takes what a driver holds, and what it would have deleted and was kept from.
func (r *Runner) takeDeferred(u *unit, p *engine.Pass, acted *Acted) {
	if u.declares() || acted.Failure != nil {
		return
	}
	u.claimed = p.Key
	r.owners.Declare(u.ID, acted.Entries)
	u.deferred = engine.Leftover(engine.Union(u.deferred, acted.Deferred), acted.Entries)
	acted.Entries = engine.Union(acted.Entries, u.deferred)
}

func (r *Runner) deletions(id engine.UnitID, entries []engine.Entry) Deletions {
	u, known := r.units[id]
	if !known {
		return Deletions{}
	}
	h := r.hold(u)
	if u.barred = len(h.Waits) > 0; u.barred {
		return Deletions{Held: h.String()}
	}
	return Deletions{Claimed: r.claimed(id, entries)}
}

// claimed are the entries that other units than one want.
func (r *Runner) claimed(id engine.UnitID, entries []engine.Entry) map[engine.ObjectID]bool {
	found := map[engine.ObjectID]bool{}
	for _, e := range entries {
		if r.wanted(e.ID, id) {
			found[e.ID] = true
		}
	}
	return found
}

// ownersBeside are the other units that have an object, its owner alone when it has one.
func (r *Runner) ownersBeside(id engine.UnitID, object engine.ObjectID) []engine.UnitID {
	if owner, owned := r.owners.Owner(object); owned && owner != id {
		return []engine.UnitID{owner}
	}
	// What a status names belongs to its unit, unless the object is known to be marked otherwise.
	return slices.DeleteFunc(r.owners.Recorded(object, id), func(other engine.UnitID) bool {
		u, known := r.units[other]
		return !known || r.refuted(u, object)
	})
}

// barrier looks whether a driver whose deletions wait need not wait any more.
func (r *Runner) barrier(u *unit) {
	if !u.barred || u.pass == nil || len(u.pass.Waiting) == 0 {
		return
	}
	h := r.hold(u)
	if u.barred = len(h.Waits) > 0; !u.barred {
		u.stirred = true
		return
	}
	// It may be for another one by now.
	u.pass.Waiting = []engine.Wait{{On: u.ID, Reason: h.String()}}
}
