package runner

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

// depending is a unit that depends on the object x of kind X by an expression.
func depending(name, expr string) engine.Unit {
	u := checking(name, nil, engine.HealthExpr{Current: "true"})
	u.Dependencies = []engine.Dependency{{Object: engine.ObjectID{Group: "e.io", Kind: "X", Name: "x"}, Expr: expr}}
	return u
}

// TestExpensiveDependencies asks an expression that costs as much as one may. The loop does not, and a unit that spent its budget
// waits and says why.
func TestExpensiveDependencies(t *testing.T) {
	r, _ := judgedRunner(t)
	r.ctx = t.Context()
	var items []any
	for i := range 3000 {
		items = append(items, int64(i))
	}
	put(r, "x", 1, map[string]any{"items": items})
	slow := depending("bad", "status.items.all(a, status.items.all(b, status.items.all(c, a + b + c > -1)))")
	r.upsert(slow)
	u := r.units[slow.ID]
	facts := r.factsOfDependencies(u)
	if facts[0].Met || !facts[0].Evaluating || !u.answers.asking || len(u.answers.of) > 0 || u.budget.spent > 0 {
		t.Fatalf("the loop evaluates itself: %+v, spent %s", facts[0], u.budget.spent)
	}
	mailed(t, r, func() bool { return !u.answers.asking })
	if facts = r.factsOfDependencies(u); facts[0].Met || facts[0].Evaluating || !strings.HasPrefix(facts[0].Message, "readyExpr: failed to evaluate the CEL expression ") || u.budget.spent == 0 {
		t.Errorf("it was evaluated: %+v, spent %s", facts[0], u.budget.spent)
	}
	put(r, "x", 2, map[string]any{"items": items})
	u.budget.spend(time.Now(), time.Hour)
	r.factsOfDependencies(u)
	if facts = r.factsOfDependencies(u); facts[0].Evaluating || facts[0].Message != unevaluatedLong || u.answers.asking || !u.paces.evaluate.due {
		t.Errorf("without a budget: %+v, asking: %t, woken: %t", facts[0], u.answers.asking, u.paces.evaluate.due)
	}
}

// TestAnswersAreOfVersions takes what was said of exactly the versions that are there.
func TestAnswersAreOfVersions(t *testing.T) {
	a := newAnswers()
	d := engine.Dependency{Expr: "dep.ok"}
	later := time.Now().Add(time.Hour)
	for i, c := range []struct {
		reason    string
		known     answer
		exhausted bool
		met       bool
		why       string
		wanted    int
	}{
		{"it holds", answer{version: "2", met: true}, false, true, "", 0},
		{"it does not", answer{version: "2", why: "no"}, false, false, "no", 0},
		{"an earlier version held", answer{version: "1", met: true}, false, false, unevaluated, 1},
		{"an earlier version did not, and the message stays", answer{version: "1", why: "no"}, false, false, "no", 1},
		{"the budget is used up", answer{version: "1", met: true}, true, false, unevaluatedLong, 1},
		{"it failed a moment ago", answer{version: "2", why: "bad", until: later}, false, false, "bad", 0},
		{"it failed, and is asked again", answer{version: "2", why: "bad", until: time.Now()}, false, false, "bad", 1},
	} {
		clear(a.wanted)
		a.of[d], a.exhausted = c.known, c.exhausted
		met, why := a.answer(d, question{version: "2"})
		if met != c.met || why != c.why || len(a.wanted) != c.wanted {
			t.Errorf("%d, %s: met: %t, %q, %d wanted", i, c.reason, met, why, len(a.wanted))
		}
	}
}

// TestQuestions answers them one by one, within a budget.
func TestQuestions(t *testing.T) {
	ask := func(text string, values map[string]any) question {
		expr, err := health.CompileReady(text)
		if err != nil {
			t.Fatal(err)
		}
		return question{version: "7", expr: expr, values: values}
	}
	values := map[string]any{"dep": map[string]any{"n": int64(1)}, "self": map[string]any{"n": int64(1)}}
	yes, no, bad := engine.Dependency{Expr: "yes"}, engine.Dependency{Expr: "no"}, engine.Dependency{Expr: "bad"}
	of := map[engine.Dependency]question{yes: ask("dep.n == self.n", values), no: ask("dep.n > self.n", values), bad: ask("dep.m", values)}
	e := questions{of: of, budget: time.Hour}.ask(t.Context())
	if !e.of[yes].met || e.of[no].met || e.of[no].why != "it is not ready according to readyExpr" || !strings.Contains(e.of[bad].why, "no such key") || e.of[bad].until.IsZero() || e.exhausted || e.spent <= 0 {
		t.Errorf("got %+v", e)
	}
	if e = (questions{of: of, budget: 1}).ask(t.Context()); len(e.of) != 1 || !e.exhausted || e.of[yes].version+e.of[no].version+e.of[bad].version != "7" {
		t.Errorf("without a budget: %+v", e)
	}
}

// TestDependencyByExpression opens the gate of a unit when its expression holds, and does not write again and again while it waits.
func TestDependencyByExpression(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, trap := judgedRunner(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx)
		}()
		put(r, "x", 1, map[string]any{"ok": false})
		r.Upsert(depending("good", "status.ok"))
		<-time.After(time.Minute)
		synctest.Wait()
		if last, _ := trap.last("good"); last.Message != "X/x: it is not ready according to readyExpr" || len(trap.reports["good"]) != 1 {
			t.Errorf("it waits, and says %+v in %d reports", last, len(trap.reports["good"]))
		}
		turn, _ := r.evaluations.Take(ctx, "apps")
		put(r, "x", 2, map[string]any{"ok": false})
		<-time.After(time.Minute)
		synctest.Wait()
		if n := len(trap.reports["good"]); n != 1 {
			t.Errorf("%d reports while the expression is evaluated again", n)
		}
		put(r, "x", 3, map[string]any{"ok": true})
		<-time.After(time.Minute)
		synctest.Wait()
		if last, _ := trap.last("good"); last.OK {
			t.Error("the gate is open before the expression was evaluated")
		}
		turn.End()
		synctest.Wait()
		if last, all := trap.last("good"); !last.OK {
			t.Errorf("the gate does not open: %s", all)
		}
		stop()
		<-ended
	})
}
