// Package operation decides what a sync of an Argo CD Application does next: which hooks run, which objects are
// written or deleted, in which phase and wave, and what is waited for.
//
// An Operation is a value that computes its next step from what is known of the live objects, and is given the results
// of it. It may be asked at any time and as often as one likes: it holds no timer, and nothing is decided by how often
// it was asked. The room refuses clients, clocks and goroutines.
//
// Where it goes further than Argo CD: a wave advances when its objects are well, without a pause; an object that is
// refused does not block others of its own wave; a newer sync takes over the hooks of the one that it supersedes; and a sync continues without
// the health of an object that waits for what only it can bring.
package operation

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Phase is a part of a sync, or of a deletion.
type Phase string

// The phases, by Argo CD's names.
const (
	PreSync    Phase = "PreSync"
	Sync       Phase = "Sync"
	PostSync   Phase = "PostSync"
	SyncFail   Phase = "SyncFail"
	PreDelete  Phase = "PreDelete"
	PostDelete Phase = "PostDelete"
)

func (p Phase) rank() int {
	return slices.Index([]Phase{PreDelete, PreSync, Sync, PostSync, PostDelete, SyncFail}, p)
}

// State is how far a task is.
type State int

// The states of a task.
const (
	// Pending tasks have not begun.
	Pending State = iota
	// Deleting hooks of an earlier sync make room.
	Deleting
	// Running tasks are written, or being deleted, and have not ended.
	Running
	Done
	Failed
)

// Task is what a sync does with one object in one phase.
type Task struct {
	ID      engine.ObjectID
	Version string
	Phase   Phase
	Wave    int
	// Hook is set for hooks, with when they are deleted.
	Hook     bool
	Policies []DeletePolicy
	// Prune deletes the object; Confirm waits for a person's word first.
	Prune, Confirm bool
	// Object is what is written; nil for Prune.
	Object *unstructured.Unstructured
	// Digest tells hooks apart by their content.
	Digest string

	State State
	// Code and Message are what came of it, as the status of an Application has them.
	Code    Code
	Message string
	// Since is when the task began to run.
	Since time.Time
	// Needs is what has to be there before the object can be written.
	Needs []engine.Wait
	// was is the health that the object had when it was written; why is what its health says now.
	was, why string
	// closed is set once nothing more comes of the group of the task.
	closed bool
	// released is set for a hook that has completed and is held no more.
	released bool
	// withdrawn is set for a hook of a superseded sync that the newer state does not have as it is.
	withdrawn bool
	// unwaited is set once the operation continues without waiting for the health of the object.
	unwaited bool
}

// Code is what came of an object.
type Code string

// The codes, by Argo CD's names.
const (
	Synced       Code = "Synced"
	SyncFailed   Code = "SyncFailed"
	Pruned       Code = "Pruned"
	PruneSkipped Code = "PruneSkipped"
)

// Name is how messages call the object of a task: group/kind/name.
func (t *Task) Name() string {
	if t.ID.Group == "" {
		return "/" + t.ID.Kind + "/" + t.ID.Name
	}
	return t.ID.Group + "/" + t.ID.Kind + "/" + t.ID.Name
}

// Unwaited reports whether the operation ended without waiting for the health of the object: the last wave is not waited for.
// Argo CD shows such an object as one that runs.
func (t *Task) Unwaited() bool { return t.unwaited }

// refused reports whether the object of a task could not be written or deleted, or vanished.
func (t *Task) refused() bool { return t.State == Failed && t.Code == SyncFailed }

func (t *Task) ended() bool { return t.State == Done || t.State == Failed }

func (t *Task) fail(message string) { t.State, t.Code, t.Message = Failed, SyncFailed, message }

// Live is what is known of an object in the cluster.
type Live struct {
	Exists bool
	// Health is a status of Argo CD, empty for an object that has none.
	Health, Message string
}

// Operation is a sync, or a deletion, in progress.
type Operation struct {
	Tasks []*Task
	// Run tells this operation from others.
	Run     string
	Started time.Time
	// lingering are hooks of a superseded sync that still run.
	lingering []*Task
	// failure is why the operation is about to fail.
	failure string
	// removal is set for a deletion.
	removal bool
	// refused are things that are said of single objects and fail the operation when it ends.
	notes []string
}

// Step is what is to be done next. When nothing is, Waits says why, or the operation has ended.
type Step struct {
	// Delete are tasks whose objects are deleted: hooks that make room, and prunes.
	Delete []*Task
	// Apply are tasks whose objects are written, in their order.
	Apply []*Task
	// Release are hooks that have completed and are to be held no more; Released says what came of it.
	Release []*Task
	Waits   []engine.Wait
	// Healths are the objects whose health is waited for, and Lacks is set where objects cannot be written for want of something
	// else, when that is all that is waited for.
	Healths []*Task
	Lacks   bool
	Again   time.Time
	Message string
	// Ended is set at the end; Failed says how.
	Ended, Failed bool
	// Drop are hooks that are deleted now that the operation has ended.
	Drop []*Task
}

// HookPatience is how long a hook of a sync may go on that is superseded by nothing, and that names no deadline of its own.
const HookPatience = 5 * time.Minute

// staleness is how long a status that was bad before an object was written may stay so.
const staleness = 30 * time.Second

// Next returns the next step, with what is live now.
func (o *Operation) Next(now time.Time, live func(engine.ObjectID) Live) Step {
	if step, waits := o.linger(now, live); waits {
		return step
	}
	for _, t := range o.Tasks {
		if t.State == Running || t.State == Deleting {
			o.look(t, now, live(t.ID))
		}
	}
	if completed := held(o.Tasks); len(completed) > 0 {
		return Step{Release: completed}
	}
	for {
		group, last := o.group()
		if group == nil {
			return o.end(now, live)
		}
		if step, acts := o.advance(group, last); acts {
			return step
		}
	}
}

// group returns the tasks of the lowest phase and wave that is not closed, and whether it is the last one.
// After a failure, only the hooks for that remain.
func (o *Operation) group() (group []*Task, last bool) {
	var at *Task
	for _, t := range o.Tasks {
		if t.closed || !o.counts(t) {
			continue
		}
		if at == nil || compareGroup(t, at) < 0 {
			at = t
		}
	}
	if at == nil {
		return nil, false
	}
	last = true
	for _, t := range o.Tasks {
		switch {
		case !o.counts(t):
		case compareGroup(t, at) == 0:
			group = append(group, t)
		case compareGroup(t, at) > 0:
			last = false
		}
	}
	return group, last
}

// counts reports whether a task is one of those that remain: SyncFail hooks when something failed, the others else.
// What runs already counts to its end.
func (o *Operation) counts(t *Task) bool {
	if t.Phase == SyncFail {
		return o.failure != ""
	}
	return o.failure == "" || t.State == Running && t.Hook || t.State == Failed
}

func compareGroup(a, b *Task) int {
	if c := a.Phase.rank() - b.Phase.rank(); c != 0 {
		return c
	}
	return a.Wave - b.Wave
}

// advance acts on a group: it is false when the group has ended by what is known already.
func (o *Operation) advance(group []*Task, last bool) (Step, bool) {
	var step Step
	for _, t := range group {
		switch {
		case t.State == Pending && t.Prune:
			step.Delete = append(step.Delete, t)
		case t.State == Pending && len(t.Needs) == 0:
			step.Apply = append(step.Apply, t)
		}
	}
	if len(step.Delete)+len(step.Apply) > 0 {
		return step, true
	}
	step = o.wait(group, last)
	if len(step.Waits) > 0 {
		return step, true
	}
	o.close(group, last)
	return Step{}, false
}

// close ends a group of which nothing is waited for any more, and notes what failed in it. What has not ended in a group
// that failed stays as it is; else it is done, since its health is not waited for.
func (o *Operation) close(group []*Task, last bool) {
	var failed []engine.Wait
	for _, t := range group {
		t.closed = true
		if t.State == Failed {
			failed = append(failed, engine.Wait{On: t.ID, Reason: strings.TrimPrefix(t.Message, t.ID.String()+": ")})
		}
	}
	waited := !last || slices.ContainsFunc(group, func(t *Task) bool { return t.Hook })
	for _, t := range group {
		switch {
		case t.State == Done:
			t.unwaited = t.unwaited || !waited && !t.Prune
		case len(failed) == 0:
			t.State, t.unwaited = Done, !waited && !t.Prune
		}
	}
	if len(failed) > 0 && o.failure == "" {
		o.failure = "one or more objects failed to apply, reason: " + engine.Grouped(failed)
		if slices.ContainsFunc(group, func(t *Task) bool { return t.State == Failed && t.Code == Synced || t.Hook && t.State == Failed }) {
			o.failure = "one or more synchronization tasks completed unsuccessfully, reason: " + engine.Grouped(failed)
			if phase := group[0].Phase; o.removal && (phase == PreDelete || phase == PostDelete) {
				o.failure = string(phase) + " hook(s) failed: " + engine.Grouped(failed)
			}
		}
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
