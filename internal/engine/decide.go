package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Want is the desired state of the unit by these facts.
func (f Facts) Want() Key {
	return Key{
		Generation: f.Unit.Generation, Revision: f.Source.Revision, Digest: f.Source.Digest,
		Requested: f.Unit.Requested, Steered: f.Unit.Steered, Inputs: f.Inputs,
	}
}

// Decide returns the next step of a unit. It is a pure function of the facts.
func Decide(f Facts) Decision {
	switch {
	case f.Unit.Deleting:
		return f.decideDeletion()
	case f.Unit.Suspended:
		return f.decideSuspended()
	case f.Unit.Invalid != (Invalid{}):
		return f.fail(f.Unit.Invalid.Reason, f.Unit.Invalid.Message, true)
	case f.Pass != nil:
		return f.decidePass()
	default:
		return f.decideIdle()
	}
}

func (f Facts) decideDeletion() Decision {
	d := Decision{Phase: PhaseDeleting, Reason: ReasonProgressing, Message: "deleting", Step: StepFinalize}
	if f.Busy {
		d.Step = StepWait
	}
	if len(f.Hold.Waits) > 0 {
		d.Step, d.Message, d.Waits, d.Held, d.At = StepWait, f.Hold.String(), f.Hold.Waits, true, f.Hold.Until
	}
	if len(f.Terminating) > 0 && f.Now.Before(f.DeletionDeadline) {
		d.Step, d.At = StepWait, f.DeletionDeadline
		d.Message = "waiting for deletion of: " + Describe(f.Terminating)
		for _, o := range f.Terminating {
			d.Waits = append(d.Waits, Wait{On: o.ID, Reason: "it is being deleted"})
		}
	}
	if len(f.Awaited) > 0 && !f.Stirred {
		d.Step, d.At = StepWait, f.DeletionDeadline
		d.Message, d.Waits = Grouped(f.Awaited), f.Awaited
	}
	if f.DeletionRetry.After(f.Now) {
		d.Step, d.At = StepWait, f.DeletionRetry
	}
	return d
}

func (f Facts) decideSuspended() Decision {
	d := Decision{Step: StepWait, Phase: PhaseSuspended, Reason: ReasonSuspended, Message: "suspended"}
	if f.Pass != nil && !f.Busy {
		d.Step, d.Abandoned = StepAbandon, AbandonedSuspended
	}
	return d
}

// decideIdle is the decision for a unit without a pass.
func (f Facts) decideIdle() Decision {
	if f.Busy {
		return Decision{Step: StepWait, Phase: PhaseApplying, Reason: ReasonProgressing}
	}
	if len(f.Cycle) > 0 {
		return f.decideCycle()
	}
	due, at := f.due()
	if !due {
		return f.rest(at)
	}
	if f.Unit.Sourced() && (!f.Source.Found || f.Source.Revision == "") {
		return Decision{
			Step: StepWait, Phase: PhaseWaitingForSource, Reason: ReasonArtifactFailed, Message: f.Source.Message,
			Waits: []Wait{{On: f.Unit.Source, Reason: f.Source.Message}},
		}
	}
	if waits := f.unmet(); len(waits) > 0 {
		reasons := make([]string, len(waits))
		for i, w := range waits {
			reasons[i] = w.String()
		}
		return Decision{
			Step: StepWait, Phase: PhaseWaitingForDependencies, Reason: ReasonDependencyNotReady,
			Message: strings.Join(reasons, "; "), Waits: waits,
		}
	}
	return Decision{Step: StepRender, Phase: PhaseRendering, Reason: ReasonProgressing}
}

func (f Facts) decideCycle() Decision {
	message := "dependency cycle: " + Path(f.Cycle) + "; remove one of these dependencies"
	return Decision{
		Step: StepWait, Phase: PhaseWaitingForDependencies, Reason: ReasonCycle, Message: message, Terminal: true,
		Waits: []Wait{{On: f.Cycle[1], Reason: message}},
	}
}

// unmet are the dependencies that hold the gate. Those that are being evaluated are named where no others are, so that the message does not
// change for a moment with each version of an object: writing it would make another one.
func (f Facts) unmet() []Wait {
	var waits, unknown []Wait
	for _, d := range f.Dependencies {
		wait := Wait{On: d.Dependency.subject(), Reason: d.Message}
		switch {
		case d.Met:
		case d.Evaluating:
			unknown = append(unknown, wait)
		default:
			waits = append(waits, wait)
		}
	}
	if len(waits) == 0 {
		return unknown
	}
	return waits
}

// due reports whether a pass has to begin, and else when.
func (f Facts) due() (bool, time.Time) {
	if f.Last.Ended.IsZero() || f.Last.Key != f.Want() {
		return true, time.Time{}
	}
	at := f.IntervalAt
	if f.Last.Failure != nil {
		at = f.Last.Failure.RetryAt
	}
	if f.Drift {
		at = earliest(at, f.DriftAt)
		if f.DriftAt.IsZero() {
			return true, time.Time{}
		}
	}
	return !at.IsZero() && !at.After(f.Now), at
}

// rest is the decision for a unit that has nothing to do.
func (f Facts) rest(at time.Time) Decision {
	if failure := f.Last.Failure; failure != nil {
		return Decision{
			Step: StepWait, Phase: PhaseFailed, Reason: failure.Reason, Message: failure.Message, At: at,
		}
	}
	if f.Unit.Health.Checked() && f.Health.Verdict != Current && !f.Health.Evaluating && !f.Unit.Health.Once {
		return Decision{Step: StepRecheck, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	return Decision{Step: StepWait, Phase: PhaseReady, Reason: ReasonSucceeded, At: at}
}

// decidePass is the decision for a unit in the middle of a pass.
func (f Facts) decidePass() Decision {
	p := f.Pass
	if f.Busy {
		return Decision{Step: StepWait, Phase: p.phase(), Reason: ReasonProgressing}
	}
	if p.Key != f.Want() || (p.Recheck && f.Drift) {
		return abandon(p.phase(), AbandonedSuperseded)
	}
	if p.Failure != nil {
		return f.decideFailed()
	}
	if f.Drift && f.DriftAt.IsZero() && p.Progress > Rendered {
		// What waits for health, or for a kind, is corrected in the meantime.
		return abandon(PhaseRendering, AbandonedDrift)
	}
	switch p.Progress {
	case Begun:
		return Decision{Step: StepRender, Phase: PhaseRendering, Reason: ReasonProgressing}
	case Rendered:
		return f.decideApply()
	case Applied:
		return f.decidePrune()
	default:
		return f.decideHealth()
	}
}

func (p *Pass) phase() Phase {
	switch p.Progress {
	case Begun:
		return PhaseRendering
	case Rendered:
		return PhaseApplying
	case Applied:
		return PhasePruning
	default:
		return PhaseWaitingForHealth
	}
}

// decideApply waits for what a driver waits for in the middle of what it does.
func (f Facts) decideApply() Decision {
	p := f.Pass
	due := !p.Again.IsZero() && !p.Again.After(f.Now)
	if len(p.Waiting) > 0 && !f.Stirred && !due {
		return Decision{
			Step: StepWait, Phase: PhaseApplying, Reason: ReasonProgressing, Message: Grouped(p.Waiting),
			Waits: p.Waiting, At: p.Again,
		}
	}
	return Decision{Step: StepApply, Phase: PhaseApplying, Reason: ReasonProgressing}
}

// decidePrune waits for what cannot be applied yet, then for units that might claim what would be
// deleted.
func (f Facts) decidePrune() Decision {
	p := f.Pass
	if len(p.Pending) > 0 {
		message := Grouped(p.Pending)
		if !f.Now.Before(p.Deadline) {
			return f.fail(ReasonFailed, message, false)
		}
		return Decision{
			Step: StepWait, Phase: PhaseApplying, Reason: ReasonProgressing, Message: message,
			Waits: p.Pending, At: f.next(p.Deadline),
		}
	}
	if len(f.Hold.Waits) > 0 && !f.Free {
		return Decision{
			Step: StepWait, Phase: PhasePruning, Reason: ReasonProgressing, Message: f.Hold.String(),
			Waits: f.Hold.Waits, Held: true, At: f.next(f.Hold.Until),
		}
	}
	return Decision{Step: StepPrune, Phase: PhasePruning, Reason: ReasonProgressing}
}

func (f Facts) decideHealth() Decision {
	p := f.Pass
	if p.Progress == Verified {
		return Decision{Step: StepSucceed, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	if !f.Unit.Health.Checked() || f.Health.Verdict == Current || !p.Waits {
		if p.Attended {
			return Decision{Step: StepVerify, Phase: PhaseWaitingForHealth, Reason: ReasonProgressing}
		}
		return Decision{Step: StepSucceed, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	if f.Unit.Health.Patient {
		return f.patience()
	}
	if f.Health.Verdict == Failed {
		return f.unhealthy("health check failed for: " + Describe(f.Health.Broken))
	}
	if !f.Now.Before(p.Deadline) {
		if f.Health.Evaluating {
			// What is unknown yet is no reason to fail, or to roll anything back.
			return f.awaitHealth(f.Health.Pending, f.next(time.Time{}))
		}
		return f.unhealthy(fmt.Sprintf("health check failed after %s: timeout waiting for: [%s]",
			p.Deadline.Sub(p.Started).Round(time.Second), Describe(f.Health.Pending)))
	}
	return f.awaitHealth(f.Health.Pending, f.next(p.Deadline))
}

// patience waits for health as long as it takes.
func (f Facts) patience() Decision {
	return f.awaitHealth(append(slices.Clone(f.Health.Broken), f.Health.Pending...), f.next(time.Time{}))
}

func (f Facts) awaitHealth(objects []ObjectHealth, at time.Time) Decision {
	waits := make([]Wait, len(objects))
	for i, o := range objects {
		waits[i] = Wait{On: o.ID, Reason: strings.TrimSpace(string(o.Verdict) + " " + o.Message)}
	}
	return Decision{
		Step: StepWait, Phase: PhaseWaitingForHealth, Reason: ReasonProgressing,
		Message: "waiting for the health of: " + Describe(objects), Waits: waits, At: at,
	}
}

// unhealthy ends the pass; a driver may have something to do about it first.
func (f Facts) unhealthy(message string) Decision {
	if f.Pass.Attended {
		return Decision{Step: StepRemedy, Phase: PhaseWaitingForHealth, Reason: ReasonHealthCheckFailed, Message: message}
	}
	return f.fail(ReasonHealthCheckFailed, message, false)
}

// next is when a pass that waits until at is decided upon again: a drift may be due before.
func (f Facts) next(at time.Time) time.Time {
	if f.Drift {
		return earliest(at, f.DriftAt)
	}
	return at
}

// decideFailed keeps a pass open that failed on health, so that it ends well as soon as the
// objects do, and begins a new pass when the retry is due.
func (f Facts) decideFailed() Decision {
	p := f.Pass
	if p.Failure.Reason == ReasonHealthCheckFailed && f.Health.Verdict == Current {
		return Decision{Step: StepSucceed, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	at := f.next(p.Failure.RetryAt)
	if (f.Drift && f.DriftAt.IsZero()) || (!at.IsZero() && !at.After(f.Now)) {
		return abandon(PhaseRendering, AbandonedRetry)
	}
	return Decision{
		Step: StepWait, Phase: PhaseFailed, Reason: p.Failure.Reason, Message: p.Failure.Message, At: at,
	}
}

func abandon(phase Phase, why Abandonment) Decision {
	return Decision{Step: StepAbandon, Phase: phase, Reason: ReasonProgressing, Message: string(why), Abandoned: why}
}

func (f Facts) fail(reason Reason, message string, terminal bool) Decision {
	d := Decision{Step: StepFail, Phase: PhaseFailed, Reason: reason, Message: message, Terminal: terminal}
	if terminal && f.Last.Failure != nil && f.Last.Failure.Message == message && f.Last.Key == f.Want() {
		d.Step = StepWait
	}
	if f.Busy {
		d.Step = StepWait
	}
	return d
}

// namedHolders bounds how many units a message names for which deletions wait.
const namedHolders = 3

// describeHolders says for whom deletions wait. The reasons name the units.
func describeHolders(holders []Wait) string {
	reasons := make([]string, 0, namedHolders+1)
	for _, h := range holders[:min(len(holders), namedHolders)] {
		reasons = append(reasons, h.Reason)
	}
	if more := len(holders) - namedHolders; more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return "deletions wait: " + strings.Join(reasons, "; ")
}

// earliest is the earlier of two times, where zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
