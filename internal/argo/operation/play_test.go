package operation_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

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
