package managed

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// pass is one pass over a resource.
type pass struct {
	*Reconciler
	key    Key
	served served
	memory *memory
	// object is the resource as our last write left it; released is set once it is released.
	object   *unstructured.Unstructured
	released bool
	// outdated is set when the answer to a write had changes of others, which nothing was decided upon.
	outdated bool
	// whole is set once the pass has read all that it depends on; created when it has created what is outside.
	whole, created bool

	resource    *Resource
	external    External
	observation *Observation
	found       *Finding
	initialized bool
	// shown is what becomes status.atProvider, when that is known.
	shown any
}

// most is how many steps a pass makes at most; there are fewer in any that ends.
const most = 16

// run makes the steps of a pass, and reports whether it went well.
func (p *pass) run(ctx context.Context) (rounds.Next, bool) {
	for range most {
		d := Next(p.facts())
		end, err := p.carry(ctx, d)
		if err != nil {
			return p.failed(ctx, d, err), false
		}
		if end != nil {
			p.whole = p.observation != nil
			return p.ended(ctx, *end), d.Synced == nil || d.Synced.True
		}
	}
	return rounds.Retry(errors.New("the pass does not end")), false
}

// end has another pass made when something changed during this one that it does not know: a watch tells it once.
func (p *pass) end() {
	changed, related := p.held.end(p.key, p.object), p.edges.End(p.key, p.whole)
	if changed || related || p.outdated {
		p.loop.Wake(p.key)
	}
}

// facts are what is known so far.
func (p *pass) facts() Facts {
	o := p.object
	f := Facts{
		Now: time.Now(), Kind: p.served.Kind, Name: o.GetName(), Deleting: o.GetDeletionTimestamp() != nil, Finalizers: o.GetFinalizers(),
		Paused: o.GetAnnotations()[AnnotationPaused] == "true", ExternalName: o.GetAnnotations()[AnnotationExternalName],
		Creation: CreationOf(o), Connected: p.external != nil, Found: p.found, Observation: p.observation, Initialized: p.initialized,
	}
	_, f.Finds = p.external.(Finder)
	f.Actions, f.Invalid = ActionsOf(p.served.Kind, o)
	return f
}

// ending is how a pass ends.
type ending struct {
	Decision
	// repeat waits ever longer, as after a failure.
	repeat bool
	// event is emitted, when it has a reason.
	event Cause
}

// carry carries a step out. It returns how the pass ends, nil when it does not.
func (p *pass) carry(ctx context.Context, d Decision) (*ending, error) {
	switch d.Step {
	case StepName:
		return nil, p.annotate(ctx, map[string]string{AnnotationExternalName: p.object.GetName()})
	case StepConnect:
		return nil, p.connect(ctx)
	case StepFind:
		return nil, p.find(ctx)
	case StepForget:
		return nil, p.annotate(ctx, failed(p.unresolved(), time.Now()))
	case StepObserve:
		return nil, p.observe(ctx)
	case StepFinalize:
		return nil, p.finalize(ctx, true)
	case StepInitialize:
		return nil, p.initialize(ctx)
	case StepAdopt:
		return p.adopt(ctx, d)
	case StepCreate:
		return p.create(ctx, d)
	case StepUpdate:
		return p.update(ctx, d)
	case StepDelete:
		return p.delete(ctx, d)
	case StepRelease:
		return p.release(ctx)
	}
	p.memory.updates = 0
	return &ending{Decision: d}, nil
}

// ended writes the status, and says when the next pass is made.
func (p *pass) ended(ctx context.Context, e ending) rounds.Next {
	if p.released {
		return rounds.Rest()
	}
	p.tell(e.event)
	if err := p.conclude(ctx, e.Decision, Cause{}); err != nil {
		return rounds.Retry(err)
	}
	poll := p.poll()
	switch {
	case e.repeat:
		return rounds.Retry(nil)
	case e.After > 0 && (poll <= 0 || e.After < poll):
		return rounds.After(e.After)
	case e.Rests || poll <= 0:
		return rounds.Rest()
	}
	return rounds.After(rounds.About(poll))
}

// poll is how often the resource is observed without a change; less than zero for never.
func (p *pass) poll() time.Duration {
	if text, has := p.object.GetAnnotations()[annotationPoll]; has {
		if every, err := time.ParseDuration(text); err == nil && every > 0 {
			return max(every, time.Second)
		}
	}
	switch {
	case p.served.Poll > 0:
		return p.served.Poll
	case p.served.Poll == 0 || p.memory.polled:
		if p.options.Poll > 0 {
			return p.options.Poll
		}
		return DefaultPoll
	}
	return p.served.Poll
}

// The reasons of events about failures, as the upstream has them, by the step that failed, with what comes before the message.
var failures = map[Step]Cause{
	StepName:       {"CannotInitializeManagedResource", ""},
	StepConnect:    {"CannotConnectToProvider", "connect failed: "},
	StepFind:       {"CannotObserveExternalResource", "observe failed: "},
	StepForget:     {"CannotUpdateManagedResource", ""},
	StepObserve:    {"CannotObserveExternalResource", "observe failed: "},
	StepFinalize:   {"CannotUpdateManagedResource", ""},
	StepInitialize: {"CannotUpdateManagedResource", ""},
	StepAdopt:      {"CannotUpdateManagedResource", ""},
	StepCreate:     {"CannotCreateExternalResource", "create failed: "},
	StepUpdate:     {"CannotUpdateExternalResource", "update failed: "},
	StepDelete:     {"CannotDeleteExternalResource", "delete failed: "},
	StepRelease:    {"CannotUpdateManagedResource", ""},
}

// failed ends a pass with an error.
func (p *pass) failed(ctx context.Context, d Decision, err error) rounds.Next {
	if apierrors.IsConflict(err) {
		// The resource was changed meanwhile; its next version is on its way.
		return rounds.Retry(nil)
	}
	if d.Step == StepConnect || d.Step == StepObserve {
		d = Decision{Step: d.Step}
	}
	step := failures[d.Step]
	var (
		waiting   *WaitingError
		throttled *ThrottledError
		invalid   *InvalidError
		named     *stepError
	)
	if errors.As(err, &named) {
		step = named.Cause
	}
	d.Synced, d.UpToDate = failure(step.Message+err.Error()), nil
	switch {
	case errors.As(err, &waiting):
		d.Synced, d.Ready, d.After = success(), &Verdict{Cause: waiting.Cause}, 0
		if !waiting.Until.IsZero() {
			d.After = max(time.Until(waiting.Until), time.Second)
		}
		return p.ended(ctx, ending{Decision: d})
	case errors.As(err, &throttled):
		d.After = max(time.Until(throttled.Until), time.Second)
		d.Synced = failure(step.Message + throttled.Error())
		return p.ended(ctx, ending{Decision: d})
	}
	if problem := p.conclude(ctx, d, Cause{step.Reason, err.Error()}); problem != nil {
		return rounds.Retry(problem)
	}
	if errors.As(err, &invalid) {
		return p.later()
	}
	return rounds.Retry(err)
}

// later waits for the poll, or for a change.
func (p *pass) later() rounds.Next {
	if poll := p.poll(); poll > 0 {
		return rounds.After(rounds.About(poll))
	}
	return rounds.Rest()
}

// stepError is an error with the reason of its own event.
type stepError struct {
	Cause
	err error
}

func (e *stepError) Error() string { return e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// conclude writes the status, and emits a warning when there is one and the resource says something new.
func (p *pass) conclude(ctx context.Context, d Decision, warning Cause) error {
	s := statusOf(p.object, time.Now())
	news := s.conclude(d)
	if p.shown != nil {
		fields, err := declared.Fields(p.shown)
		if err != nil {
			return err
		}
		s.after["atProvider"] = fields
	}
	if requested := p.object.GetAnnotations()[AnnotationRequestedAt]; requested != "" {
		s.after["lastHandledReconcileAt"] = requested
	}
	if news && warning.Reason != "" {
		p.emit("Warning", warning.Reason, warning.Message)
	}
	if news && d.Synced != nil && d.Synced.Reason == ReasonPaused {
		p.emit("Normal", "ReconciliationPaused", d.Synced.Message)
	}
	if p.external == nil && p.observation == nil && d.Synced == nil {
		return nil
	}
	before, after, err := s.fields()
	if err != nil {
		return err
	}
	if err := p.patchStatus(ctx, declared.Difference(before, after)); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	return nil
}
