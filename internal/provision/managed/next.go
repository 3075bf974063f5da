package managed

import (
	"slices"
	"time"
)

// Facts are what is known of a resource in a pass; they grow from step to step.
type Facts struct {
	Now time.Time
	// Kind is that of the resource, Name its name, for logs.
	Kind Kind
	Name string
	// Deleting is set when it is to be deleted; Finalizers are those it has.
	Deleting   bool
	Finalizers []string
	// Paused is set when it is annotated so. Actions are what it lets be done; Invalid why that cannot be read.
	Paused  bool
	Actions Actions
	Invalid error
	// ExternalName is the name of what it stands for, Creation what is stored of creations.
	ExternalName string
	Creation     Creation
	// Connected is set once there is an External; Finds when it can search for what a creation made, Found what that gave.
	Connected, Finds bool
	Found            *Finding
	// Observation is what was observed; Initialized is set once its values were stored.
	Observation *Observation
	Initialized bool
}

// Step is what a pass does next.
type Step string

// The steps of a pass. Those up to StepObserve are followed by another decision.
const (
	// StepName stores the name of the object as external name.
	StepName Step = "Name"
	// StepConnect resolves references and connects to what is outside.
	StepConnect Step = "Connect"
	// StepFind searches for what a creation made.
	StepFind Step = "Find"
	// StepForget stores that a creation made nothing.
	StepForget Step = "Forget"
	// StepObserve observes what is outside, and writes its connection details.
	StepObserve Step = "Observe"
	// StepFinalize puts the finalizer on the resource.
	StepFinalize Step = "Finalize"
	// StepInitialize stores values that were not declared.
	StepInitialize Step = "Initialize"

	// StepAdopt stores the name of what a creation made.
	StepAdopt Step = "Adopt"
	// StepCreate, StepUpdate and StepDelete change what is outside.
	StepCreate Step = "Create"
	StepUpdate Step = "Update"
	StepDelete Step = "Delete"
	// StepRelease takes the finalizer off.
	StepRelease Step = "Release"
	// StepStop ends the pass.
	StepStop Step = "Stop"
)

// Decision is a step, and the conditions that hold when it ends the pass.
type Decision struct {
	Step Step
	// Synced, Ready and UpToDate are the conditions; nil keeps what there is.
	Synced, Ready, UpToDate *Verdict
	// After is when the next pass is made, zero for the poll; Rests is set when only a change makes one.
	After time.Duration
	Rests bool
}

// Verdict is a condition without its type.
type Verdict struct {
	True bool
	Cause
}

// Messages that people match on, as the upstream has them.
const (
	messageUnknownResult = "cannot determine creation result - remove the " + annotationPending + " annotation if it is safe to proceed"
	messageAbsent        = "external resource does not exist"
)

// creationGrace is how long something may stay invisible that was created; search is how often what an interrupted creation
// made is searched for.
const (
	creationGrace = 30 * time.Second
	search        = 5 * time.Second
)

// Next decides on the next step of a pass.
func Next(f Facts) Decision {
	switch {
	case f.Paused || f.Invalid == nil && f.Actions.Paused:
		return Decision{Step: StepStop, Synced: &Verdict{Cause: Cause{Reason: ReasonPaused, Message: pausedBy(f)}}, Rests: true}
	case f.Invalid != nil:
		return Decision{Step: StepStop, Synced: failure(f.Invalid.Error()), Rests: true}
	case f.Deleting && !f.Actions.Delete:
		return Decision{Step: StepRelease}
	case f.Kind.Naming == ByObject && f.ExternalName == "":
		return Decision{Step: StepName}
	case f.Creation.Incomplete() && !f.Kind.Repeatable:
		return interrupted(f)
	case !f.Connected:
		return Decision{Step: StepConnect}
	case f.Observation == nil:
		return Decision{Step: StepObserve}
	case f.Deleting:
		return deleted(f)
	case !f.Observation.Exists:
		return absent(f)
	}
	return present(f)
}

// interrupted decides about a creation whose result is not stored.
func interrupted(f Facts) Decision {
	switch {
	case !f.Connected:
		return Decision{Step: StepConnect}
	case !f.Finds:
		return Decision{Step: StepStop, Synced: failure(messageUnknownResult), Ready: notReady(ReasonCreating), Rests: true}
	case f.Found == nil:
		return Decision{Step: StepFind}
	case f.Found.Name != "":
		return Decision{Step: StepAdopt, Synced: success(), Ready: notReady(ReasonCreating)}
	case f.Found.Until.After(f.Now):
		return awaited(f)
	}
	return Decision{Step: StepForget}
}

// awaited waits until it is certain what a creation made.
func awaited(f Facts) Decision {
	return Decision{
		Step: StepStop, Ready: notReady(ReasonCreating), After: min(search, max(f.Found.Until.Sub(f.Now), time.Second)),
		Synced: failure("cannot determine the creation result yet: what an interrupted creation made is searched for, and adopted"),
	}
}

// deleted decides about a resource that is to go with what it stands for.
func deleted(f Facts) Decision {
	o := f.Observation
	switch {
	case !o.Exists && f.within(creationGrace):
		return Decision{Step: StepStop, Ready: notReady(ReasonDeleting), After: f.Creation.Succeeded.Add(creationGrace).Sub(f.Now)}
	case slices.ContainsFunc(f.Finalizers, func(one string) bool { return one != Finalizer }):
		return Decision{Step: StepStop, Synced: success(), Ready: notReady(ReasonDeleting), Rests: true}
	case o.Exists && !o.ReadOnly:
		return Decision{Step: StepDelete, Synced: success(), Ready: notReady(ReasonDeleting)}
	}
	return Decision{Step: StepRelease}
}

// within reports whether something was created so lately that it may be invisible yet.
func (f Facts) within(grace time.Duration) bool {
	return !f.Kind.Repeatable && !f.Creation.Succeeded.IsZero() && f.Now.Before(f.Creation.Succeeded.Add(grace))
}

// absent decides about what does not exist.
func absent(f Facts) Decision {
	finalized := slices.Contains(f.Finalizers, Finalizer)
	switch {
	case !f.Actions.Create || f.Observation.ReadOnly:
		return Decision{Step: StepStop, Synced: failure(messageAbsent), Ready: notReady(ReasonUnavailable), UpToDate: f.differs(&Verdict{Cause: Cause{ReasonDiffers, messageAbsent}})}
	case f.within(creationGrace):
		return Decision{Step: StepStop, After: f.Creation.Succeeded.Add(creationGrace).Sub(f.Now)}
	case !finalized:
		return Decision{Step: StepFinalize}
	case f.Kind.Naming == ByProvider && f.ExternalName == "" && f.Finds && f.Found == nil:
		// A name that was lost, such as by a replacement of the object, would be paid for twice.
		return Decision{Step: StepFind}
	case f.Found != nil && f.Found.Name != "":
		return Decision{Step: StepAdopt, Synced: success(), Ready: notReady(ReasonCreating)}
	case f.Found != nil && f.Found.Until.After(f.Now):
		return awaited(f)
	}
	return Decision{Step: StepCreate, Synced: success(), Ready: notReady(ReasonCreating)}
}

// present decides about what exists.
func present(f Facts) Decision {
	o := f.Observation
	d := Decision{Step: StepStop, Synced: success(), Ready: o.Ready.verdict(), After: o.Next}
	switch {
	case !slices.Contains(f.Finalizers, Finalizer):
		return Decision{Step: StepFinalize}
	case len(o.Initialized) > 0 && f.Actions.Initialize && !f.Initialized:
		return Decision{Step: StepInitialize}
	case o.Restricted != nil:
		d.UpToDate = f.differs(&Verdict{Cause: *o.Restricted})
	case o.UpToDate:
		d.UpToDate = f.differs(&Verdict{True: true, Cause: Cause{Reason: ReasonMatches}})
	case !f.Actions.Update || o.ReadOnly:
		d.UpToDate = f.differs(&Verdict{Cause: Cause{ReasonRestricted, o.Difference}})
	default:
		d.Step = StepUpdate
		d.UpToDate = f.differs(&Verdict{Cause: Cause{ReasonDiffers, o.Difference}})
	}
	return d
}

// differs is a condition UpToDate, where the kind has one.
func (f Facts) differs(v *Verdict) *Verdict {
	if !f.Kind.ShowsDifference {
		return nil
	}
	return v
}

func pausedBy(f Facts) string {
	if f.Paused {
		return "Reconciliation is paused via the pause annotation"
	}
	return "Reconciliation is paused via the managementPolicies"
}

func success() *Verdict { return &Verdict{True: true, Cause: Cause{Reason: ReasonSuccess}} }

func failure(message string) *Verdict { return &Verdict{Cause: Cause{ReasonError, message}} }

func notReady(reason string) *Verdict { return &Verdict{Cause: Cause{Reason: reason}} }

// verdict is the condition Ready, nil when nothing is known.
func (r Readiness) verdict() *Verdict {
	if !r.Known {
		return nil
	}
	return &Verdict{r.Ready, r.Cause}
}
