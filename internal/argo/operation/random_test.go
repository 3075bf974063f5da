package operation_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// thing is an object of the cluster of a play.
type thing struct {
	there, deleting bool
	health          string
	// bare is set for one of a kind without health.
	bare bool
}

// play is an operation in a cluster of chance.
type play struct {
	rand    *rand.Rand
	op      *operation.Operation
	now     time.Time
	cluster map[engine.ObjectID]*thing
	// lacking are the objects that something else has to come for; approved is set once deletions are.
	lacking  map[engine.ObjectID]bool
	approved bool
	// kind is set while everything turns out well or badly, but does turn out.
	kind bool
	// tried counts how often tasks were written or deleted in this turn, completed are hooks that were seen to have completed, and left
	// the objects whose health is not waited for.
	tried           map[*operation.Task]int
	completed, left map[*operation.Task]bool
	// failed is a task that was refused, in this operation.
	failed  *operation.Task
	ended   bool
	outcome string
	trace   []string
	runs    int
}

func newPlay(seed uint64) *play {
	p := &play{
		rand: rand.New(rand.NewPCG(seed, 36)), now: began, cluster: map[engine.ObjectID]*thing{}, lacking: map[engine.ObjectID]bool{},
		completed: map[*operation.Task]bool{}, left: map[*operation.Task]bool{},
	}
	if p.rand.IntN(8) == 0 {
		p.op = p.removal()
	} else {
		p.op = p.plan(nil)
	}
	p.say("planned %s", p.tasks())
	return p
}

func (p *play) say(format string, args ...any) {
	p.trace = append(p.trace, fmt.Sprintf(format, args...))
}

func (p *play) tasks() string {
	var all []string
	for _, task := range p.op.Tasks {
		all = append(all, fmt.Sprintf("%s:%s/%d hook=%t prune=%t confirm=%t state=%d", task.ID, task.Phase, task.Wave, task.Hook, task.Prune, task.Confirm, task.State))
	}
	return strings.Join(all, ", ")
}

// oneOf picks one.
func oneOf[T any](p *play, from ...T) T { return from[p.rand.IntN(len(from))] }

// objects are some at random, a third of them hooks.
func (p *play) objects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for i := range 1 + p.rand.IntN(5) {
		text := fmt.Sprintf("o%d sync-wave=%d", i, oneOf(p, -1, 0, 0, 0, 1, 2))
		if p.rand.IntN(3) == 0 {
			text += " hook=" + oneOf(p, "PreSync", "Sync", "PostSync", "SyncFail", "PreSync,PostSync", "Sync,SyncFail")
			if p.rand.IntN(2) == 0 {
				text += " hook-delete-policy=" + oneOf(p, "HookSucceeded", "HookFailed", "BeforeHookCreation", "HookSucceeded,HookFailed")
			}
		}
		u := object(text)
		u.SetKind(oneOf(p, "ConfigMap", "Deployment", "Namespace"))
		all = append(all, u)
	}
	return all
}

func (p *play) extras() []operation.Extra {
	var all []operation.Extra
	for i := range p.rand.IntN(3) {
		e := operation.Extra{Entry: engine.EntryOf(object(fmt.Sprintf("x%d", i))), Wave: p.rand.IntN(3), Last: p.rand.IntN(3) == 0, Confirm: p.rand.IntN(3) == 0}
		p.thing(e.ID).there = true
		all = append(all, e)
	}
	return all
}

func (p *play) plan(succeeded map[operation.Hooked]bool) *operation.Operation {
	p.runs++
	r := operation.Request{
		ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return fmt.Sprint(u.GetName(), p.rand.IntN(2)) }, Revision: "abcdef0123",
		Run: fmt.Sprint(p.runs), Started: p.now, Objects: p.objects(), Extra: p.extras(), PruneLast: p.rand.IntN(4) == 0, NoHooks: p.rand.IntN(8) == 0,
		Succeeded: succeeded,
	}
	if p.rand.IntN(6) == 0 {
		r.Namespace = object("ns")
	}
	if p.rand.IntN(8) == 0 {
		r.Selected = func(id engine.ObjectID) bool { return id.Name != "o1" }
	}
	return operation.New(r)
}

func (p *play) removal() *operation.Operation {
	return operation.Delete(operation.Removal{
		ID: engine.EntryOf, Digest: func(u *unstructured.Unstructured) string { return u.GetName() }, Cascade: p.rand.IntN(2) == 0, Started: p.now, Run: "d",
		Phases: []operation.Phase{operation.PreDelete, operation.PostDelete}, Held: p.extras(),
		Hooks: []*unstructured.Unstructured{object("before hook=PreDelete"), object("after hook=PostDelete hook-delete-policy=HookSucceeded")},
	})
}

func (p *play) thing(id engine.ObjectID) *thing {
	if p.cluster[id] == nil {
		p.cluster[id] = &thing{health: "Progressing", bare: p.rand.IntN(3) == 0}
	}
	return p.cluster[id]
}

func (p *play) live(id engine.ObjectID) operation.Live {
	o := p.thing(id)
	if o.bare {
		return operation.Live{Exists: o.there}
	}
	return operation.Live{Exists: o.there, Health: o.health, Message: "it is " + o.health}
}

// leave has objects not be waited for.
func (p *play) leave(tasks []*operation.Task) {
	for _, task := range tasks {
		p.say("  leaves %s", task.ID)
		p.left[task] = true
		p.op.Leave(task, "continued without waiting for "+task.ID.String())
	}
}

// last reports whether a task is in the last group of its operation: the health of that is not waited for.
func (p *play) last(of *operation.Task) bool {
	return !slices.ContainsFunc(p.op.Tasks, func(task *operation.Task) bool {
		after := task.Phase != of.Phase || task.Wave > of.Wave
		return task.Phase != operation.SyncFail && task.Phase != operation.PreSync && after
	})
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
		if task.State == operation.Failed && !step.Failed {
			t.Errorf("%s failed, and the operation succeeded", task.ID)
		}
	}
}

// event is something that happens outside.
func (p *play) event() {
	ids := slices.SortedFunc(maps.Keys(p.cluster), engine.ObjectID.Compare)
	o := p.cluster[oneOf(p, ids...)]
	switch p.rand.IntN(12) {
	case 0, 1, 2, 3:
		o.health = oneOf(p, "Healthy", "Healthy", "Degraded", "Progressing", "Unknown", "Missing")
	case 4:
		o.there = false
	case 5:
		p.lacking = map[engine.ObjectID]bool{}
	case 6:
		p.approved = true
	case 7:
		p.now = p.now.Add(time.Duration(p.rand.IntN(400)) * time.Second)
	case 8:
		for _, gone := range p.cluster {
			gone.there = gone.there && !gone.deleting
		}
	case 9:
		was := p.op
		p.op, p.failed = p.plan(nil), nil
		p.op.Supersede(was, p.declared)
		p.say("superseded by %s", p.tasks())
		return
	case 10:
		p.stop()
		return
	case 11:
		p.op.Spare(map[engine.ObjectID]bool{})
	}
	p.say("an event")
}

// declared is whether a hook is declared by a newer revision as it runs.
func (p *play) declared(*operation.Task) bool { return p.rand.IntN(2) == 0 }

// stop terminates or abandons the operation, or has another process continue it.
func (p *play) stop() {
	switch p.rand.IntN(3) {
	case 0:
		step := p.op.Terminate(p.now, p.live, "Operation terminated")
		p.ended, p.outcome = step.Ended, "terminated"
	case 1:
		p.op.Abandon("it is superseded", p.declared)
		p.outcome = "abandoned"
	default:
		succeeded := map[operation.Hooked]bool{}
		for _, task := range p.op.Tasks {
			if task.Hook && task.State == operation.Done {
				succeeded[operation.Hooked{ID: task.ID, Phase: task.Phase}] = true
			}
		}
		p.op, p.failed = p.plan(succeeded), nil
	}
	p.say("stopped: %s %s", p.outcome, p.tasks())
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
