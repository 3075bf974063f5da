package runner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/health"
)

// judging is a driver whose units wait for the health of their checks.
type judging struct{ *trap }

func (judging) Act(context.Context, Work) Acted { return Acted{Waits: true, Watched: true} }

// judgedRunner is a runner whose records of kind X are whole.
func judgedRunner(t *testing.T) (*Runner, *trap) {
	t.Helper()
	trap := &trap{reports: map[string][]Report{}}
	r := trapped(t, trap, guard.Guard{})
	r.drivers[trapKind] = judging{trap}
	r.home.cluster.Objects.KeepFull(schema.GroupKind{Group: "e.io", Kind: "X"})
	return r, trap
}

// put enters a version of an object of kind X, and returns what names it.
func put(r *Runner, name string, version int, status map[string]any) engine.Entry {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "e.io/v1", "kind": "X", "status": status}}
	o.SetName(name)
	o.SetUID(types.UID(name))
	o.SetResourceVersion(fmt.Sprint(version))
	r.home.cluster.Objects.Put(o)
	return engine.Entry{ID: engine.IDOf(o), Version: "v1"}
}

// checking is a unit that is as healthy as objects are by expressions.
func checking(name string, checks []engine.Entry, rule engine.HealthExpr) engine.Unit {
	rule.Group, rule.Kind = "e.io", "X"
	return engine.Unit{
		ID: trapUnit(name), UID: name, Generation: 1, Timeout: time.Minute, Interval: time.Hour, RetryInterval: time.Hour,
		Source: engine.SourceID{Group: trapGroup, Kind: "Source", Namespace: "apps", Name: name},
		Health: engine.HealthPolicy{Checks: checks, Exprs: []engine.HealthExpr{rule}},
	}
}

// mailed has the loop do what was posted to it, up to the first time that something is true.
func mailed(t *testing.T, r *Runner, until func() bool) {
	t.Helper()
	for !until() {
		select {
		case <-r.mail.ready:
			for _, f := range r.mail.take() {
				f()
			}
		case <-t.Context().Done():
			t.Fatal("nothing came any more")
		}
	}
}

// TestExpensiveExpressions judges 500 objects by an expression that costs as much as one may. The loop evaluates none of them; a worker
// does within the budget of the unit, and the rest waits and says why.
func TestExpensiveExpressions(t *testing.T) {
	r, _ := judgedRunner(t)
	r.ctx = t.Context()
	var items []any
	for i := range 3000 {
		items = append(items, int64(i))
	}
	var checks []engine.Entry
	for i := range 500 {
		checks = append(checks, put(r, fmt.Sprint("x-", i), 1, map[string]any{"items": items}))
	}
	slow := checking("bad", checks, engine.HealthExpr{Current: "status.items.all(a, status.items.all(b, status.items.all(c, a + b + c > -1)))"})
	r.upsert(slow)
	u := r.units[slow.ID]
	// Little is left, however fast the machine is.
	u.budget.spend(time.Now(), evaluationBudget-time.Millisecond)
	h := r.health(u)
	if len(u.verdicts.of) > 0 || len(h.Pending) != 500 || !h.Evaluating || !u.verdicts.evaluating {
		t.Fatalf("the loop evaluates itself: %d verdicts, %d pending, evaluating: %t", len(u.verdicts.of), len(h.Pending), h.Evaluating)
	}
	mailed(t, r, func() bool { return !u.verdicts.evaluating })
	if n := len(u.verdicts.of); n == 0 || n > 100 {
		t.Errorf("%d objects were evaluated within the budget", n)
	}
	h = r.health(u)
	waiting := 0
	for _, o := range h.Pending {
		if strings.HasPrefix(o.Message, "not evaluated yet: spec.healthCheckExprs take too long") {
			waiting++
		}
	}
	if waiting < 400 || h.Evaluating || u.verdicts.evaluating {
		t.Errorf("%d objects wait and say why; as if for a moment: %t; evaluating: %t", waiting, h.Evaluating, u.verdicts.evaluating)
	}
	if !u.paces.evaluate.due {
		t.Error("the unit is not woken when its budget permits more")
	}
}

// TestEvaluationsAreShared has a namespace wait for its own slots, and no other one for them.
func TestEvaluationsAreShared(t *testing.T) {
	r, _ := judgedRunner(t)
	r.ctx = t.Context()
	var held []interface{ End() }
	for range evaluatorsEach {
		turn, ok := r.evaluations.Take(t.Context(), "apps")
		if !ok {
			t.Fatal("no slot")
		}
		held = append(held, turn)
	}
	check := []engine.Entry{put(r, "x", 1, map[string]any{"ok": true})}
	same, other := checking("same", check, engine.HealthExpr{Current: "status.ok"}), checking("other", check, engine.HealthExpr{Current: "status.ok"})
	other.ID.Namespace = "elsewhere"
	r.upsert(same)
	r.upsert(other)
	r.health(r.units[same.ID])
	r.health(r.units[other.ID])
	mailed(t, r, func() bool { return !r.units[other.ID].verdicts.evaluating })
	if h := r.health(r.units[other.ID]); h.Verdict != engine.Current {
		t.Errorf("another namespace waits for slots of one that has all of its own: %+v", h)
	}
	if !r.units[same.ID].verdicts.evaluating {
		t.Error("a namespace has more slots than its share")
	}
	for _, turn := range held {
		turn.End()
	}
	mailed(t, r, func() bool { return !r.units[same.ID].verdicts.evaluating })
}

// TestVerdictsAreOfVersions takes what was said of exactly the version of an object that is there.
func TestVerdictsAreOfVersions(t *testing.T) {
	v := newVerdicts()
	id := engine.ObjectID{Kind: "X", Name: "x"}
	known := func(said engine.Verdict, message string) {
		v.of[id] = verdict{"a", 7, engine.ObjectHealth{ID: id, Verdict: said, Message: message}}
	}
	for i, c := range []struct {
		reason    string
		known     engine.Verdict
		exhausted bool
		uid       types.UID
		version   uint64
		want      engine.ObjectHealth
	}{
		{"it was evaluated", engine.Current, false, "a", 7, engine.ObjectHealth{Verdict: engine.Current, Message: "m"}},
		{"it was evaluated, while others wait", engine.Current, true, "a", 7, engine.ObjectHealth{Verdict: engine.Current, Message: "m"}},
		{"an earlier version was Current", engine.Current, false, "a", 8, engine.ObjectHealth{Verdict: engine.InProgress, Evaluating: true}},
		{"an earlier version was Failed", engine.Failed, false, "a", 8, engine.ObjectHealth{Verdict: engine.InProgress, Evaluating: true}},
		{"an earlier version was on its way", engine.InProgress, false, "a", 8, engine.ObjectHealth{Verdict: engine.InProgress, Message: "m", Evaluating: true}},
		{"another object had the name", engine.InProgress, false, "b", 7, engine.ObjectHealth{Verdict: engine.InProgress, Evaluating: true}},
		{"the budget is used up", engine.Current, true, "a", 8, engine.ObjectHealth{Verdict: engine.InProgress, Message: tooSlow, Evaluating: true}},
	} {
		known(c.known, "m")
		v.exhausted, c.want.ID = c.exhausted, id
		if got := v.assess(cluster.Record{ID: id, UID: c.uid, ResourceVersion: c.version}); got != c.want {
			t.Errorf("%d, %s: got %+v, want %+v", i, c.reason, got, c.want)
		}
	}
	known(engine.Current, "")
	waits := engine.ObjectID{Kind: "X", Name: "y"}
	v.of[waits] = verdict{health: engine.ObjectHealth{Verdict: engine.InProgress}}
	v.of[engine.ObjectID{Kind: "X", Name: "gone"}] = verdict{health: engine.ObjectHealth{Verdict: engine.Current}}
	v.retry([]engine.Entry{{ID: id}, {ID: waits}, {ID: engine.ObjectID{Kind: "X", Name: "new"}}})
	if _, kept := v.of[id]; !kept || len(v.of) != 1 {
		t.Errorf("a new pass has the verdicts %+v", v.of)
	}
}

// TestReadyAtRest has a unit stay ready, and say nothing, while an object of it is evaluated again that is as well as before; what
// turned ill is reported.
func TestReadyAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, trap := judgedRunner(t)
		var notes []string
		r.cfg.Observe = func(n Note) { notes = append(notes, n.Text) }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx)
		}()
		check := []engine.Entry{put(r, "x", 1, map[string]any{"ok": true})}
		r.Upsert(checking("good", check, engine.HealthExpr{Current: "status.ok", Failed: "!status.ok"}))
		synctest.Wait()
		if last, all := trap.last("good"); !last.OK || !last.Final {
			t.Fatalf("it is not ready: %+v, after %s", last, all)
		}
		// A worker that has to wait leaves time to see what is said meanwhile.
		turn, _ := r.evaluations.Take(ctx, "apps")
		reports, noted := len(trap.reports["good"]), len(notes)
		put(r, "x", 2, map[string]any{"ok": true, "seen": "now"})
		<-time.After(2 * time.Minute)
		synctest.Wait()
		states, _ := r.States(ctx)
		if !states[0].Ready || states[0].Settled || len(trap.reports["good"]) != reports || len(notes) != noted {
			t.Errorf("while it is evaluated again: %+v, %v, %v", states[0], trap.reports["good"][reports:], notes[noted:])
		}
		turn.End()
		synctest.Wait()
		if states, _ = r.States(ctx); !states[0].Ready || !states[0].Settled || len(trap.reports["good"]) != reports || len(notes) != noted {
			t.Errorf("when it was evaluated again: %+v, %v, %v", states[0], trap.reports["good"][reports:], notes[noted:])
		}
		put(r, "x", 3, map[string]any{"ok": false})
		synctest.Wait()
		if last, _ := trap.last("good"); last.OK || last.Reason != engine.ReasonHealthCheckFailed {
			t.Errorf("what turned ill is not reported: %+v", last)
		}
		put(r, "x", 4, map[string]any{"ok": true})
		synctest.Wait()
		if last, _ := trap.last("good"); !last.OK {
			t.Errorf("what recovered is not reported: %+v", last)
		}
		stop()
		<-ended
	})
}

// TestBudget lets a unit evaluate for a while at once, and for a share of the time from then on.
func TestBudget(t *testing.T) {
	now := time.Now()
	var b budget
	for _, c := range []struct {
		reason string
		after  time.Duration
		cost   time.Duration
		left   time.Duration
	}{
		{"nothing was spent", 0, 0, evaluationBudget},
		{"one evaluation exceeds it", 0, evaluationBudget + time.Second, -time.Second},
		{"a share of the time is added", evaluationShare * 1500 * time.Millisecond, 0, 500 * time.Millisecond},
		{"what is not used is not kept", 100 * time.Hour, 0, evaluationBudget},
		{"a long rest buys no more", 100 * time.Hour, evaluationBudget, 0},
	} {
		now = now.Add(c.after)
		b.spend(now, c.cost)
		if left := b.left(now); left != c.left {
			t.Errorf("%s: %s are left, want %s", c.reason, left, c.left)
		}
	}
}

// TestPanicOfAnExpression is that of one object.
func TestPanicOfAnExpression(t *testing.T) {
	r, _ := judgedRunner(t)
	good := put(r, "good", 1, map[string]any{"ok": true})
	rules, err := health.CompileRules([]engine.HealthExpr{{Group: "e.io", Kind: "X", Current: "status.ok"}})
	if err != nil {
		t.Fatal(err)
	}
	b := batch{rules: rules, objects: r.home.cluster.Objects, wanted: []engine.ObjectID{good.ID}, budget: time.Minute}
	if h := b.assess(cluster.Record{ID: good.ID}); h.Verdict != engine.Unknown || !strings.Contains(h.Message, "internal error") {
		t.Errorf("a record without its object: %+v", h)
	}
	if e := b.evaluate(t.Context()); e.of[good.ID].health.Verdict != engine.Current {
		t.Errorf("its neighbour: %+v", e)
	}
}
