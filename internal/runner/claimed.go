package runner

import (
	"context"
	"errors"
	"fmt"

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
	// Held is why some of them have to wait, empty when they need not, and Waiting are those that do; the driver is called again when
	// that is over.
	Held    string
	Waiting map[engine.ObjectID]bool
	// Claimed are those that other units want: they are not deleted.
	Claimed map[engine.ObjectID]bool
}

// Deletions passes the prune barrier for objects that are about to be deleted.
func (p Peers) Deletions(ctx context.Context, entries []engine.Entry) (Deletions, error) {
	if len(entries) == 0 {
		return Deletions{}, nil
	}
	var asked asked
	d, err := ask(ctx, p.runner, func() Deletions {
		held := p.runner.deletions(p.unit, entries)
		asked = p.runner.claimed(p.unit, entries)
		return held
	})
	if err != nil {
		return d, err
	}
	d.Claimed, err = asked.settle(ctx)
	return d, err
}

// Claimed are those of several objects that other units want, by now.
func (p Peers) Claimed(ctx context.Context, entries []engine.Entry) (map[engine.ObjectID]bool, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	asked, err := ask(ctx, p.runner, func() asked { return p.runner.claimed(p.unit, entries) })
	if err != nil {
		return nil, err
	}
	return asked.settle(ctx)
}

// Owner is the unit that has an object which need not be declared; other is false when that is no one, or the unit
// itself.
func (p Peers) Owner(ctx context.Context, object engine.ObjectID) (owner engine.UnitID, other bool, err error) {
	var asked asked
	owners, err := ask(ctx, p.runner, func() []engine.UnitID {
		var owners []engine.UnitID
		owners, asked = p.runner.ownerBeside(p.unit, object)
		return owners
	})
	if err != nil || len(owners) > 0 {
		return append(owners, engine.UnitID{})[0], len(owners) > 0, err
	}
	others, err := asked.doubts.settle(ctx, asked.target)
	owner, other = others[object]
	return owner, other, err
}

// asked is what the loop knows of objects that a worker asks about, and what the worker has to find out on its own.
type asked struct {
	claimed map[engine.ObjectID]bool
	doubts  doubts
	target  *target
}

// settle are the objects that others claim.
func (a asked) settle(ctx context.Context) (map[engine.ObjectID]bool, error) {
	others, err := a.doubts.settle(ctx, a.target)
	if err != nil {
		return nil, err
	}
	for id := range others {
		a.claimed[id] = true
	}
	return a.claimed, nil
}

// Claim enters what a unit is about to write, of which nothing was known before. It returns what has to be released first, by
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
	is.Requested, want.Requested, is.Steered, want.Steered = "", "", "", ""
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

// unclaimedYet says why it is unknown what such a unit holds. One that waits for dependencies may wait for what comes
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

// deletions says what the deletions of a unit have to wait for, and which.
func (r *Runner) deletions(id engine.UnitID, entries []engine.Entry) Deletions {
	u, known := r.units[id]
	if !known {
		return Deletions{}
	}
	h := r.hold(u, entries)
	if u.barred, u.barredFor = len(h.Waits) > 0, entries; u.barred {
		return Deletions{Held: h.String(), Waiting: h.Objects}
	}
	return Deletions{}
}

// claimed are the entries that other units than one want.
func (r *Runner) claimed(id engine.UnitID, entries []engine.Entry) asked {
	found := asked{claimed: map[engine.ObjectID]bool{}}
	u, known := r.units[id]
	if !known {
		return found
	}
	found.doubts, found.target = r.doubts(u), r.at(u)
	for _, e := range entries {
		wanted, doubts := r.wanted(e.ID, id)
		if wanted {
			found.claimed[e.ID] = true
		} else if len(doubts) > 0 {
			found.doubts.of[e] = doubts
		}
	}
	return found
}

// ownerBeside is the other unit that has an object, if one is known to. What a status names belongs to its unit where the object is
// marked so.
func (r *Runner) ownerBeside(id engine.UnitID, object engine.ObjectID) ([]engine.UnitID, asked) {
	if owner, owned := r.owners.Owner(object); owned && owner != id {
		return []engine.UnitID{owner}, asked{}
	}
	u, known := r.units[id]
	if !known {
		return nil, asked{}
	}
	found := asked{doubts: r.doubts(u), target: r.at(u)}
	for _, other := range r.owners.Recorded(object, id) {
		by, known := r.units[other]
		switch {
		case !known, r.refuted(by, object):
		case r.marked(by, object):
			return []engine.UnitID{other}, asked{}
		default:
			e := engine.Entry{ID: object}
			found.doubts.of[e] = append(found.doubts.of[e], doubt{unit: other, names: r.names[by.Target.Owner]})
		}
	}
	return nil, found
}

// barrier looks whether a driver whose deletions wait need not wait any more.
func (r *Runner) barrier(u *unit) {
	if !u.barred || u.pass == nil || len(u.pass.Waiting) == 0 {
		return
	}
	h := r.hold(u, u.barredFor)
	if u.barred = len(h.Waits) > 0; !u.barred {
		u.stirred = true
		return
	}
	// It may be for another one by now.
	u.pass.Waiting = []engine.Wait{{On: u.ID, Reason: h.String()}}
	if u.pass.Again.IsZero() || h.Until.Before(u.pass.Again) {
		u.pass.Again = h.Until
	}
}
