package runner

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// Driver brings units to what they declare. Each unit has one, by its kind: package objects has that of units which are objects
// to apply. Its methods but Traits are called by workers, one at a time for each unit. None of them waits for health: that is
// the runner's.
type Driver interface {
	// Traits do not change.
	Traits() Traits
	// Prepare reads what the unit declares. Objects that it returns are claimed for the unit, and handed to Act. It is not
	// asked while everything is as it was.
	Prepare(ctx context.Context, p Preparation) (Prepared, error)
	// Act brings the unit on as far as it can be without waiting. It is called again when something that Acted.Waiting
	// may be about has changed.
	Act(ctx context.Context, w Work) Acted
	// Destroy takes away what a deleted unit holds. It is called again when something changed that it waits for.
	Destroy(ctx context.Context, w Work) (Destroyed, error)
}

// Traits are what tells drivers apart for other units: what is known of theirs, and when.
type Traits struct {
	// Declares is set where Prepare returns the objects that a unit brings about: they are known, and claimed, before it acts.
	// Otherwise a unit says what it holds when it has acted.
	Declares bool
	// Shares is set where objects are applied field by field, so that several units may own one together, each object may
	// wait for another unit on its own, and objects are left alone that are marked so. What is not shared belongs to one unit.
	Shares bool
	// Prunes has the runner delete what a unit declares no more, and what a deleted one holds, by what it knows of both. What
	// other drivers delete follows from their declarations, is decided by them, and passes the barrier by Peers.
	Prunes bool
}

// Attendant is a driver with something to do about the health of what it has brought about.
type Attendant interface {
	// Verify is called when the objects that Act returned are healthy. It may take its time.
	Verify(ctx context.Context, w Work) Acted
	// Remedy is called when they are not, with the reason; the failure that it returns ends the pass.
	Remedy(ctx context.Context, w Work, message string) Acted
}

// Abandoner is a driver that may have to leave everything where it is. It is asked before the cluster is reached.
type Abandoner interface {
	// Orphaned says why the objects of a deleted unit can no longer be deleted, so that they stay; nil when they can be.
	Orphaned(ctx context.Context, id engine.UnitID) error
}

// Gatekeeper is a driver with a gate beside the account of a unit: what that does not permit, the unit does not claim.
type Gatekeeper interface {
	// Permits reports why a unit may not write an object, nil when it may. The answer costs no request.
	Permits(id engine.UnitID, e engine.Entry, kinds *cluster.Kinds) error
}

// Judge is a driver that says how well a unit is that has reached what it declares, as the object of another one.
// The record is that of the object; the answer costs no request.
type Judge interface {
	Judge(id engine.UnitID, rec cluster.Record) engine.ObjectHealth
}

// Preparation is what a driver prepares a unit from.
type Preparation struct {
	Unit engine.UnitID
	// Sourced is set for a unit with a source, of which Artifact is what it has.
	Sourced  bool
	Artifact *source.Artifact
	// Fresh is set when a user requested it, so that everything is read again.
	Fresh bool
	// Inputs are what was read beside the source, where that has not changed; nil has it read.
	Inputs *Inputs
	// Before is the last preparation of the same declaration, nil when that failed.
	Before *Prepared
}

// Prepared is what a driver prepared. Beside an error, it has what was read so far.
type Prepared struct {
	Inputs
	// Tree and Result are what was rendered, from which files; a driver that renders nothing leaves them out, and its objects
	// are those of Inputs.
	Tree   *source.Tree
	Result *render.Result
	// Same is set when it is the same as before.
	Same bool
	// Mentions is what the files mention from which it would have been prepared, beside an error.
	Mentions engine.Mentions
}

// Work is what a driver works on.
type Work struct {
	Unit engine.UnitID
	// Declared is the unit as it was when the work began.
	Declared engine.Unit
	// Key is the desired state. Fresh is set when a user requested a pass.
	Key   engine.Key
	Fresh bool
	// Config is how the unit's cluster is reached, as whom the unit works there.
	Config *rest.Config
	// Ended has something done when Config is no longer used.
	Ended func(func())
	// Kinds changes when the cluster comes to serve other kinds.
	Kinds uint64
	// Versions changes when one of the objects does; it is not ok while they are not all known. It costs no
	// request.
	Versions func([]engine.Entry) (versions string, ok bool)
	// Kind reports how a kind is reached in that cluster.
	Kind func(schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced, ok bool)

	// Objects are those that Prepare gave, in their order and scoped as the cluster has them; Held is what the
	// unit holds.
	Objects []*unstructured.Unstructured
	Held    []engine.Entry
	// Repeated are objects that were there several times, by how many there were; the last one is among Objects.
	Repeated map[engine.ObjectID]int
	// Conflicts are objects that belong to another unit, and Deferred those that it may be about to release.
	Conflicts map[engine.ObjectID]engine.UnitID
	Deferred  map[engine.ObjectID]Deferred
	// Disputes are objects of which other units own fields that the unit declares otherwise, and Shared those that other
	// units own too.
	Disputes map[engine.ObjectID][]engine.Dispute
	Shared   map[engine.ObjectID]apply.Shared
	// Former are units that owned objects together with this one and left them to it: these may carry their names yet.
	Former map[engine.ObjectID]engine.UnitID
	// Cluster is that of the unit, as whom the unit works there, and Applier writes to it.
	Cluster *cluster.Cluster
	Applier *apply.Applier
	// Superseded reports whether something else is wanted by now.
	Superseded func() bool
	// Peers report what other units have to do with objects, before these are written or deleted.
	Peers Peers
	// Follow has Destroy called again when an object changes that the unit does not hold.
	Follow func(engine.ObjectID)
}

// Deferred is why an object has to wait, and for whom.
type Deferred struct {
	Owner engine.UnitID
	Why   string
}

// Acted is what a driver did.
type Acted struct {
	// Entries are what the unit holds from now on; they count when Failure is nil, or when Held is set. Of a driver that
	// Prunes, what the unit has held before stays held beside them.
	Entries []engine.Entry
	Held    bool
	// Watched is set when the kinds of the entries are watched already.
	Watched bool
	// Deferred are objects that the unit holds no longer for its own sake: they are deleted when no other unit may claim them.
	Deferred []engine.Entry
	// Written are objects as they were after they were written: the watches may not have brought that yet.
	Written []*unstructured.Unstructured
	// Results are what became of each object, where a driver applies them all. Those that failed fail the pass, and what is
	// waited for is waited for by the runner.
	Results []apply.Result
	// Superseded is set when it was not finished, since something else is wanted by now.
	Superseded bool
	// Waits has the health of the entries waited for, when the unit has any.
	Waits bool
	// Waiting has Act called again when something changed, or at Again when that is not zero.
	Waiting []engine.Wait
	Again   time.Time
	// Needs are what objects need before they can be written; what failed for want of them is tried again when
	// they come.
	Needs   []apply.Need
	Changes []apply.Result
	// Failure ends the pass. A terminal one is not tried again without a change.
	Failure  *engine.Failure
	Terminal bool
}

// Destroyed is what a driver took away.
type Destroyed struct {
	// Waits are what has to come first.
	Waits []engine.Wait
	// Results are what became of each object, where that is known; those that failed are still held.
	Results []apply.Result
}
