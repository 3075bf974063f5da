package deploy

import (
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// The patience of waves: how long nothing has to change before units that are not ready hold nothing back any more, since what they wait
// for may come with a later wave, and how long a wave is waited for at all.
const (
	stillFor = 4 * time.Second
	waveFor  = 5 * time.Minute
)

// gate holds later waves back: that of a wave opens when all units are ready, or none has changed for a while. It orders how packages are
// created; what exists is updated at once, whatever its wave.
type gate struct {
	open bool
	// wave is the last that is permitted.
	wave int
	// opened is when, changed when the state of a unit was last another one.
	opened, changed time.Time
	last            string
	// stuck are the units that were not ready when the gate was last opened: they hold no other wave back.
	stuck map[engine.UnitID]bool
}

// permits reports whether packages of a wave may be created.
func (g *gate) permits(wave int) bool { return g.open && wave <= g.wave }

// begin opens the gate for the first wave.
func (g *gate) begin(first int, now time.Time) {
	if !g.open {
		*g = gate{open: true, wave: first, opened: now, changed: now}
	}
}

// advance opens the gate for the next wave, if the units permit it, and reports whether they do. known is not set while an Application that
// was applied is unknown to the engine.
func (g *gate) advance(next int, states []runner.State, known bool, now time.Time) bool {
	ready, text := known, ""
	for _, s := range states {
		ready = ready && (s.Ready || s.Suspended || g.stuck[s.Unit])
		text += fmt.Sprintln(s.Unit, s.Phase, s.Ready, s.Objects, s.Message)
	}
	if text != g.last {
		g.last, g.changed = text, now
	}
	if !ready && now.Sub(g.changed) < stillFor && now.Sub(g.opened) < waveFor {
		return false
	}
	g.wave, g.opened, g.changed, g.stuck = next, now, now, map[engine.UnitID]bool{}
	for _, s := range states {
		g.stuck[s.Unit] = !s.Ready && !s.Suspended
	}
	return true
}
