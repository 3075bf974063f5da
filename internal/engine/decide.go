package engine

import (
	"fmt"
	"strings"
	"time"
)

// Phase is where a unit stands.
type Phase string

// The phases of a unit.
const (
	PhaseWaitingForSource       Phase = "WaitingForSource"
	PhaseWaitingForDependencies Phase = "WaitingForDependencies"
	PhaseRendering              Phase = "Rendering"
	PhaseApplying               Phase = "Applying"
	PhasePruning                Phase = "Pruning"
	PhaseWaitingForHealth       Phase = "WaitingForHealth"
	PhaseReady                  Phase = "Ready"
	PhaseFailed                 Phase = "Failed"
	PhaseSuspended              Phase = "Suspended"
	PhaseDeleting               Phase = "Deleting"
)

// Step is what is to be done next for a unit.
type Step string

// The steps. A step is carried out outside of the decision; when it has ended, the unit is decided
// upon again.
const (
	// StepWait does nothing until a fact changes or Decision.At has come.
	StepWait Step = "wait"
	// StepRender begins a pass.
	StepRender Step = "render"
	// StepApply applies what was rendered.
	StepApply Step = "apply"
	// StepPrune deletes what the unit no longer declares.
	StepPrune Step = "prune"
	// StepSucceed ends the pass: the unit is ready.
	StepSucceed Step = "succeed"
	// StepFail ends the pass, or what came before one, with Decision.Reason.
	StepFail Step = "fail"
	// StepAbandon drops the pass, since something newer is wanted or nothing is.
	StepAbandon Step = "abandon"
	// StepRecheck opens a pass that only waits for health, for a unit that was ready.
	StepRecheck Step = "recheck"
	// StepFinalize carries out the deletion policy and lets the unit's object go.
	StepFinalize Step = "finalize"
)

// Reasons of a decision or of a failure, by the names that Flux users know from Ready conditions.
const (
	ReasonSucceeded          = "ReconciliationSucceeded"
	ReasonProgressing        = "Progressing"
	ReasonArtifactFailed     = "ArtifactFailed"
	ReasonDependencyNotReady = "DependencyNotReady"
	ReasonBuildFailed        = "BuildFailed"
	ReasonFailed             = "ReconciliationFailed"
	ReasonPruneFailed        = "PruneFailed"
	ReasonHealthCheckFailed  = "HealthCheckFailed"
	ReasonInvalid            = "InvalidCELExpression"
	ReasonSuspended          = "Suspended"
	ReasonCycle              = "DependencyCycle"
)

// Key identifies a desired state. Two passes with the same key want the same.
type Key struct {
	Generation int64
	Revision   string
	Requested  string
	// Inputs counts the changes of the objects that the render reads beside its source.
	Inputs uint64
}

// Progress is how far a pass has come.
type Progress int

// The safe points of a pass.
const (
	Begun Progress = iota
	Rendered
	Applied
	Pruned
)

// Pass is one try to reach a desired state.
type Pass struct {
	Key      Key
	Started  time.Time
	Progress Progress
	// Deadline ends the wait for health.
	Deadline time.Time
	// Failure is set when a step failed, or health did; a pass that failed on health stays open,
	// so that the unit becomes ready when its objects do.
	Failure *Failure
	// Pending says what of the plan cannot be done yet, such as a kind that is not served.
	Pending []Wait
	// Recheck marks a pass that only waits for health.
	Recheck bool
}

// Failure is why a pass ended without success.
type Failure struct {
	Reason  string
	Message string
	// Transient failures are tried again soon, others at the retry interval.
	Transient bool
	// RetryAt is when the unit is tried again without any change.
	RetryAt time.Time
}

// Wait is one thing that a unit waits for.
type Wait struct {
	// On names the object or the unit.
	On string
	// Reason says what is missing.
	Reason string
	// Since is when the wait began; Until when it is given up, if ever.
	Since, Until time.Time
}

// String is the wait in one line, without times.
func (w Wait) String() string { return w.On + ": " + w.Reason }

// Outcome is how the last pass ended.
type Outcome struct {
	Key Key
	// Ended is zero when there was no pass yet.
	Ended   time.Time
	Failure *Failure
}

// SourceFact is what is known of a unit's source.
type SourceFact struct {
	Found bool
	// Pending is set while the first fetch is under way.
	Pending  bool
	Revision string
	Message  string
}

// DependencyFact is what is known of one dependency.
type DependencyFact struct {
	Dependency Dependency
	Met        bool
	Message    string
}

// Facts is everything that decides the next step of a unit.
type Facts struct {
	Now    time.Time
	Unit   *Unit
	Source SourceFact
	Cycle  []UnitID
	// Dependencies are only looked at when a pass is about to begin.
	Dependencies []DependencyFact
	Inputs       uint64
	// Busy is set while a step is carried out.
	Busy bool
	Pass *Pass
	Last Outcome
	// Drift is set when an applied object no longer is what was applied; DriftAt is when it may be
	// put right.
	Drift   bool
	DriftAt time.Time
	// Interval is when the next pass is due without any change; zero is never.
	IntervalAt time.Time
	// Hold is why pruning has to wait, if it does.
	Hold string
	// Terminating are the objects whose end the deletion of the unit still waits for.
	Terminating []ObjectHealth
	// DeletionDeadline ends that wait; DeletionRetry is when a deletion that failed is tried again.
	DeletionDeadline, DeletionRetry time.Time
	Health                          UnitHealth
}

// Decision is the next step of a unit.
type Decision struct {
	Step    Step
	Phase   Phase
	Reason  string
	Message string
	Waits   []Wait
	// Terminal failures are not tried again without a change.
	Terminal bool
	// At is when to decide again if nothing happens before; zero is never.
	At time.Time
}

// Want is the desired state of the unit by these facts.
func (f Facts) Want() Key {
	return Key{
		Generation: f.Unit.Generation, Revision: f.Source.Revision, Requested: f.Unit.Requested, Inputs: f.Inputs,
	}
}

// Decide returns the next step of a unit. It is a pure function of the facts.
func Decide(f Facts) Decision {
	switch {
	case f.Unit.Deleting:
		return f.decideDeletion()
	case f.Unit.Suspended:
		return f.decideSuspended()
	case f.Unit.Invalid != "":
		return f.fail(ReasonInvalid, f.Unit.Invalid, true)
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
	if f.Hold != "" {
		d.Step, d.Message = StepWait, f.Hold
		d.Waits = []Wait{{On: f.Unit.ID.String(), Reason: f.Hold}}
	}
	if len(f.Terminating) > 0 && f.Now.Before(f.DeletionDeadline) {
		d.Step, d.At = StepWait, f.DeletionDeadline
		d.Message = "waiting for the end of: " + Describe(f.Terminating)
		for _, o := range f.Terminating {
			d.Waits = append(d.Waits, Wait{On: o.ID.String(), Reason: "it is being deleted"})
		}
	}
	if f.DeletionRetry.After(f.Now) {
		d.Step, d.At = StepWait, f.DeletionRetry
	}
	return d
}

func (f Facts) decideSuspended() Decision {
	d := Decision{Step: StepWait, Phase: PhaseSuspended, Reason: ReasonSuspended, Message: "suspended"}
	if f.Pass != nil && !f.Busy {
		d.Step = StepAbandon
	}
	return d
}

// decideIdle is the decision for a unit without a pass.
func (f Facts) decideIdle() Decision {
	if f.Busy {
		return Decision{Step: StepWait, Phase: PhaseApplying, Reason: ReasonProgressing}
	}
	due, at := f.due()
	if !due {
		return f.rest(at)
	}
	if len(f.Cycle) > 0 {
		return f.decideCycle()
	}
	if !f.Source.Found || f.Source.Revision == "" {
		return Decision{
			Step: StepWait, Phase: PhaseWaitingForSource, Reason: ReasonArtifactFailed, Message: f.Source.Message,
			Waits: []Wait{{On: f.Unit.Source.String(), Reason: f.Source.Message}},
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
		Waits: []Wait{{On: f.Cycle[1].String(), Reason: message}},
	}
}

func (f Facts) unmet() []Wait {
	var waits []Wait
	for _, d := range f.Dependencies {
		if !d.Met {
			waits = append(waits, Wait{On: d.Dependency.String(), Reason: d.Message})
		}
	}
	return waits
}

// due tells whether a pass has to begin, and else when.
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
	if f.Unit.Health.Checked() && f.Health.Verdict != Current {
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
		return Decision{Step: StepAbandon, Phase: p.phase(), Reason: ReasonProgressing, Message: "superseded"}
	}
	if p.Failure != nil {
		return f.decideFailed()
	}
	switch p.Progress {
	case Begun:
		return Decision{Step: StepRender, Phase: PhaseRendering, Reason: ReasonProgressing}
	case Rendered:
		return Decision{Step: StepApply, Phase: PhaseApplying, Reason: ReasonProgressing}
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

// decidePrune waits for what cannot be applied yet, then for whoever might claim what would be
// deleted.
func (f Facts) decidePrune() Decision {
	p := f.Pass
	if len(p.Pending) > 0 {
		message := describeWaits(p.Pending)
		if !f.Now.Before(p.Deadline) {
			return f.fail(ReasonFailed, message, false)
		}
		return Decision{
			Step: StepWait, Phase: PhaseApplying, Reason: ReasonProgressing, Message: message,
			Waits: p.Pending, At: p.Deadline,
		}
	}
	if f.Hold != "" {
		return Decision{
			Step: StepWait, Phase: PhasePruning, Reason: ReasonProgressing, Message: f.Hold,
			Waits: []Wait{{On: f.Unit.ID.String(), Reason: f.Hold}},
		}
	}
	return Decision{Step: StepPrune, Phase: PhasePruning, Reason: ReasonProgressing}
}

func (f Facts) decideHealth() Decision {
	p := f.Pass
	if !f.Unit.Health.Checked() || f.Health.Verdict == Current {
		return Decision{Step: StepSucceed, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	if f.Health.Verdict == Failed {
		return f.fail(ReasonHealthCheckFailed, "health check failed for: "+Describe(f.Health.Broken), false)
	}
	if !f.Now.Before(p.Deadline) {
		return f.fail(ReasonHealthCheckFailed, fmt.Sprintf("health check failed after %s: timeout waiting for: [%s]",
			p.Deadline.Sub(p.Started).Round(time.Second), Describe(f.Health.Pending)), false)
	}
	waits := make([]Wait, len(f.Health.Pending))
	for i, o := range f.Health.Pending {
		waits[i] = Wait{On: o.ID.String(), Reason: strings.TrimSpace(string(o.Verdict) + " " + o.Message)}
	}
	return Decision{
		Step: StepWait, Phase: PhaseWaitingForHealth, Reason: ReasonProgressing,
		Message: "waiting for the health of: " + Describe(f.Health.Pending), Waits: waits, At: p.Deadline,
	}
}

// decideFailed keeps a pass open that failed on health, so that it ends well as soon as the
// objects do, and begins a new pass when the retry is due.
func (f Facts) decideFailed() Decision {
	p := f.Pass
	if p.Failure.Reason == ReasonHealthCheckFailed && f.Health.Verdict == Current {
		return Decision{Step: StepSucceed, Phase: PhaseReady, Reason: ReasonSucceeded}
	}
	at := p.Failure.RetryAt
	if f.Drift {
		at = earliest(at, f.DriftAt)
	}
	if (f.Drift && f.DriftAt.IsZero()) || (!at.IsZero() && !at.After(f.Now)) {
		return Decision{Step: StepAbandon, Phase: PhaseRendering, Reason: ReasonProgressing, Message: "retry"}
	}
	return Decision{
		Step: StepWait, Phase: PhaseFailed, Reason: p.Failure.Reason, Message: p.Failure.Message, At: at,
	}
}

func (f Facts) fail(reason, message string, terminal bool) Decision {
	d := Decision{Step: StepFail, Phase: PhaseFailed, Reason: reason, Message: message, Terminal: terminal}
	if terminal && f.Last.Failure != nil && f.Last.Failure.Message == message && f.Last.Key == f.Want() {
		d.Step = StepWait
	}
	if f.Busy {
		d.Step = StepWait
	}
	return d
}

func describeWaits(waits []Wait) string {
	parts := make([]string, len(waits))
	for i, w := range waits {
		parts[i] = w.String()
	}
	return strings.Join(parts, "; ")
}

// earliest is the earlier of two times, where zero is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
