// Package plan decides what a Build does next: a pure function of the Build, of what was observed, and of the time. It gives the status that
// is to be written and the actions to be carried out after that.
//
// There is one predicate: the outputs exist, have something in them, and were made of the current digest. Anything else needs a run. Names of
// runs follow from the digest, and an action is decided again until its effect is observed, so that a process may be killed anywhere.
//
// The package refuses clients and clocks, and shows no value of an output that is not declared public.
package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// Facts are what was observed.
type Facts struct {
	// Now is the time of the pass.
	Now time.Time
	// Workflow is the spec that is run: that of the template, or that of the Build. Library are the specs of other templates that it refers
	// to, by Reference.String.
	Workflow map[string]any
	Library  map[string]map[string]any
	// Inputs are the parameters, in the order of the spec.
	Inputs []Input
	// Missing says why the workflow or an input is unknown; empty if all are known.
	Missing string
	// Problem is why the last action was refused; empty when none was.
	Problem string
	// Runs are those of the Build that exist, and any object with the name of the active one.
	Runs []Run
	// Secrets are the outputs that exist, by name.
	Secrets map[string]Secret
	// Images are the managed resources of the Build. Unread says why images, or what uses them, are unknown: then none is deleted, and
	// none is taken for deleted.
	Images []Image
	Unread string
	// Users say what uses an image, by its number, and by the name of its managed resource.
	Users map[string]string
}

// Input is one parameter. The value of a Secret is known by its digest alone.
type Input struct{ Name, Value, Digest string }

// Run is a Workflow.
type Run struct {
	Name string
	UID  types.UID
	// Owned says that the run belongs to the Build.
	Owned   bool
	Digest  string
	Attempt int64
	Epoch   int64
	// Phase is that of the Workflow, Message says why.
	Phase, Message string
	FinishedAt     time.Time
	// Arguments are its parameters, Outputs are its output parameters.
	Arguments, Outputs map[string]string
}

// The phases of runs that have ended.
const (
	succeeded    = "Succeeded"
	failedPhase  = "Failed"
	erroredPhase = "Error"
)

// ended reports whether a run has ended.
func (r *Run) ended() bool {
	return r.Phase == succeeded || r.Phase == failedPhase || r.Phase == erroredPhase
}

// Secret is an output as it is.
type Secret struct {
	UID types.UID
	// Of is the Build that its label names, as namespace/name; empty for none.
	Of          string
	Annotations map[string]string
	// Empty says that it has no value.
	Empty bool
	// Digest is that of its values, Values are the public ones.
	Digest string
	Values map[string]string
}

// Image is a managed resource of kind Image.
type Image struct {
	// Resource is its name, Name that of the image.
	Resource, Name string
	UID            types.UID
	Digest         string
	// ID is the number that DigitalOcean gave the image, URL where it was imported from.
	ID, URL string
	Ready   bool
	// Failed says why the image will never be available.
	Failed  string
	Message string
	Created time.Time
}

// Do is what an action does.
type Do string

// The actions. All of them may be carried out again: what exists is adopted, what is gone stays gone.
const (
	CreateRun   Do = "CreateRun"
	CancelRun   Do = "CancelRun"
	DeleteRun   Do = "DeleteRun"
	CreateImage Do = "CreateImage"
	DeleteImage Do = "DeleteImage"
	WriteSecret Do = "WriteSecret"
)

// Action is one thing to carry out, after the status was written.
type Action struct {
	Do Do
	// Name is that of the object; UID restricts a deletion to the one that was meant.
	Name string
	UID  types.UID
	// Object is what is created or applied.
	Object *unstructured.Unstructured
}

// Decision is what happens next.
type Decision struct {
	// Build is the object as it is to be: its status. It is a copy.
	Build *v1alpha1.Build
	// Actions are to be carried out in their order, once the status is written.
	Actions []Action
	// Wake is when to decide again without any change; zero for never.
	Wake time.Time
}

// Next decides what a Build does next.
func Next(given *v1alpha1.Build, facts Facts) Decision {
	p := &pass{build: given.DeepCopy(), facts: facts}
	p.status = &p.build.Status
	if given.Spec.Suspend {
		return Decision{Build: p.build}
	}
	p.status.ObservedGeneration = given.Generation
	p.request()
	p.restoreEpoch()
	p.lost()
	p.schedule()
	p.digest()
	p.proceed()
	p.history()
	p.collect()
	p.conditions()
	return Decision{Build: p.build, Actions: p.actions, Wake: p.wake}
}

// Blocked is a Build about which nothing can be decided, since what there is cannot be read: what is missing is not taken for deleted.
func Blocked(given *v1alpha1.Build, now time.Time, message string) Decision {
	p := &pass{build: given.DeepCopy(), facts: Facts{Now: now}}
	p.status = &p.build.Status
	p.set(v1alpha1.ConditionReconciling, true, reasonRetrying, message)
	p.set(v1alpha1.ConditionReady, false, reasonUnreadable, message)
	return Decision{Build: p.build}
}

// pass is one pass over one Build.
type pass struct {
	build   *v1alpha1.Build
	status  *v1alpha1.BuildStatus
	facts   Facts
	actions []Action
	wake    time.Time

	// want is the digest of the inputs; empty while they are unknown.
	want string
	// invalid is what is wrong with the spec.
	invalid string
	// doing says what is awaited of the active run, or what keeps its outputs from being written.
	doing string
	// current is set when the outputs are of want.
	current bool
}

func (p *pass) do(a Action) { p.actions = append(p.actions, a) }

// wakeAt requests a pass at a time, if none comes earlier.
func (p *pass) wakeAt(at time.Time) {
	if p.wake.IsZero() || at.Before(p.wake) {
		p.wake = at
	}
}

func (p *pass) run(name string) *Run {
	at := slices.IndexFunc(p.facts.Runs, func(r Run) bool { return r.Name == name })
	if at < 0 {
		return nil
	}
	return &p.facts.Runs[at]
}

// RequestedAt is the annotation by which people request a pass.
const RequestedAt = "reconcile.fluxcd.io/requestedAt"

// request has what failed be attempted again when a person says so.
func (p *pass) request() {
	at := p.build.Annotations[RequestedAt]
	if at == "" || at == p.status.LastHandledReconcileAt {
		return
	}
	p.status.LastHandledReconcileAt = at
	p.status.Failures, p.status.NextAttemptTime = 0, nil
}

// proceed brings the outputs closer to the digest.
func (p *pass) proceed() {
	if p.status.Active != nil {
		p.follow(p.status.Active)
	}
	if p.status.Active != nil || p.want == "" {
		return
	}
	if p.current = p.upToDate(); p.current {
		p.record()
		return
	}
	p.begin()
}

func (p *pass) seconds() metav1.Time { return metav1.NewTime(p.facts.Now.UTC().Truncate(time.Second)) }
