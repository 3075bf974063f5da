package runner

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// unit is the state of one unit. It belongs to the loop.
type unit struct {
	engine.Unit
	driver Driver
	traits Traits
	// refusal is why the dialect says that the declaration cannot be followed.
	refusal engine.Invalid
	rules   health.Rules
	ready   map[string]*health.Expr

	// verdicts are what the expressions of the unit said of its objects; budget is how long they may take.
	verdicts *verdicts
	budget   budget
	// answers are what the expressions over its dependencies said.
	answers *answers

	phase   engine.Phase
	since   time.Time
	message string
	reason  engine.Reason
	waits   []engine.Wait

	queued   bool
	busy     bool
	pass     *engine.Pass
	last     engine.Outcome
	attempts int
	nextAt   time.Time
	timer    *time.Timer

	// attached is the connection through which the objects of the unit are watched.
	attached *target
	// readAt is when what the unit waits for was read last, since it may not be watched.
	readAt  time.Time
	reading bool

	// inventory is what the unit holds in the cluster.
	inventory []engine.Entry
	// owned are the objects for which the unit is entered in the index of objects.
	owned map[engine.ObjectID]bool
	// applied is the revision that was last applied with success.
	applied string

	// rendering is what the last render, or the look ahead, gave.
	rendering *rendering
	looking   bool
	looked    engine.Key
	// refused are objects that the unit's account may not write: declaring them claims nothing.
	refused map[engine.ObjectID]bool
	// unpermitted are objects that the gate of the unit does not permit: declaring them claims nothing either.
	unpermitted map[engine.ObjectID]bool
	// disputed are objects of which the last apply found fields declared otherwise than their owners declare them.
	disputed map[engine.ObjectID]bool
	// steered are objects with which something failed, and how they were marked then: marked otherwise, that is tried again at once.
	steered map[engine.ObjectID]engine.Marks
	// skipped are objects that the last apply left alone: their health does not count.
	skipped map[engine.ObjectID]bool
	// needs is what the objects of the pass need before they can be applied.
	needs []apply.Need
	// changes are the results of the pass so far that are worth telling.
	changes []apply.Result

	inputs    uint64
	inputsFor uint64
	cached    *Inputs
	// versions are those of the objects that the last render read.
	versions map[engine.ObjectID]uint64

	// left is what a driver left of the objects; nil if unknown, or of no interest.
	left  map[engine.ObjectID]string
	paces paces
	// stirred is set when something changed since a driver looked last.
	stirred bool
	drift   map[engine.ObjectID]bool
	suspect map[engine.ObjectID]bool
	driftAt time.Time

	// terminating are the objects whose end the unit's own deletion waits for.
	terminating []engine.Entry
	deletion    deletion

	// stretches are the phases since the last pass ended.
	stretches []Stretch

	// fetched is when the source was asked to be fetched last, since others wait for what it has.
	fetched time.Time
	// barred is set while a driver waits with its deletions for other units, barredFor are the objects that these are about.
	barred    bool
	barredFor []engine.Entry
	// held are the objects of which the deletion waits for other units, heldSince when it began to.
	held map[engine.ObjectID]bool
	// occupied is set while all of these are held for the objects of others in them alone.
	occupied  bool
	heldSince map[engine.ObjectID]time.Time
	// pruning is set while a worker deletes what the unit no longer declares.
	pruning bool
	// mentions is what its declaration mentions, as of a generation.
	mentions    engine.Mentions
	mentionedAt int64
	// files is what the files of its source mention, where that matters.
	files files
	// claimed is the desired state for which a driver said last what the unit holds, where it says so only when it acts; deferred
	// are objects that it would have deleted then.
	claimed  engine.Key
	deferred []engine.Entry
	// stuck is set when deletions wait for units that make no progress.
	stuck     bool
	announced string
	// crashes counts panics of the loop since the last pass that succeeded; the unit rests after each.
	crashes    int
	restsUntil time.Time
	reporting  bool
	pending    *Report
	// finished is how long the last pass took.
	finished time.Duration
}

// files is what the files of a revision mention, nil while that is unknown.
type files struct {
	revision string
	mentions *engine.Mentions
}

// deletion is how far the deletion of a unit has come.
type deletion struct {
	// person is set when a person deleted the unit, and not another one.
	person bool
	// pruned is set when the policy has been carried out.
	pruned          bool
	deadline, retry time.Time
	// failedAt is what the source had when the deletion failed last: with something else, it is tried again at once.
	failedAt string
	// waits is what a driver waits for, followed are objects beside the inventory that this may be about.
	waits    []engine.Wait
	followed []engine.ObjectID
}

// evaluating reports whether expressions of the unit are being evaluated.
func (u *unit) evaluating() bool { return u.verdicts.evaluating || u.answers.asking }

// underway reports whether something is carried out for the unit, or is about to be decided.
func (u *unit) underway() bool { return u.busy || u.queued || u.looking }

// sourceless reports whether the objects of the unit are given by its own declaration alone.
func (u *unit) sourceless() bool { return !u.Sourced() && u.traits.Declares }

// declares reports whether it is known what the unit brings about, or was before it could no longer be read.
func (u *unit) declares() bool { return u.rendering != nil && u.rendering.declared }

// holdsAll reports whether a unit that waits with its deletions waits with everything that it does.
func (u *unit) holdsAll() bool { return u.declares() && !u.traits.Prunes }

// rendering is the result of a render, and what it was made from.
type rendering struct {
	key    engine.Key
	inputs string
	tree   *source.Tree
	err    error
	// mentions is what its files mention, of a render that failed.
	mentions engine.Mentions
	result   *render.Result
	objects  []*unstructured.Unstructured
	entries  []engine.Entry
	// versions are those of what was read beside the tree.
	versions map[engine.ObjectID]uint64
	// given is what the objects were made with beside the tree.
	given *Inputs
	// orphaned are objects that are declared and thereby left to others: no unit claims them.
	orphaned []engine.ObjectID
	// replaced are objects that were rendered and are left as they are.
	replaced []replaced
	// repeated are objects of which the last of several was kept, by how many there were.
	repeated map[engine.ObjectID]int
	// children are the units that these objects declare.
	children []engine.UnitID
	// declared is set where these are the objects that the unit brings about.
	declared bool
}

// replaced is an object that is left as it is, and why.
type replaced struct {
	entry engine.Entry
	why   string
}

// failed reports whether a render gave an error.
func (r *rendering) failed() bool { return r == nil || r.err != nil }

// childrenOf returns the units that objects declare.
func childrenOf(objects []*unstructured.Unstructured, kinds map[schema.GroupKind]bool) []engine.UnitID {
	var children []engine.UnitID
	for _, o := range objects {
		if kinds[o.GroupVersionKind().GroupKind()] {
			children = append(children, engine.UnitOf(engine.IDOf(o)))
		}
	}
	return children
}
