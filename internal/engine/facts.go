package engine

import "time"

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

// The steps. A step is executed outside the decision; when it has ended, the unit is decided
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
	// StepVerify lets the driver check what is healthy now, such as by tests.
	StepVerify Step = "verify"
	// StepRemedy has the driver deal with health that failed; it ends the pass.
	StepRemedy Step = "remedy"
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

// Reason is why a unit stands where it does. A dialect may have reasons of its own.
type Reason string

// Reasons of a decision or of a failure, by the names that Flux users know from Ready conditions.
const (
	ReasonSucceeded          Reason = "ReconciliationSucceeded"
	ReasonProgressing        Reason = "Progressing"
	ReasonArtifactFailed     Reason = "ArtifactFailed"
	ReasonDependencyNotReady Reason = "DependencyNotReady"
	ReasonBuildFailed        Reason = "BuildFailed"
	ReasonFailed             Reason = "ReconciliationFailed"
	ReasonPruneFailed        Reason = "PruneFailed"
	ReasonHealthCheckFailed  Reason = "HealthCheckFailed"
	ReasonInvalid            Reason = "InvalidCELExpression"
	ReasonUnsupported        Reason = "UnsupportedField"
	ReasonAccessDenied       Reason = "AccessDenied"
	ReasonSuspended          Reason = "Suspended"
	ReasonCycle              Reason = "DependencyCycle"
)

// Key identifies a desired state. Two passes with the same key want the same.
type Key struct {
	Generation int64
	Revision   string
	// Digest is that of the source's tree: what a source includes changes without its revision.
	Digest    string
	Requested string
	// Steered is what annotations say by which a person answers a message.
	Steered string
	// Inputs counts the changes of the objects that the render reads beside its source.
	Inputs uint64
}

// Superseded says in words what in another key supersedes a pass for this one; equal keys are superseded by drift.
func (k Key) Superseded(by Key) string {
	switch {
	case k.Revision != by.Revision:
		return "superseded by revision " + by.Revision
	case k.Digest != by.Digest:
		return "superseded by a change of what its source includes"
	case k.Generation != by.Generation:
		return "superseded by a change of its object"
	case k.Requested != by.Requested:
		return "superseded by a requested reconciliation"
	case k.Steered != by.Steered:
		return "superseded by an annotation"
	case k.Inputs != by.Inputs:
		return "superseded by a change of what its render reads"
	}
	return "superseded, since what was applied has been changed"
}

// Progress is how far a pass has come.
type Progress int

// The safe points of a pass.
const (
	Begun Progress = iota
	Rendered
	Applied
	Pruned
	Verified
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
	// Waits is set when something was done whose health is waited for.
	Waits bool
	// Attended is set when the driver has something to do about that health: it verifies what is healthy, and remedies what
	// is not.
	Attended bool
	// Waiting is what a driver waits for in the middle of what it does, and Again when it looks again at the
	// latest; zero is never.
	Waiting []Wait
	Again   time.Time
	// Recheck marks a pass that only waits for health.
	Recheck bool
}

// Failure is why a pass ended without success.
type Failure struct {
	Reason  Reason
	Message string
	// Cause is the error that Message words, nil where there was none: what depends on why a unit failed asks the cause.
	Cause error
	// Transient failures are tried again soon, others at the retry interval.
	Transient bool
	// Refused failures are tried again soon a few times: a server that has just begun refuses what it has not
	// yet read the rules of.
	Refused bool
	// After, when not zero, is how long to wait for that instead.
	After time.Duration
	// RetryAt is when the unit is tried again without any change.
	RetryAt time.Time
}

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
	// Pending is set while the first fetch is in progress, or one that was requested after a failure.
	Pending  bool
	Revision string
	// Digest is that of the tree; it changes with the content alone.
	Digest string
	// Origin is the revision of what the source was built from, if it says so.
	Origin  string
	Message string
}

// In reports whether a desired state is made from what the source has now.
func (s SourceFact) In(k Key) bool { return s.Revision == k.Revision && s.Digest == k.Digest }

// DependencyFact is what is known of one dependency.
type DependencyFact struct {
	Dependency Dependency
	Met        bool
	Message    string
	// Evaluating is set while its expression is being evaluated, and nothing else is to be said of it.
	Evaluating bool
}

// Facts is everything that decides the next step of a unit.
type Facts struct {
	Now    time.Time
	Unit   *Unit
	Source SourceFact
	Cycle  []UnitID
	// Dependencies are only checked when a pass is about to start.
	Dependencies []DependencyFact
	Inputs       uint64
	// Busy is set while a step is carried out.
	Busy bool
	Pass *Pass
	Last Outcome
	// Drift is set when an applied object no longer is what was applied; DriftAt is when it may be
	// reverted.
	Drift   bool
	DriftAt time.Time
	// Interval is when the next pass is due without any change; zero is never.
	IntervalAt time.Time
	// Hold is what deletions have to wait for; Free is set where some of what a pass deletes need not.
	Hold Hold
	Free bool
	// Terminating are the objects whose end the deletion of the unit still waits for.
	Terminating []ObjectHealth
	// Awaited is what a driver waits for in the middle of a deletion.
	Awaited []Wait
	// Stirred is set when something changed since a driver looked last.
	Stirred bool
	// DeletionDeadline ends that wait; DeletionRetry is when a deletion that failed is tried again.
	DeletionDeadline, DeletionRetry time.Time
	Health                          UnitHealth
}

// Abandonment is why a pass is dropped.
type Abandonment string

// The causes.
const (
	// AbandonedSuspended is the pass of a unit that has been suspended.
	AbandonedSuspended Abandonment = "suspended"
	// AbandonedSuperseded is a pass for something else than what is wanted now.
	AbandonedSuperseded Abandonment = "superseded"
	// AbandonedDrift starts over, since what was applied has been changed.
	AbandonedDrift Abandonment = "drift"
	// AbandonedRetry starts over what has failed.
	AbandonedRetry Abandonment = "retry"
)

// Decision is the next step of a unit.
type Decision struct {
	Step Step
	// Abandoned is why, with StepAbandon.
	Abandoned Abandonment

	Phase   Phase
	Reason  Reason
	Message string
	Waits   []Wait
	// Held is set when deletions wait for other units.
	Held bool
	// Terminal failures are not tried again without a change.
	Terminal bool
	// At is when to decide again if nothing happens before; zero is never.
	At time.Time
}
