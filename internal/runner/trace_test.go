package runner

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestTrace takes units through phases and checks what is reported of their passes.
func TestTrace(t *testing.T) {
	waits := engine.Decision{Phase: engine.PhaseWaitingForDependencies, Message: "for db"}
	applies := engine.Decision{Phase: engine.PhaseApplying}
	ends := engine.Decision{Phase: engine.PhaseReady}
	fails := &engine.Failure{Reason: "HealthCheckFailed", Message: "web is not ready"}
	stretches := func(phases ...engine.Phase) []Stretch {
		var out []Stretch
		for _, p := range phases {
			s := Stretch{Phase: p}
			if p == waits.Phase {
				s.Message = waits.Message
			}
			out = append(out, s)
		}
		return out
	}
	cases := map[string]struct {
		reason  string
		phases  []engine.Decision
		recheck bool
		changes int
		failure *engine.Failure
		want    []Trace
	}{
		"Ready": {
			reason: "each phase is told, but for the end", phases: []engine.Decision{waits, applies, ends}, changes: 2,
			want: []Trace{{OK: true, Changes: 2, Stretches: Stretches{Phases: stretches(waits.Phase, applies.Phase)}}},
		},
		"Failed": {
			reason: "a pass that failed says why", phases: []engine.Decision{applies}, failure: fails,
			want: []Trace{{Reason: fails.Reason, Message: fails.Message, Stretches: Stretches{Phases: stretches(applies.Phase)}}},
		},
		"Rest":    {reason: "a unit that was looked at and is as it was is not worth it", phases: []engine.Decision{applies, ends}, recheck: true},
		"Nothing": {reason: "nor is one that went through no phase", phases: []engine.Decision{ends, {Phase: engine.PhaseSuspended}, {Phase: engine.PhaseFailed}}},
		"Drift": {
			reason: "one that was put right is", phases: []engine.Decision{applies}, recheck: true, changes: 1,
			want: []Trace{{OK: true, Changes: 1, Stretches: Stretches{Phases: stretches(applies.Phase)}}},
		},
		"Broken": {
			reason: "and so is one that is found broken", phases: []engine.Decision{applies}, recheck: true, failure: fails,
			want: []Trace{{Reason: fails.Reason, Message: fails.Message, Stretches: Stretches{Phases: stretches(applies.Phase)}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []Trace
			r := &Runner{cfg: Config{Traced: func(told Trace) { got = append(got, told) }}}
			u := &unit{changes: make([]apply.Result, tc.changes)}
			for _, d := range tc.phases {
				r.trace(u, d)
			}
			r.traced(u, &engine.Pass{Recheck: tc.recheck}, tc.failure)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreTypes(time.Time{})); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			if u.stretches != nil {
				t.Errorf("%s: the next pass begins with the phases of this one", tc.reason)
			}
		})
	}
}

// TestTraceBounds lets a unit go back and forth for long, and one that is not traced.
func TestTraceBounds(t *testing.T) {
	for traced, want := range map[bool]int{true: maxStretches, false: 0} {
		t.Run(fmt.Sprint(traced), func(t *testing.T) {
			r, u := &Runner{}, &unit{}
			if traced {
				r.cfg.Traced = func(Trace) {}
			}
			for range 3 * maxStretches {
				r.trace(u, engine.Decision{Phase: engine.PhaseApplying})
			}
			if len(u.stretches) != want {
				t.Errorf("%d stretches are kept", len(u.stretches))
			}
		})
	}
}
