package runner

import (
	"fmt"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// carry carries a decision out.
func (r *Runner) carry(u *unit, d engine.Decision) {
	r.enter(u, d)
	switch d.Step {
	case engine.StepWait:
		r.wait(u, d)
	case engine.StepRender:
		r.begin(u)
		r.startRender(u)
	case engine.StepApply:
		r.startAct(u)
	case engine.StepVerify:
		r.startVerify(u)
	case engine.StepRemedy:
		r.startRemedy(u, d.Message)
	case engine.StepPrune:
		r.startPrune(u)
	case engine.StepSucceed:
		r.succeed(u)
	case engine.StepFail:
		r.fail(u, engine.Failure{Reason: d.Reason, Message: d.Message}, d.Terminal)
	case engine.StepAbandon:
		r.abandon(u, d)
	case engine.StepRecheck:
		now := time.Now()
		u.pass = &engine.Pass{
			Key: u.last.Key, Started: now, Progress: engine.Pruned, Deadline: now.Add(u.Timeout), Recheck: true, Waits: true,
		}
		r.mark(u.ID)
	case engine.StepFinalize:
		r.startFinalize(u)
	}
}

// enter notes where the unit stands now.
func (r *Runner) enter(u *unit, d engine.Decision) {
	moved := u.phase != d.Phase
	if moved {
		u.since = time.Now()
		r.trace(u, d)
	}
	if d.Step == engine.StepWait && !u.busy && (moved || u.message != d.Message) && d.Message != "" {
		r.tell(u, Note{Phase: d.Phase, Text: d.Message, Waits: d.Waits, Failed: d.Phase == engine.PhaseFailed})
	}
	u.phase = d.Phase
	if u.busy {
		return
	}
	u.reason, u.message, u.waits = d.Reason, d.Message, since(d.Waits, u.since)
}

// since dates waits that say of themselves not when they began. Who gave them keeps theirs.
func since(waits []engine.Wait, began time.Time) []engine.Wait {
	if !slices.ContainsFunc(waits, func(w engine.Wait) bool { return w.Since.IsZero() }) {
		return waits
	}
	waits = slices.Clone(waits)
	for i := range waits {
		if waits[i].Since.IsZero() {
			waits[i].Since = began
		}
	}
	return waits
}

// A pass or a wait that is slow is written to the status: one that lasts longer than slow. While many units move at once, each takes
// long since the others move, and writing that of each would hold all of them up further: then it is longer, by perUnit for each one
// beyond a few.
const (
	slow      = time.Second
	perUnit   = 50 * time.Millisecond
	fewAtOnce = 16
	slowest   = time.Minute
	// recount is how long a count of the units that move serves.
	recount = 100 * time.Millisecond
)

// slow is how long a pass or a wait lasts now before it is written to the status.
func (r *Runner) slow() time.Duration {
	if now := time.Now(); now.Sub(r.recounted) > recount {
		r.moving, r.recounted = 0, now
		for _, u := range r.units {
			if u.pass != nil && !u.pass.Recheck && u.phase != engine.PhaseFailed {
				r.moving++
			}
		}
	}
	return min(slow+perUnit*time.Duration(max(0, r.moving-fewAtOnce)), slowest)
}

// wait sets the timer of the unit, and writes a wait that lasts to the status.
func (r *Runner) wait(u *unit, d engine.Decision) {
	at := d.At
	if r.worthTelling(u, d) {
		from := u.since
		if u.pass != nil {
			from = u.pass.Started
		}
		if slow := r.slow(); time.Since(from) < slow && !u.unrecorded() {
			at = sooner(at, from.Add(slow))
		} else if text := fmt.Sprint(d.Phase, d.Message, u.stuck); u.announced != text {
			u.announced = text
			r.report(u, Report{Reason: d.Reason, Message: d.Message, Terminal: d.Terminal, Held: d.Held && u.stuck})
		}
	}
	if d.Phase == engine.PhaseReady && u.announced != "" {
		// A reported wait ended without a pass, as when a cycle is broken elsewhere.
		u.announced = ""
		r.report(u, Report{Final: true, OK: true, Reason: d.Reason, pass: &engine.Pass{Key: u.last.Key}})
		r.settled(u)
	}
	if d.Phase == engine.PhasePruning || u.Deleting || u.barred {
		r.holding[u.ID] = true
	} else {
		delete(r.holding, u.ID)
	}
	if d.Phase == engine.PhaseWaitingForDependencies {
		r.lookAhead(u)
	}
	if d.Held && u.occupied {
		r.markAll(r.dependents[u.ID])
	}
	if d.Phase != engine.PhaseReady && !u.Suspended && !u.busy {
		if due := r.readUnwatched(u); !due.IsZero() {
			at = sooner(at, due)
		}
	}
	r.setTimer(u, at)
}

// unrecorded reports whether a pass has applied what the status does not have yet, and has written nothing of it: should this
// process be killed while it waits, the next one must know what is there.
func (u *unit) unrecorded() bool {
	return u.traits.Prunes && !u.busy && u.announced == "" && u.pass != nil && len(engine.Leftover(u.inventory, u.Inventory)) > 0
}

func (r *Runner) worthTelling(u *unit, d engine.Decision) bool {
	switch d.Phase {
	case engine.PhaseDeleting:
		return d.Held
	case engine.PhaseReady, engine.PhaseFailed, engine.PhaseSuspended:
		return false
	default:
		return u.pass == nil || !u.pass.Recheck
	}
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

func (r *Runner) setTimer(u *unit, at time.Time) {
	if u.timer != nil {
		u.timer.Stop()
		u.timer = nil
	}
	if at.IsZero() {
		return
	}
	id := u.ID
	u.timer = time.AfterFunc(time.Until(at), func() { r.mail.post(func() { r.mark(id) }) })
}

// wants is the desired state of a unit when its source has what fact says.
func (u *unit) wants(fact engine.SourceFact) engine.Key {
	return engine.Facts{Unit: &u.Unit, Source: fact, Inputs: u.inputs}.Want()
}

// begin opens a pass for what is wanted now.
func (r *Runner) begin(u *unit) {
	if u.pass != nil {
		return
	}
	fact, _ := r.sources.Source(u.Source)
	now := time.Now()
	u.pass = &engine.Pass{
		Key:     u.wants(fact),
		Started: now, Deadline: now.Add(u.Timeout),
	}
	if u.pass.Key != u.last.Key {
		r.began(u)
	}
	u.needs, u.changes, u.announced, u.occupied = nil, nil, "", false
	u.verdicts.retry(r.counted(u))
	r.stats.Passes++
	r.setTimer(u, now.Add(r.slow()))
}

// fresh reports whether a user requested the pass, so that it ignores everything that is cached.
func (u *unit) fresh() bool {
	return !u.last.Ended.IsZero() && u.pass.Key.Requested != u.last.Key.Requested
}

func (r *Runner) abandon(u *unit, d engine.Decision) {
	if d.Abandoned == engine.AbandonedSuperseded && u.pass != nil && !u.pass.Recheck {
		// Until a unit has been reconciled once, what it reads is still coming, which is no news.
		if want := r.facts(u).Want(); !u.last.Ended.IsZero() || u.pass.Key.Revision != want.Revision {
			r.note(u, d.Phase, u.pass.Key.Superseded(want), false)
		}
		r.cancelHealthCheck(u)
	}
	u.part()
	r.mark(u.ID)
}

// part ends a pass that did not come to its end. What it has changed is not what the last one that did left
// behind: a state that was there before it is applied again when it is wanted again.
func (u *unit) part() {
	if p := u.pass; p != nil && !p.Recheck && p.Progress != engine.Begun {
		u.last.Key.Revision, u.last.Key.Digest = "", ""
	}
	u.pass = nil
}

func (r *Runner) succeed(u *unit) {
	p := u.pass
	revision := u.revision(p)
	revisionChanged := u.applied != revision
	u.pass, u.attempts, u.crashes = nil, 0, 0
	u.applied = revision
	r.noteLeft(u)
	u.last = engine.Outcome{Key: p.Key, Ended: time.Now()}
	u.nextAt = time.Time{}
	if u.Interval > 0 {
		u.nextAt = u.last.Ended.Add(jitter(u.Interval))
	}
	u.finished = u.last.Ended.Sub(p.Started)
	r.traced(u, p, nil)
	if revisionChanged || len(u.changes) > 0 || u.phase != engine.PhaseReady || !p.Recheck {
		text := "ready: " + revision + summary(u.changes)
		r.tell(u, Note{Phase: engine.PhaseReady, Text: text, Ready: true, Changed: len(u.changes) > 0})
	}
	r.report(u, Report{Final: true, OK: true, Reason: engine.ReasonSucceeded, pass: p, Changes: u.changes})
	u.changes = nil
	r.settled(u)
	r.mark(u.ID)
}

// revision is that of the source of a pass, or what was rendered for a unit without one.
func (u *unit) revision(p *engine.Pass) string {
	if !u.Sourced() && !u.rendering.failed() {
		return u.rendering.result.Digest
	}
	return p.Key.Revision
}

// Retries of transient failures begin after retryMin and are at most retryMax or the retry interval apart, those of deletions
// retryDeletionMax.
const (
	retryMin         = 750 * time.Millisecond
	retryMax         = retryMin << 12
	retryDeletionMax = retryMin << 6
)

// fail ends the pass with a failure. A pass that failed on health, or for a need that may yet come,
// stays open.
func (r *Runner) fail(u *unit, failure engine.Failure, terminal bool) {
	now := time.Now()
	failure.RetryAt = now.Add(u.RetryInterval)
	switch {
	case failure.After > 0:
		failure.RetryAt = now.Add(failure.After)
	case failure.Transient, failure.Refused && u.attempts < engine.RefusedTries:
		backoff := rounds.Backoff{Min: retryMin, Max: min(retryMax, u.RetryInterval)}
		failure.RetryAt = now.Add(backoff.After(u.attempts + 1))
	}
	if terminal {
		failure.RetryAt = time.Time{}
	}
	u.attempts++
	p := u.pass
	if p == nil {
		fact, _ := r.sources.Source(u.Source)
		p = &engine.Pass{Started: now, Key: u.wants(fact)}
	}
	p.Failure = &failure
	u.last = engine.Outcome{Key: p.Key, Ended: now, Failure: &failure}
	u.finished = now.Sub(p.Started)
	r.traced(u, p, &failure)
	u.phase, u.reason, u.message, u.waits = engine.PhaseFailed, failure.Reason, failure.Message, nil
	r.note(u, engine.PhaseFailed, failure.Message, true)
	r.report(u, Report{
		Final: true, Reason: failure.Reason, Message: failure.Message, Terminal: terminal, pass: p, Changes: u.changes,
	})
	u.changes = nil
	if failure.Reason != engine.ReasonHealthCheckFailed {
		u.pass = nil
	}
	r.settled(u)
	r.mark(u.ID)
}
