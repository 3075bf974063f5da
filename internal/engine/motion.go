package engine

import (
	"slices"
	"time"
)

// Motion is what decides whether a unit can still come further without a change from outside.
type Motion struct {
	Now   time.Time
	Phase Phase
	// Underway is set while something is executed for the unit, or is about to be: a step, a check of its objects,
	// its status, what it has just declared.
	Underway bool
	// Reached is set when the unit is what is wanted of it now.
	Reached bool
	// Source is what its source has now, and Told what the unit says of it while it waits for it.
	Source SourceFact
	Told   string
	// Key is what its pass is for, or was for last, and Want what is wanted by what the source has now.
	Key, Want Key
	// Failure is why it failed, the Attempts-th time in a row.
	Failure  *Failure
	Attempts int
	// Due is when something is done for it next, zero for never.
	Due time.Time
	// Awaits are what it waits for.
	Awaits []Awaited
}

// Awaited is one thing that a unit waits for.
type Awaited struct {
	What Awaiting
	// Verdict is that of an object.
	Verdict Verdict
	// Came is set when it is there, and the unit is about to be told.
	Came bool
	// Applied is set for a kind whose definition has been applied, and does not say that it is broken.
	Applied bool
	// Bounded is set when the wait is given up at some time.
	Bounded bool
}

// Awaiting is what sort of thing a unit waits for.
type Awaiting string

// The sorts.
const (
	// AwaitingUnit is another unit, which moves on its own or does not.
	AwaitingUnit Awaiting = "unit"
	// AwaitingKind is a kind that is not served.
	AwaitingKind Awaiting = "kind"
	// AwaitingExistence is an object that is not there.
	AwaitingExistence Awaiting = "existence"
	// AwaitingEnd is an object that is being deleted.
	AwaitingEnd Awaiting = "end"
	// AwaitingHealth is the health of an object.
	AwaitingHealth Awaiting = "health"
	// AwaitingUnknown is something of which nothing is known here.
	AwaitingUnknown Awaiting = "unknown"
)

// soon is how near something is that is still waited for; transientTries and refusedTries are how often a failure is
// retried that may pass without a change.
const (
	soon           = 30 * time.Second
	transientTries = 8
	// failedTries is how often in a row a unit fails before it counts for nothing that it is tried again soon, or that health is on its way: other
	// units may have brought meanwhile what it lacked.
	failedTries = 2
	// RefusedTries is how often what was refused is tried again soon.
	RefusedTries = 6
)

// Settled reports that nothing moves the unit any more but a change from outside: nothing is in progress or due, and what
// it waits for does not come on its own. Units that wait for each other are settled when none of them moves.
func (m Motion) Settled() bool {
	coming := slices.ContainsFunc(m.Awaits, Awaited.coming)
	switch due := !m.Due.IsZero() && m.Due.Before(m.Now.Add(soon)); {
	case m.Underway || m.Overtaken():
		return false
	case m.Phase == PhaseFailed:
		return !m.retried() && (!due && !coming || m.Attempts > failedTries)
	case due:
		return false
	}
	switch m.Phase {
	case PhaseReady:
		return m.Reached
	case PhaseSuspended:
		return true
	case PhaseWaitingForSource:
		return !m.Source.Pending
	case PhaseWaitingForDependencies, PhaseApplying, PhasePruning, PhaseWaitingForHealth, PhaseDeleting:
		return len(m.Awaits) > 0 && !coming
	default:
		return false
	}
}

// Overtaken reports that the source differs from when the unit was decided upon: what the source has is known at
// once, and the unit learns of it a moment later.
func (m Motion) Overtaken() bool {
	switch m.Phase {
	case PhaseWaitingForSource:
		return m.Source.Revision != "" || m.Source.Message != m.Told
	case PhaseWaitingForDependencies, PhaseSuspended, PhaseDeleting:
		return false
	default:
		return m.Key != m.Want
	}
}

// retried reports whether a failure is retried soon, since it may be transient.
func (m Motion) retried() bool {
	f := m.Failure
	switch {
	case f == nil:
		return false
	case f.Transient:
		return f.After > 0 || m.Attempts <= transientTries
	default:
		return f.Refused && m.Attempts <= RefusedTries
	}
}

// Came reports that something is there that the unit waits for, so that it can continue.
func (m Motion) Came() bool {
	return slices.ContainsFunc(m.Awaits, func(a Awaited) bool { return a.Came })
}

// coming reports whether what is waited for may come on its own.
func (a Awaited) coming() bool {
	if a.Came {
		return true
	}
	switch a.What {
	case AwaitingKind:
		return a.Applied
	case AwaitingEnd, AwaitingUnknown:
		return true
	case AwaitingHealth:
		// What is not there may be made by a controller: that is not waited for without an end.
		return a.Verdict != Failed && a.Verdict != Current && (a.Verdict != NotFound || a.Bounded)
	default:
		return false
	}
}
