package operation

import (
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Passed are the hooks of a phase once all of them have succeeded; nil while one has not, or when there are none.
func (o *Operation) Passed(phase Phase) []*Task {
	var hooks []*Task
	for _, t := range o.Tasks {
		if !t.Hook || t.Phase != phase {
			continue
		}
		if t.State != Done || !t.released {
			return nil
		}
		hooks = append(hooks, t)
	}
	return hooks
}

// end reports how the operation ended.
func (o *Operation) end(now time.Time, live func(engine.ObjectID) Live) Step {
	step := Step{Ended: true, Failed: o.failure != "", Message: "successfully synced (all tasks run)"}
	if step.Failed {
		step.Message = o.failure
	}
	policy := HookSucceeded
	if step.Failed {
		policy = HookFailed
	}
	for _, t := range o.Tasks {
		// A deletion is tried again until it succeeds: a hook that failed makes room for the next attempt.
		drops := slices.Contains(t.Policies, policy) || o.removal && t.State == Failed
		if t.Hook && t.ended() && drops && live(t.ID).Exists {
			step.Drop = append(step.Drop, t)
		}
	}
	return step
}

// Terminate ends the operation before its time: hooks that run are deleted. One that has completed by now says so, and
// stays.
func (o *Operation) Terminate(now time.Time, live func(engine.ObjectID) Live, message string) Step {
	step := Step{Ended: true, Failed: true, Message: message}
	for _, t := range append(slices.Clone(o.Tasks), o.lingering...) {
		if t.Hook && t.State == Running {
			o.look(t, now, live(t.ID))
		}
		if t.Hook && t.State == Running {
			t.State, t.Message = Failed, "Terminated"
			step.Drop = append(step.Drop, t)
		}
	}
	step.Release = slices.DeleteFunc(held(append(slices.Clone(o.Tasks), o.lingering...)), func(t *Task) bool { return slices.Contains(step.Drop, t) })
	o.lingering, o.failure = nil, message
	return step
}

// held are hooks that ran, have completed and were not released yet.
func held(tasks []*Task) []*Task {
	var all []*Task
	for _, t := range tasks {
		if t.Hook && t.ended() && t.Code == Synced && !t.released {
			all = append(all, t)
		}
	}
	return all
}

// Released reports what came of releasing a hook that has completed. One that cannot be released keeps its name, its
// namespace and its deletion waiting: the sync fails.
func (o *Operation) Released(t *Task, err error) {
	t.released = true
	if err != nil {
		t.State, t.Message = Failed, "Failed to remove hook finalizer: "+err.Error()
	}
}
