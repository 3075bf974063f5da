package operation_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestEveryRunEnds brings operations of random plans on, with random results and events in any order: each comes to rest
// after a few steps, and then has ended or names what it waits for; once everything that it waits for has come, it ends.
func TestEveryRunEnds(t *testing.T) {
	runs := uint64(20_000)
	if testing.Short() {
		runs = 2_000
	}
	seen := map[string]int{}
	for seed := range runs {
		p := newPlay(seed)
		for range 4 + p.rand.IntN(12) {
			p.turn(t)
			if p.ended {
				break
			}
			p.event()
		}
		p.settle(t)
		seen[p.outcome]++
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(p.trace, "\n"))
		}
	}
	for _, outcome := range []string{"succeeded", "failed to apply", "unsuccessful", "terminated", "abandoned"} {
		if seen[outcome] == 0 {
			t.Errorf("no run %s: %v", outcome, seen)
		}
	}
	t.Logf("%d runs: %v", runs, seen)
}

// turn brings the operation on for as long as it can without an event, as a driver does.
func (p *play) turn(t *testing.T) {
	t.Helper()
	p.op.Retry()
	p.tried = map[*operation.Task]int{}
	bound := 8 + 6*(len(p.op.Tasks)+len(p.op.Lingering()))
	for range bound {
		p.follows(t)
		step := p.op.Next(p.now, p.live)
		for _, task := range step.Release {
			p.completed[task] = true
			p.op.Released(task, p.mishap(12))
		}
		for _, task := range step.Drop {
			*p.thing(task.ID) = thing{bare: p.thing(task.ID).bare}
		}
		switch {
		case len(step.Release) > 0:
		case step.Ended:
			p.end(t, step)
			return
		case len(step.Delete)+len(step.Apply) > 0:
			p.execute(t, step)
		case len(step.Drop) > 0:
		case len(step.Healths) > 0 && p.rand.IntN(6) == 0:
			p.leave(step.Healths)
		default:
			p.rest(t, step)
			return
		}
	}
	t.Errorf("it does not come to rest in %d steps: %s", bound, p.tasks())
}

// follows checks what is shown of the tasks: nothing is done that is not.
func (p *play) follows(t *testing.T) {
	t.Helper()
	for _, task := range p.op.Tasks {
		o := p.thing(task.ID)
		switch {
		case task.State != operation.Done:
		case task.Hook && task.Message != "it has completed" && !p.completed[task]:
			t.Errorf("the hook %s counts as done, and has not completed", task.ID)
		case !task.Hook && !task.Prune && !p.left[task] && !p.last(task) && !o.bare && o.health != "Healthy" && p.tried[task] > 0:
			t.Errorf("%s counts as done, and is %s", task.ID, o.health)
		case task.Prune && task.Code == operation.Pruned && o.there:
			t.Errorf("%s counts as pruned, and is there", task.ID)
		case task.Prune && task.Code == "":
			t.Errorf("%s counts as done, and nothing came of it", task.ID)
		}
	}
}

func (p *play) mishap(odds int) error {
	if p.kind || p.rand.IntN(odds) > 0 {
		return nil
	}
	return errors.New("it is forbidden")
}

func (p *play) execute(t *testing.T, step operation.Step) {
	t.Helper()
	for _, task := range step.Delete {
		p.try(t, task)
		o := p.thing(task.ID)
		err := p.mishap(8)
		switch {
		case err != nil:
			p.say("  deleting %s fails", task.ID)
			p.op.Deleted(task, p.now, operation.Result{Err: err})
		case task.Confirm && !p.approved:
			p.op.Deleted(task, p.now, operation.Result{Skipped: "waiting for pruning confirmation"})
		case p.rand.IntN(8) == 0:
			p.op.Deleted(task, p.now, operation.Result{Skipped: "it is no longer ours"})
		default:
			o.deleting = true
			o.there = o.there && p.rand.IntN(2) == 0
			p.say("  deletes %s, gone: %t", task.ID, !o.there)
			p.op.Deleted(task, p.now, operation.Result{})
		}
	}
	if len(step.Delete) > 0 {
		return
	}
	for _, task := range step.Apply {
		p.try(t, task)
		p.apply(task)
	}
}

// try counts how often a task is tried in a turn: hooks that make room are tried again, everything else once.
func (p *play) try(t *testing.T, task *operation.Task) {
	t.Helper()
	p.tried[task]++
	if most := map[bool]int{true: 2, false: 1}[task.Hook]; p.tried[task] > most {
		t.Errorf("%s is tried %d times without an event", task.ID, p.tried[task])
	}
	if failed := p.failed; failed != nil && task.Phase != operation.SyncFail && (task.Phase != failed.Phase || task.Wave != failed.Wave) {
		t.Errorf("%s in %s/%d is written after %s in %s/%d failed", task.ID, task.Phase, task.Wave, failed.ID, failed.Phase, failed.Wave)
	}
}

func (p *play) apply(task *operation.Task) {
	o := p.thing(task.ID)
	err := p.mishap(6)
	switch {
	case err != nil:
		p.say("  applying %s fails", task.ID)
		p.op.Applied(task, p.now, operation.Result{Err: err})
		if task.Phase != operation.SyncFail {
			p.failed = task
		}
	case p.lacking[task.ID] || !p.kind && p.rand.IntN(8) == 0:
		p.lacking[task.ID] = true
		p.say("  %s needs something", task.ID)
		p.op.Applied(task, p.now, operation.Result{Needs: []engine.Wait{{On: task.ID, Reason: "its namespace does not exist"}}})
	case task.Hook && o.there && p.rand.IntN(2) == 0:
		o.deleting = true
		o.there = p.rand.IntN(2) == 0
		p.say("  %s makes room, gone: %t", task.ID, !o.there)
		p.op.MakeRoom(task, p.now)
	case task.Hook && o.there && p.rand.IntN(2) == 0:
		p.say("  joins %s", task.ID)
		p.op.Join(task, p.now)
	default:
		was := map[bool]string{true: o.health}[o.there]
		o.there, o.deleting = true, false
		o.health = oneOf(p, "Progressing", "Progressing", "Healthy", "Degraded", "Missing", "Suspended")
		p.say("  applies %s: it was %q and is %q", task.ID, was, o.health)
		p.op.Applied(task, p.now, operation.Result{Message: "applied", Health: was})
	}
}

// rest checks that an operation at rest names what it waits for, and that nothing in vain.
func (p *play) rest(t *testing.T, step operation.Step) {
	t.Helper()
	p.say("rests: %s", step.Message)
	if len(step.Waits) == 0 || step.Message == "" {
		t.Errorf("it rests and names nothing: %+v", step)
	}
	running := map[engine.ObjectID]bool{}
	for _, task := range append(slices.Clone(p.op.Tasks), p.op.Lingering()...) {
		running[task.ID] = running[task.ID] || task.Hook && task.State == operation.Running
	}
	for _, w := range step.Waits {
		id, _ := w.On.(engine.ObjectID)
		if id.Name == "" || w.Reason == "" {
			t.Errorf("it waits for %v: %q", w.On, w.Reason)
		}
		if p.failed != nil && !running[id] && p.op.Failing() == "" {
			t.Errorf("it waits for %s after %s was refused", id, p.failed.ID)
		}
	}
	if !step.Again.IsZero() && !step.Again.After(p.now) {
		t.Errorf("it rests until %s, and it is %s", step.Again, p.now)
	}
}

// end checks that an end is one.
func (p *play) end(t *testing.T, step operation.Step) {
	t.Helper()
	p.ended = true
	p.say("ended, failed: %t: %s", step.Failed, step.Message)
	switch {
	case !step.Failed:
		p.outcome = "succeeded"
	case p.outcome != "":
	case strings.Contains(step.Message, "failed to apply"):
		p.outcome = "failed to apply"
	default:
		p.outcome = "unsuccessful"
	}
	if again := p.op.Next(p.now, p.live); !again.Ended || again.Failed != step.Failed || again.Message != step.Message {
		t.Errorf("asked again, it says %+v after %+v", again, step)
	}
	for _, task := range p.op.Tasks {
		// A hook for failures that has completed in another process may only be held on to.
		held := task.Phase == operation.SyncFail && strings.HasPrefix(task.Message, "Failed to remove hook finalizer")
		if task.State == operation.Failed && !step.Failed && !held {
			t.Errorf("%s failed, and the operation succeeded", task.ID)
		}
	}
}

// settle has everything come that an operation may wait for, one way or the other: it ends.
func (p *play) settle(t *testing.T) {
	t.Helper()
	p.kind, p.approved, p.lacking = true, true, map[engine.ObjectID]bool{}
	for range 40 {
		if p.ended || t.Failed() {
			return
		}
		p.now = p.now.Add(time.Minute)
		for _, id := range slices.SortedFunc(maps.Keys(p.cluster), engine.ObjectID.Compare) {
			o := p.cluster[id]
			o.there = o.there && !o.deleting
			if o.health != "Healthy" {
				o.health = oneOf(p, "Healthy", "Degraded")
			}
		}
		p.say("everything comes")
		p.turn(t)
	}
	if !p.ended {
		t.Errorf("everything came, and it has not ended: %s", p.tasks())
	}
}
