package runner

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Bounds of what the health expressions of one unit may cost the loop, which serves all units: so long in a pass, and a small share of
// the time since it began. An expression has its own bound, so that one evaluation may exceed them once.
const (
	evaluationBudget = 500 * time.Millisecond
	evaluationShare  = 20
	// evaluateAgain is how long a unit waits that has used its budget up.
	evaluateAgain = 5 * time.Second
)

// verdicts are what the expressions of a unit said of its objects. Each version of an object is evaluated once.
type verdicts struct {
	of    map[engine.ObjectID]verdict
	since time.Time
	spent time.Duration
}

type verdict struct {
	uid     types.UID
	version uint64
	health  engine.ObjectHealth
}

// affordable reports whether the budget permits another evaluation.
func (v *verdicts) affordable(now time.Time) bool {
	return v.spent < evaluationBudget+now.Sub(v.since)/evaluationShare
}

// assess judges an object by the expressions of a unit.
func (r *Runner) assess(u *unit, rec cluster.Record) engine.ObjectHealth {
	v, began := &u.verdicts, time.Now()
	if v.of == nil {
		v.of, v.since = map[engine.ObjectID]verdict{}, began
	}
	if known, ok := v.of[rec.ID]; ok && known.uid == rec.UID && known.version == rec.ResourceVersion {
		return known.health
	}
	if !v.affordable(began) {
		id := u.ID
		r.later(&u.paces.evaluate, evaluateAgain, func() { r.mark(id) })
		return engine.ObjectHealth{
			ID: rec.ID, Verdict: engine.InProgress, Message: "not evaluated yet: spec.healthCheckExprs take too long; simplify them, or split the objects among several units",
		}
	}
	h := u.rules.Assess(rec.Full)
	v.spent += time.Since(began)
	v.of[rec.ID] = verdict{rec.UID, rec.ResourceVersion, h}
	return h
}
