package runner

import (
	"context"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// work runs a step for a unit in a worker; then is run by the loop when it has ended, or failed when it panicked.
func (r *Runner) work(id engine.UnitID, step func(ctx context.Context) (then func()), failed func(err error)) {
	r.workers.Add(1)
	ctx := r.ctx
	go func() {
		defer r.workers.Done()
		var then func()
		err := r.cfg.Guard.Call(id.String(), func() error {
			then = step(ctx)
			return nil
		})
		if err != nil {
			then = func() { failed(err) }
		}
		r.mail.post(func() { r.concluded(id, then) })
	}()
}

// concluded enters what a worker did. A unit for which that panics is not busy for good.
func (r *Runner) concluded(id engine.UnitID, then func()) {
	err := r.cfg.Guard.Call(id.String(), func() error {
		then()
		return nil
	})
	if err == nil {
		return
	}
	if u, ok := r.units[id]; ok {
		u.busy, u.looking, u.reading, u.reporting = false, false, false, false
		u.verdicts.evaluating, u.answers.asking = false, false
		r.crashed(u, err)
	}
}

// guarded does something in the loop that concerns one unit: when it panics, that unit fails.
func (r *Runner) guarded(id engine.UnitID, do func()) {
	err := r.cfg.Guard.Call(id.String(), func() error {
		do()
		return nil
	})
	if u, ok := r.units[id]; ok && err != nil {
		r.crashed(u, err)
	}
}

// crashed fails a unit for which the loop panicked, and has it rest: whatever wakes it may lead there again.
func (r *Runner) crashed(u *unit, err error) {
	u.crashes++
	backoff := rounds.Backoff{Min: retryMin, Max: retryDeletionMax}
	u.restsUntil = time.Now().Add(backoff.After(u.crashes))
	failed := r.cfg.Guard.Call(u.ID.String(), func() error {
		if u.Deleting {
			r.deletionFailed(u.ID, err.Error())
			return nil
		}
		r.fail(u, buildFailure(err), false)
		return nil
	})
	if failed != nil {
		// What panics is part of every report on a pass.
		u.pass = nil
		u.phase, u.reason, u.message, u.waits = engine.PhaseFailed, engine.ReasonFailed, err.Error(), nil
		r.report(u, Report{Final: true, Reason: u.reason, Message: u.message})
	}
	r.mark(u.ID)
}

// rests reports whether a unit rests after a panic; it is woken when that ends.
func (r *Runner) rests(u *unit) bool {
	if time.Now().Before(u.restsUntil) {
		r.setTimer(u, u.restsUntil)
		return true
	}
	return false
}
