package runner

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/health"
)

// Bounds of what the expressions of units cost. They are evaluated by workers: evaluators at a time, of which a namespace has
// evaluatorsEach at most, and each unit within a budget.
const (
	evaluators     = 2
	evaluatorsEach = 1
)

// verdicts are what the expressions of a unit said of its objects. They end with the expressions; each version of an object is
// evaluated once.
type verdicts struct {
	of map[engine.ObjectID]verdict
	// evaluating is set while a worker evaluates.
	evaluating bool
	// exhausted is set where the budget of the unit was used up before all objects were evaluated.
	exhausted bool
}

type verdict struct {
	uid     types.UID
	version uint64
	health  engine.ObjectHealth
}

func newVerdicts() *verdicts { return &verdicts{of: map[engine.ObjectID]verdict{}} }

// retry forgets what was not found to be Current, since evaluating it may have failed for want of time, and what counts no more.
func (v *verdicts) retry(counted []engine.Entry) {
	if len(v.of) == 0 {
		return
	}
	kept := make(map[engine.ObjectID]verdict, len(v.of))
	for _, e := range counted {
		if known, ok := v.of[e.ID]; ok && known.health.Verdict == engine.Current {
			kept[e.ID] = known
		}
	}
	v.of = kept
}

// tooSlow is what objects say that have to wait for the budget of their unit.
const tooSlow = "not evaluated yet: spec.healthCheckExprs take too long; simplify them, or split the objects among several units"

// assess is what the expressions of a unit say of an object. A version that has not been evaluated is on its way, whatever was
// said of an earlier one.
func (v *verdicts) assess(rec cluster.Record) engine.ObjectHealth {
	known, ok := v.of[rec.ID]
	ok = ok && known.uid == rec.UID
	if ok && known.version == rec.ResourceVersion {
		return known.health
	}
	h := engine.ObjectHealth{ID: rec.ID, Verdict: engine.InProgress, Evaluating: true}
	switch {
	case v.exhausted:
		h.Message = tooSlow
	case ok && known.health.Verdict == engine.InProgress:
		h.Message = known.health.Message
	}
	return h
}

// evaluate has a worker evaluate objects of a unit of which no verdict is known. Until it has, they are on their way.
func (r *Runner) evaluate(u *unit, unknown []engine.ObjectID) {
	v := u.verdicts
	if len(unknown) == 0 || v.evaluating || u.paces.evaluate.due {
		return
	}
	t := r.at(u)
	if t == nil {
		return
	}
	id, budget := u.ID, u.budget.left(time.Now())
	if budget <= 0 {
		v.exhausted = true
		r.wakeToEvaluate(u)
		return
	}
	v.evaluating = true
	b := batch{unit: id, rules: u.rules, exprs: u.Health.Exprs, assumed: r.cfg.Assumed, objects: t.cluster.Objects, guard: r.cfg.Guard, wanted: unknown, budget: budget}
	r.work(id, func(ctx context.Context) func() {
		e := r.evaluated(ctx, b)
		return func() { r.takeVerdicts(id, v, e) }
	}, func(error) { r.takeVerdicts(id, v, evaluation{cost: cost{exhausted: true}}) })
}

// wakeToEvaluate wakes a unit when its budget permits more.
func (r *Runner) wakeToEvaluate(u *unit) {
	id := u.ID
	r.later(&u.paces.evaluate, evaluateAgain, func() { r.mark(id) })
}

// takeVerdicts takes what a worker found out.
func (r *Runner) takeVerdicts(id engine.UnitID, v *verdicts, e evaluation) {
	v.evaluating = false
	u, ok := r.units[id]
	if !ok {
		return
	}
	u.budget.spend(time.Now(), e.spent)
	if u.verdicts != v {
		// The expressions are others by now.
		return
	}
	maps.Copy(v.of, e.of)
	if v.exhausted = e.exhausted; e.exhausted {
		r.wakeToEvaluate(u)
	}
	u.paces.judge.at = time.Time{}
	r.mark(id)
}

// batch are objects that a worker evaluates for a unit, and for how long.
type batch struct {
	unit    engine.UnitID
	rules   health.Rules
	exprs   []engine.HealthExpr
	assumed func(*unstructured.Unstructured, []engine.HealthExpr) bool
	objects *cluster.Objects
	guard   guard.Guard
	wanted  []engine.ObjectID
	budget  time.Duration
}

// evaluation is what became of a batch.
type evaluation struct {
	of map[engine.ObjectID]verdict
	cost
}

// evaluated evaluates a batch when its turn has come.
func (r *Runner) evaluated(ctx context.Context, b batch) evaluation {
	turn, ok := r.evaluations.Take(ctx, b.unit.Namespace)
	if !ok {
		return evaluation{}
	}
	defer turn.End()
	return b.evaluate(ctx)
}

// evaluate evaluates the objects as they are now, until the budget is used up.
func (b batch) evaluate(ctx context.Context) evaluation {
	e := evaluation{of: make(map[engine.ObjectID]verdict, len(b.wanted))}
	e.cost = within(ctx, b.budget, b.wanted, func(id engine.ObjectID) {
		if rec, there := b.objects.Get(id); there && rec.Full != nil {
			e.of[id] = verdict{rec.UID, rec.ResourceVersion, b.assess(rec)}
		}
	})
	return e
}

// assess evaluates one object. A panic concerns that object alone.
func (b batch) assess(rec cluster.Record) engine.ObjectHealth {
	var h engine.ObjectHealth
	err := b.guard.Call("health of "+rec.ID.String()+" for "+b.unit.String(), func() error {
		h = b.rules.Assess(rec.Full)
		if h.Verdict != engine.Current && b.assumed != nil && b.assumed(rec.Full, b.exprs) {
			h = engine.ObjectHealth{Verdict: engine.Current}
		}
		return nil
	})
	if err != nil {
		h = engine.ObjectHealth{Verdict: engine.Unknown, Message: err.Error()}
	}
	h.ID = rec.ID
	return h
}
