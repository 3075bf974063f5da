package runner

import (
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Checking all objects of a unit whenever one of them changes costs the square of their number while they come up.
// A unit of many objects is checked in paces: perObject for each of them, and at most slowestPace apart.
const (
	perObject   = 50 * time.Microsecond
	slowestPace = 250 * time.Millisecond
	// few is how many objects are checked whenever one changes.
	few = 20
)

// pace lets something be done for a unit at most so often; the zero value has done nothing.
type pace struct {
	at  time.Time
	due bool
}

// wait is how long to wait before it may be done again for so many objects, zero when it may be done now.
func (p *pace) wait(objects int) time.Duration {
	if objects <= few {
		return 0
	}
	return max(0, time.Until(p.at.Add(min(time.Duration(objects)*perObject, slowestPace))))
}

// later has something done by the loop after a while, once.
func (r *Runner) later(p *pace, wait time.Duration, do func()) {
	if p.due {
		return
	}
	p.due = true
	time.AfterFunc(wait, func() {
		r.mail.post(func() {
			p.due = false
			do()
		})
	})
}

// paces are those of one unit.
type paces struct {
	judge, act, observe, evaluate pace
	// health is what was found when the unit was judged last, for the pass of then.
	health engine.UnitHealth
	of     *engine.Pass
}

// judged is the health of a unit, as of a moment ago when it has many objects.
func (r *Runner) judged(u *unit) engine.UnitHealth {
	p := &u.paces
	if wait := p.judge.wait(len(r.counted(u))); wait > 0 && p.of == u.pass {
		id := u.ID
		r.later(&p.judge, wait, func() { r.mark(id) })
		return p.health
	}
	p.health, p.of, p.judge.at = r.health(u), u.pass, time.Now()
	return p.health
}

// stirredNow reports whether a driver looks again now at what changed.
func (r *Runner) stirredNow(u *unit) bool {
	if !u.stirred {
		return false
	}
	if wait := u.paces.act.wait(len(u.inventory)); wait > 0 && u.pass != nil && len(u.pass.Waiting) > 0 {
		id := u.ID
		r.later(&u.paces.act, wait, func() { r.mark(id) })
		return false
	}
	return true
}
