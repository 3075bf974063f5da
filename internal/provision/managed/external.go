package managed

import (
	"context"
	"time"
)

// Connector reaches what managed resources of a provider declare.
type Connector interface {
	// Connect returns the external resource of a managed resource for one pass, after its references were resolved. It makes no
	// requests but for what the resource and its configuration name, such as Secrets.
	Connect(ctx context.Context, r *Resource) (External, error)
}

// External is what is outside for the length of a pass: Observe comes first, and another method at most after it. Methods
// return within a minute; what takes longer is begun, and observed later.
//
// An error of any method has the pass repeated after a wait that grows from a second to a minute, unless it is, or wraps, one of
// the errors of this package that say more. Errors have no secret values: they are shown.
type External interface {
	Observe(ctx context.Context) (Observation, error)
	// Create creates it. The intent is stored already; its Attempt is to be on whatever is created, if there is room for it.
	Create(ctx context.Context, i Intent) (Result, error)
	// Update has it agree with what is declared, or makes a step towards that, such as a replacement.
	Update(ctx context.Context) (Result, error)
	// Delete deletes it. The pass is repeated until Observe says that it is gone; what is being deleted already is no error.
	Delete(ctx context.Context) (Result, error)
}

// Finder is an External that can search for what it created when the answer was lost, by a tag for example. Without it, an
// interrupted creation that is not repeatable ends in an error that a person has to resolve, as with the upstream.
type Finder interface {
	// Find searches for what the creation made. An intent without an Attempt is for whatever an earlier creation of the resource
	// made: it is asked before the first creation.
	Find(ctx context.Context, i Intent) (Finding, error)
}

// Releaser is a Connector that has something to undo before a resource is released, whether what it stands for was deleted or is
// left as it is. It is called again until it succeeds.
type Releaser interface {
	Release(ctx context.Context, r *Resource) error
}

// Intent is a creation that is about to be requested, or that was.
type Intent struct {
	// Attempt numbers the creations of a resource from one on, and is used once. Zero is none.
	Attempt int
	// Began is when it was stored, before anything was requested.
	Began time.Time
}

// Finding is what was found of a creation. Neither a name nor a time means that there is certainly nothing.
type Finding struct {
	// Name is the external name of what was created, to be adopted.
	Name string
	// Others were created as well; they are reported, and left alone.
	Others []string
	// Until is when it will be certain that nothing was created.
	Until time.Time
}

// Observation is how an external resource is.
type Observation struct {
	Exists bool
	// UpToDate says that no Update is needed. Difference says what differs, without secret values.
	UpToDate   bool
	Difference string
	// ReadOnly is set when it is not the resource's to create, change or delete, whatever its policies say.
	ReadOnly bool
	// Restricted says why it is not updated although it differs, such as a replacement that the policy forbids. Update is not
	// called then.
	Restricted *Cause
	// Ready is shown as the condition Ready of a resource that exists; the zero value keeps the one there is.
	Ready Readiness
	// AtProvider becomes status.atProvider; nil keeps what there is.
	AtProvider any
	// Initialized are fields below spec.forProvider that were not declared, and take the values that there are.
	Initialized map[string]any
	// Connection is written to the connection Secret.
	Connection map[string][]byte
	// Next is when to observe again, when that is sooner than the poll: while something is in progress.
	Next time.Duration
}

// Readiness is a condition Ready.
type Readiness struct {
	Known, Ready bool
	Cause
}

// Cause is the reason and the message of a condition.
type Cause struct{ Reason, Message string }

// Available is a resource that is ready; Unavailable one that is not, with why.
func Available() Readiness {
	return Readiness{Known: true, Ready: true, Cause: Cause{Reason: ReasonAvailable}}
}

// Unavailable is a resource that is not ready.
func Unavailable(message string) Readiness {
	return Readiness{Known: true, Cause: Cause{Reason: ReasonUnavailable, Message: message}}
}

// Creating is a resource that is not ready yet.
func Creating(message string) Readiness {
	return Readiness{Known: true, Cause: Cause{Reason: ReasonCreating, Message: message}}
}

// Result is what a request did.
type Result struct {
	// ExternalName is that of what was created; empty keeps the one there is.
	ExternalName string
	Connection   map[string][]byte
	// Ready is the condition Ready from now on; the zero value is Creating after Create, Deleting after Delete, and the one
	// there is after Update.
	Ready Readiness
	// Next is when to observe it. Zero after Create and Delete is soon, and ever later; after Update it is the poll.
	Next time.Duration
}
