package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/health"
)

// answers are what the expressions over the dependencies of a unit said. They end with the expressions; each version of what an
// expression is about is asked once.
type answers struct {
	of map[engine.Dependency]answer
	// wanted are the questions without an answer, asking is set while a worker asks some.
	wanted map[engine.Dependency]question
	asking bool
	// exhausted is set where the budget of the unit was used up before all were asked.
	exhausted bool
}

// question is whether an expression holds of values in some version.
type question struct {
	version string
	expr    *health.Expr
	values  map[string]any
}

// answer is whether it does, and else why not.
type answer struct {
	version string
	met     bool
	why     string
	// until is when an expression that failed may be asked again, zero for never.
	until time.Time
}

func newAnswers() *answers {
	return &answers{of: map[engine.Dependency]answer{}, wanted: map[engine.Dependency]question{}}
}

// What a dependency says of which the expression has not been evaluated.
const (
	unevaluated     = "readyExpr is being evaluated"
	unevaluatedLong = "readyExpr is not evaluated yet: spec.healthCheckExprs and readyExpr take too long; simplify them"
)

// answer is what an expression said. A version that was not asked does not hold, whatever was said of an earlier one.
func (a *answers) answer(d engine.Dependency, q question) (bool, string) {
	known, ok := a.of[d]
	if ok && known.version == q.version && (known.until.IsZero() || time.Now().Before(known.until)) {
		return known.met, known.why
	}
	a.wanted[d] = q
	switch {
	case a.exhausted:
		return false, unevaluatedLong
	case ok && !known.met:
		return false, known.why
	default:
		return false, unevaluated
	}
}

// versionOf tells versions of objects apart.
func versionOf(objects ...map[string]any) string {
	version := ""
	for _, o := range objects {
		meta, _ := o["metadata"].(map[string]any)
		version += fmt.Sprint(meta["uid"], "@", meta["resourceVersion"], " ")
	}
	return version
}

// factsOfDependencies are the facts about what a unit depends on; expressions of which no answer is known are handed to a worker.
func (r *Runner) factsOfDependencies(u *unit) []engine.DependencyFact {
	clear(u.answers.wanted)
	facts := r.dependencies(u)
	r.ask(u)
	return facts
}

// ask has a worker ask what the expressions over the dependencies of a unit say.
func (r *Runner) ask(u *unit) {
	a := u.answers
	if len(a.wanted) == 0 || a.asking || u.paces.evaluate.due {
		return
	}
	id, left := u.ID, u.budget.left(time.Now())
	if left <= 0 {
		a.exhausted = true
		r.wakeToEvaluate(u)
		return
	}
	a.asking = true
	b := questions{unit: id, guard: r.cfg.Guard, of: maps.Clone(a.wanted), budget: left}
	r.work(id, func(ctx context.Context) func() {
		e := r.replies(ctx, b)
		return func() { r.takeAnswers(id, a, e) }
	}, func(error) { r.takeAnswers(id, a, replies{cost: cost{exhausted: true}}) })
}

// takeAnswers takes what a worker found out.
func (r *Runner) takeAnswers(id engine.UnitID, a *answers, e replies) {
	a.asking = false
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.budget.spend(time.Now(), e.spent)
	if u.answers != a {
		// The expressions are others by now.
		return
	}
	maps.Copy(a.of, e.of)
	if a.exhausted = e.exhausted; e.exhausted {
		r.wakeToEvaluate(u)
	}
	r.mark(id)
}

// questions are what a worker asks for a unit, and for how long.
type questions struct {
	unit   engine.UnitID
	guard  guard.Guard
	of     map[engine.Dependency]question
	budget time.Duration
}

// replies are what became of questions.
type replies struct {
	of map[engine.Dependency]answer
	cost
}

// replies asks when the turn of the unit has come.
func (r *Runner) replies(ctx context.Context, b questions) replies {
	turn, ok := r.evaluations.Take(ctx, b.unit.Namespace)
	if !ok {
		return replies{}
	}
	defer turn.End()
	return b.ask(ctx)
}

// ask asks until the budget is used up.
func (b questions) ask(ctx context.Context) replies {
	e := replies{of: make(map[engine.Dependency]answer, len(b.of))}
	order := slices.SortedFunc(maps.Keys(b.of), func(x, y engine.Dependency) int { return x.Unit.Compare(y.Unit) })
	e.cost = within(ctx, b.budget, order, func(d engine.Dependency) { e.of[d] = b.one(d) })
	return e
}

// one asks one question. A panic concerns that one alone.
func (b questions) one(d engine.Dependency) answer {
	q := b.of[d]
	a := answer{version: q.version}
	err := b.guard.Call("readyExpr of "+d.String()+" for "+b.unit.String(), func() (err error) {
		a.met, err = q.expr.Holds(q.values)
		return err
	})
	switch {
	case err != nil:
		a.met, a.why, a.until = false, "readyExpr: "+err.Error(), time.Now().Add(evaluateAgain)
	case !a.met:
		a.why = "it is not ready according to readyExpr"
	}
	return a
}
