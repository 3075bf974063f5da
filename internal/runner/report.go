package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Report is the state of a unit, to be written.
type Report struct {
	Unit       engine.UnitID
	Generation int64
	// Observed reports report that an object of the unit changed; no pass has anything to say.
	Observed bool
	// Final reports end a pass; others report one that takes long.
	Final bool
	// Held is set when deletions wait for other units that do not move.
	Held bool
	// OK is set when the unit is ready.
	OK       bool
	Terminal bool
	Reason   engine.Reason
	Message  string
	// Handled is the token of the request that the pass answered.
	Handled string
	// Attempted is the revision of the pass, Applied the last one that was applied with success.
	Attempted, Applied string
	// Origin is the revision of what the source of the pass was built from, if it says so.
	Origin string
	// Digest is that of what was rendered.
	Digest    string
	Inventory []engine.Entry
	// Planned is what a pass in progress may have applied already.
	Planned []engine.Entry
	// Checked is set when the health of objects counted, and Healthy says what it was.
	Checked bool
	Changes []apply.Result
	Took    time.Duration
	Next    time.Duration

	// pass is the pass that is reported on; it stays in the loop.
	pass *engine.Pass
}

// reportsInFlight bounds the concurrent status writes: a commit that moves the revision
// of a thousand units must not hold up the one object that it changes.
const reportsInFlight = 6

// retryReport is how long a report that could not be written waits, retryPanic one whose writing panicked.
const (
	retryReport = time.Second
	retryPanic  = time.Minute
)

// report writes the state of a unit, the latest one if several wait.
func (r *Runner) report(u *unit, report Report) {
	report.Unit, report.Generation = u.ID, u.Generation
	report.Handled, report.Applied = u.Requested, u.applied
	report.Inventory = slices.Clone(u.inventory)
	report.Checked, report.Took, report.Next = u.Health.Checked(), u.finished, u.Interval
	if report.pass != nil {
		key := report.pass.Key
		report.Generation, report.Attempted, report.Handled = key.Generation, key.Revision, key.Requested
		if fact, _ := r.sources.Source(u.Source); fact.In(key) {
			report.Origin = fact.Origin
		}
		report.pass = nil
	}
	if !u.rendering.failed() && u.rendering.result != nil {
		report.Digest = u.rendering.result.Digest
		if !report.Final && u.pass != nil && u.pass.Progress >= engine.Rendered {
			report.Planned = r.planned(u)
		}
	}
	if u.pending != nil && u.pending.Final {
		report.Changes = append(u.pending.Changes, report.Changes...)
	}
	if report.Observed && u.pending != nil {
		// What is written is the current state then.
		report = *u.pending
	}
	u.pending = &report
	r.flush(u)
}

// planned is what the unit holds, and what it is about to hold that has no other owner.
func (r *Runner) planned(u *unit) []engine.Entry {
	planned := slices.Clone(u.inventory)
	for _, e := range engine.Leftover(u.rendering.entries, u.inventory) {
		if r.owners.Grip(e.ID, u.ID) >= engine.Applying {
			planned = append(planned, e)
		}
	}
	return planned
}

// flush writes the latest report of a unit, in its turn.
func (r *Runner) flush(u *unit) {
	if u.reporting || u.pending == nil {
		return
	}
	u.reporting = true
	if len(u.pending.Changes) > 0 || !u.pending.OK {
		r.unwritten = slices.Insert(r.unwritten, 0, u.ID)
	} else {
		r.unwritten = append(r.unwritten, u.ID)
	}
	r.writeReports()
}

// writeReports writes as many reports as may be in progress.
func (r *Runner) writeReports() {
	for r.writing < reportsInFlight && len(r.unwritten) > 0 {
		u, ok := r.units[r.unwritten[0]]
		r.unwritten = r.unwritten[1:]
		if !ok || u.pending == nil {
			continue
		}
		report := *u.pending
		u.pending = nil
		r.writing++
		r.stats.Reports++
		end := func(err error) {
			r.writing--
			r.reported(report, err)
			r.writeReports()
		}
		r.work(report.Unit, func(ctx context.Context) func() {
			err := r.dialects.Report(ctx, report)
			return func() { end(err) }
		}, end)
	}
}

func (r *Runner) reported(report Report, err error) {
	u, ok := r.units[report.Unit]
	if !ok {
		return
	}
	u.reporting = false
	if err == nil {
		r.flush(u)
		return
	}
	r.cfg.Log.Info("the status of a unit could not be written; retrying",
		"unit", u.ID.String(), "error", err.Error())
	if u.pending == nil {
		u.pending = &report
	}
	id := u.ID
	wait := retryReport
	if panicked := (*guard.Panic)(nil); errors.As(err, &panicked) {
		wait = retryPanic
	}
	time.AfterFunc(wait, func() {
		r.mail.post(func() {
			if u, ok := r.units[id]; ok {
				r.flush(u)
			}
		})
	})
}

// note tells the observer what a unit did.
func (r *Runner) note(u *unit, phase engine.Phase, text string, failed bool) {
	r.tell(u, Note{Phase: phase, Text: text, Failed: failed})
}

// tell gives the observer a note about a unit, with when and where.
func (r *Runner) tell(u *unit, n Note) {
	if r.cfg.Observe != nil {
		n.Time, n.Unit, n.Cluster = time.Now(), u.ID, u.Target.Cluster
		r.cfg.Observe(n)
	}
}

// began tells the observer that a pass for something new begins.
func (r *Runner) began(u *unit) {
	r.tell(u, Note{Phase: engine.PhaseRendering, Text: "begins", Began: true})
}

// State is where a unit stands, for those who look from outside.
type State struct {
	Unit    engine.UnitID
	Phase   engine.Phase
	Reason  engine.Reason
	Message string
	// Cause is the error by which it failed, if one did.
	Cause     error
	Since     time.Time
	Waits     []engine.Wait
	Suspended bool
	Ready     bool
	// Settled is set when the unit cannot move any more without a change from outside.
	Settled  bool
	Objects  int
	Revision string
	Source   engine.SourceID
	Depends  []engine.UnitID
}

// States returns where all units stand, sorted; it returns nil when the runner has ended.
func (r *Runner) States(ctx context.Context) ([]State, Stats) {
	type answer struct {
		states []State
		stats  Stats
	}
	got := make(chan answer, 1)
	r.mail.post(func() {
		defer close(got)
		got <- answer{r.states(), r.stats}
	})
	select {
	case a := <-got:
		return a.states, a.stats
	case <-ctx.Done():
		return nil, Stats{}
	}
}

func (r *Runner) states() []State {
	if r.ordered == nil {
		r.ordered = slices.SortedFunc(maps.Values(r.units), func(a, b *unit) int { return a.ID.Compare(b.ID) })
	}
	states := make([]State, 0, len(r.ordered))
	for _, u := range r.ordered {
		s := State{
			Unit: u.ID, Phase: u.phase, Reason: u.reason, Message: u.message, Since: u.since, Waits: u.waits,
			Suspended: u.Suspended, Ready: r.unitReady(u) && u.phase == engine.PhaseReady,
			Objects: len(u.inventory), Revision: u.applied, Source: u.Source,
		}
		for _, d := range u.Dependencies {
			if d.Unit != (engine.UnitID{}) {
				s.Depends = append(s.Depends, d.Unit)
			}
		}
		m := r.motion(u)
		if m.Overtaken() {
			// It is notified again, whatever else forgets to.
			r.mark(u.ID)
		}
		if u.phase == engine.PhaseApplying && m.Came() {
			u.stirred = true
			r.mark(u.ID)
		}
		s.Settled = m.Settled()
		states = append(states, s)
	}
	return states
}

// namedDeletions is how many deleted objects a note names.
const namedDeletions = 3

// summary counts changes for a note, and names what was deleted.
func summary(changes []apply.Result) string {
	if len(changes) == 0 {
		return ""
	}
	counts := map[engine.Action]int{}
	var deleted []string
	for _, c := range changes {
		counts[c.Action]++
		if c.Action == engine.Delete && len(deleted) < namedDeletions {
			deleted = append(deleted, c.Entry.ID.String())
		}
	}
	var parts []string
	for _, action := range []engine.Action{engine.Create, engine.Configure, engine.Delete} {
		if counts[action] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[action], action))
		}
	}
	text := " (" + strings.Join(parts, ", ")
	if len(deleted) > 0 {
		text += ": " + strings.Join(deleted, ", ")
	}
	if more := counts[engine.Delete] - len(deleted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}
