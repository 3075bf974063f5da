package runner

import (
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Trace is the way of one unit from the first thing that a pass waited for to its end.
type Trace struct {
	Unit     engine.UnitID
	Source   engine.SourceID
	Revision string
	Stretches
	// OK is set when the unit became ready; Reason and Message say why it did not.
	OK      bool
	Reason  engine.Reason
	Message string
	// Changes counts the objects that were made, changed or deleted.
	Changes int
}

// Stretches are the phases of a pass, one after the other, and its end.
type Stretches struct {
	Phases []Stretch
	Ended  time.Time
}

// Stretch is a phase, which lasts until the next one begins. Message says what was waited for.
type Stretch struct {
	Phase   engine.Phase
	Began   time.Time
	Message string
}

// maxStretches bounds what is kept of a unit that goes to and fro.
const maxStretches = 64

// trace notes that the unit has come into a phase.
func (r *Runner) trace(u *unit, d engine.Decision) {
	if r.cfg.Traced == nil || len(u.stretches) == maxStretches {
		return
	}
	switch d.Phase {
	case engine.PhaseReady, engine.PhaseFailed, engine.PhaseSuspended:
		return
	default:
		u.stretches = append(u.stretches, Stretch{Phase: d.Phase, Began: time.Now(), Message: d.Message})
	}
}

// traced reports the pass that just ended. One that only checked again and found no change is not worth it.
func (r *Runner) traced(u *unit, p *engine.Pass, failure *engine.Failure) {
	stretches := u.stretches
	u.stretches = nil
	if r.cfg.Traced == nil || len(stretches) == 0 || p.Recheck && failure == nil && len(u.changes) == 0 {
		return
	}
	t := Trace{
		Unit: u.ID, Source: u.Source, Revision: u.revision(p), OK: failure == nil, Changes: len(u.changes),
		Stretches: Stretches{Phases: stretches, Ended: u.last.Ended},
	}
	if failure != nil {
		t.Reason, t.Message = failure.Reason, failure.Message
	}
	r.cfg.Traced(t)
}
