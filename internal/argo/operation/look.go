package operation

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
)

// The statuses of Argo CD that decide something here.
const (
	healthy  = "Healthy"
	degraded = "Degraded"
	unknown  = "Unknown"
)

// look brings a task on by what is live.
func (o *Operation) look(t *Task, now time.Time, live Live) {
	switch {
	case t.State == Deleting && !live.Exists:
		t.State, t.Message = Pending, ""
	case t.State == Deleting:
	case t.Prune:
		if !live.Exists {
			t.State, t.Code, t.Message = Done, Pruned, "pruned"
		}
	case !live.Exists:
		t.fail("Resource " + t.ID.String() + " is missing, it might have been deleted")
	case t.Hook:
		t.lookHook(live)
	default:
		t.lookHealth(now, live)
	}
}

func (t *Task) lookHook(live Live) {
	switch live.Health {
	case "", healthy:
		t.State, t.Message = Done, orElse(live.Message, t.Message)
	case degraded, unknown:
		t.State, t.Message = Failed, orElse(live.Message, "the hook failed")
	default:
		t.why = live.Message
	}
}

func (t *Task) lookHealth(now time.Time, live Live) {
	t.why = live.Message
	switch live.Health {
	case "", healthy:
		// What was done with the object says more than that it is well.
		t.State = Done
	case degraded:
		if t.was == degraded && now.Before(t.Since.Add(staleness)) {
			// It was bad before it was written, and may not have been evaluated since.
			return
		}
		t.State, t.was = Failed, ""
		t.Message = orElse(live.Message, "it is degraded")
	default:
		t.was = ""
	}
}

// Result is what came of writing or deleting the object of a task.
type Result struct {
	Err error
	// Needs is what has to be there first.
	Needs []engine.Wait
	// Skipped says why nothing was done, for a prune.
	Skipped string
	// Message says what was done.
	Message string
	// Health is that which the object had before it was written.
	Health string
}

// Applied reports what came of a task of Step.Apply.
func (o *Operation) Applied(t *Task, now time.Time, r Result) {
	switch {
	case r.Err != nil:
		t.fail(r.Err.Error())
	case len(r.Needs) > 0:
		t.Needs = r.Needs
	default:
		t.State, t.Code, t.Message, t.Since, t.was, t.Needs = Running, Synced, r.Message, now, r.Health, nil
	}
}

// Deleted reports what came of a task of Step.Delete.
func (o *Operation) Deleted(t *Task, now time.Time, r Result) {
	switch {
	case r.Err != nil:
		t.fail(r.Err.Error())
	case r.Skipped != "" && t.Confirm:
		t.State, t.Message, t.Since = Running, r.Skipped, now
	case r.Skipped != "":
		t.State, t.Code, t.Message = Done, PruneSkipped, r.Skipped
	default:
		t.State, t.Since, t.Message = Running, now, ""
	}
}

// MakeRoom reports whether the object of an earlier run of a hook is being deleted.
func (o *Operation) MakeRoom(t *Task, now time.Time) {
	t.State, t.Since, t.Message = Deleting, now, "the hook of a previous sync is being deleted"
}

// Join reports whether the hook of a task runs already, from the same content.
func (o *Operation) Join(t *Task, now time.Time) {
	t.State, t.Code, t.Since, t.Message = Running, Synced, now, "joined"
}

// Retry has what waits for something to be there tried again.
func (o *Operation) Retry() {
	for _, t := range o.Tasks {
		if t.State == Pending {
			t.Needs = nil
		}
		if t.Prune && t.Confirm && t.State == Running {
			t.State = Pending
		}
	}
}

// linger waits for hooks of a superseded sync, and ends those whose time is over.
func (o *Operation) linger(now time.Time, live func(engine.ObjectID) Live) (Step, bool) {
	var step Step
	var rest []*Task
	for _, t := range o.lingering {
		if t.State == Running {
			o.look(t, now, live(t.ID))
		}
		until := t.deadline()
		switch {
		case len(held([]*Task{t})) > 0:
			step.Release = append(step.Release, t)
			continue
		case t.ended():
			o.notes = append(o.notes, "the superseded hook "+t.ID.String()+" ended")
			continue
		case t.withdrawn, !now.Before(until):
			t.State, t.Message = Failed, "superseded, and its deadline expired"
			if t.withdrawn {
				t.Message = "the newer revision changes or removes it"
			}
			o.notes = append(o.notes, t.ID.String()+" was terminated: "+t.Message)
			step.Drop = append(step.Drop, t)
			continue
		}
		rest = append(rest, t)
		w := t.waits("a hook of the superseded sync still runs")
		w.Until = until
		step.Waits = append(step.Waits, w)
		step.Again = sooner(step.Again, until)
	}
	o.lingering = append(rest, step.Release...)
	if len(step.Drop)+len(step.Release) > 0 {
		return step, true
	}
	if len(rest) > 0 {
		step.Message = "waiting for completion of hook " + describe(rest, "hooks") + " of a superseded sync"
		return step, true
	}
	return Step{}, false
}

// Lingering are the hooks of superseded syncs that still run.
func (o *Operation) Lingering() []*Task { return o.lingering }

// deadline is when a hook of a superseded sync is ended.
func (t *Task) deadline() time.Time {
	patience := HookPatience
	if t.Object != nil {
		if seconds, found := deadlineOf(t.Object); found {
			patience = time.Duration(seconds) * time.Second
		}
	}
	return t.Since.Add(patience)
}

// Prunes are the objects that the operation deletes since they are no longer declared.
func (o *Operation) Prunes() map[engine.ObjectID]bool {
	pruned := map[engine.ObjectID]bool{}
	for _, t := range o.Tasks {
		if t.Prune {
			pruned[t.ID] = true
		}
	}
	return pruned
}

// Spare has the operation leave what it would still delete, but for what is left to be deleted.
func (o *Operation) Spare(left map[engine.ObjectID]bool) {
	o.Tasks = slices.DeleteFunc(o.Tasks, func(t *Task) bool {
		return t.Prune && (t.State == Pending || t.Confirm && t.State == Running && t.Message != "") && !left[t.ID]
	})
}

// Supersede has this operation take the place of another one: it joins hooks that run and are the same here, waits for others that are declared
// as they run, and ends the rest: what is not wanted any more must not hold what is.
func (o *Operation) Supersede(old *Operation, declared func(*Task) bool) {
	if old == nil {
		return
	}
	o.notes = append(slices.Clone(old.notes), o.notes...)
	for _, t := range append(old.lingering, old.Tasks...) {
		if !t.Hook || t.State != Running {
			continue
		}
		// A hook that reports the failure of the other operation says nothing of this one.
		if same := o.find(t); same != nil && t.Phase != SyncFail {
			same.State, same.Code, same.Since, same.Message = Running, Synced, t.Since, "joined"
			continue
		}
		t.withdrawn = !declared(t)
		o.lingering = append(o.lingering, t)
	}
}

// Abandon has the operation fail without another step, for a reason, once its hooks that run have ended; it reports whether any do. Those
// that are not declared any more as they are here are ended.
func (o *Operation) Abandon(why string, declared func(*Task) bool) bool {
	for _, t := range o.Tasks {
		if t.Hook && t.State == Running {
			t.withdrawn = !declared(t)
			o.lingering = append(o.lingering, t)
		}
	}
	o.Refuse(why)
	return len(o.lingering) > 0
}

func (o *Operation) find(t *Task) *Task {
	for _, mine := range o.Tasks {
		if mine.Hook && mine.ID == t.ID && mine.Phase == t.Phase && mine.Digest == t.Digest {
			return mine
		}
	}
	return nil
}

// Notes are things that happened without a request.
func (o *Operation) Notes() []string { return o.notes }

// Failing is why the operation is about to fail, empty while it is not.
func (o *Operation) Failing() string { return o.failure }

// Refuse has the operation fail before it does anything more.
func (o *Operation) Refuse(why string) { o.Tasks, o.failure = nil, why }
