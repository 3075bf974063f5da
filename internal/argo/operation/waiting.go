package operation

import (
	"fmt"
	"slices"

	"github.com/headgate-dev/headgate/internal/engine"
)

// waiting are the tasks of a group that are waited for, by what for.
type waiting struct{ hooks, healths, deletions, needs []*Task }

// wait words what a group waits for. The health of the last one is not waited for. Once an object was refused, the sync
// fails as soon as the hooks that run have ended.
func (o *Operation) wait(group []*Task, last bool) Step {
	var step Step
	var by waiting
	refused := slices.ContainsFunc(group, (*Task).refused)
	for _, t := range group {
		switch {
		case t.ended():
		case refused && (!t.Hook || t.State != Running):
		case t.State == Pending:
			by.needs = append(by.needs, t)
			step.Waits = append(step.Waits, t.Needs...)
		case t.State == Deleting || t.Prune:
			by.deletions = append(by.deletions, t)
			step.Waits = append(step.Waits, t.waits(orElse(t.Message, "it is being deleted")))
		case t.Hook:
			by.hooks = append(by.hooks, t)
			step.Waits = append(step.Waits, t.waits(orElse(t.why, "the hook has not completed")))
		case !last:
			by.healths = append(by.healths, t)
			step.Waits = append(step.Waits, t.waits(orElse(t.why, "it is not healthy")))
			if t.was == degraded {
				step.Again = sooner(step.Again, t.Since.Add(staleness))
			}
		}
	}
	if stage := o.stage(group); stage != "" {
		for i := range step.Waits {
			step.Waits[i].Stage = stage
		}
	}
	by.say(&step)
	return step
}

// say enters what is waited for into a step.
func (by waiting) say(step *Step) {
	switch {
	case len(by.deletions) > 0:
		step.Message = "waiting for deletion of " + describe(by.deletions, "resources")
	case len(by.hooks) > 0:
		step.Message = "waiting for completion of hook " + describe(by.hooks, "hooks")
	case len(by.healths) > 0:
		step.Message = "waiting for healthy state of " + describe(by.healths, "resources")
	case len(by.needs) > 0:
		step.Message = "waiting for " + step.Waits[0].String()
	}
	if others := len(by.deletions) + len(by.hooks); others == 0 && len(by.needs) == 0 {
		step.Healths = by.healths
	} else if others == 0 && len(by.healths) == 0 {
		step.Lacks = true
	}
}

// Leave has the operation continue without waiting for the health of an object, and say why.
func (o *Operation) Leave(t *Task, why string) {
	t.State, t.unwaited = Done, true
	if !slices.Contains(o.notes, why) {
		o.notes = append(o.notes, why)
	}
}

// stage names a group for people; it is empty when there is no other.
func (o *Operation) stage(group []*Task) string {
	only := !slices.ContainsFunc(o.Tasks, func(t *Task) bool { return t.Phase != SyncFail && compareGroup(t, group[0]) != 0 })
	switch {
	case only:
		return ""
	case group[0].Phase == Sync:
		return fmt.Sprintf("wave %d", group[0].Wave)
	default:
		return fmt.Sprintf("%s, wave %d", group[0].Phase, group[0].Wave)
	}
}

func (t *Task) waits(reason string) engine.Wait {
	return engine.Wait{On: t.ID, Reason: reason, Since: t.Since}
}

func describe(tasks []*Task, others string) string {
	if len(tasks) == 1 {
		return tasks[0].Name()
	}
	return fmt.Sprintf("%s and %d more %s", tasks[0].Name(), len(tasks)-1, others)
}
