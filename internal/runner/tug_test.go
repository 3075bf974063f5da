package runner

import (
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/apply"
)

func TestTug(t *testing.T) {
	kubectl := func(fields ...string) apply.Drift { return apply.Drift{Manager: "kubectl-edit", Fields: fields} }
	other := apply.Drift{Manager: "other", Fields: []string{"data.a"}}
	for name, tc := range map[string]struct {
		reason string
		drifts []apply.Drift
		every  time.Duration
		times  int
		wait   time.Duration
	}{
		"none":       {"an object that never drifted is corrected at once", nil, 0, 0, 0},
		"twice":      {"a field may be set again before that is a tug-of-war", []apply.Drift{kubectl("data.a"), kubectl("data.a")}, time.Second, 2, 0},
		"war":        {"the third time is one", []apply.Drift{kubectl("data.a"), kubectl("data.a"), kubectl("data.a")}, time.Second, 3, tugDelay},
		"longer":     {"it waits ever longer", []apply.Drift{kubectl("data.a"), kubectl("data.a"), kubectl("data.a"), kubectl("data.a")}, time.Second, 4, 2 * tugDelay},
		"fields":     {"three fields once each are none", []apply.Drift{kubectl("data.a"), kubectl("data.b"), kubectl("data.c")}, time.Second, 1, 0},
		"managers":   {"nor is one field set by two managers", []apply.Drift{kubectl("data.a"), other, kubectl("data.a")}, time.Second, 2, 0},
		"among":      {"the most contested field counts", []apply.Drift{kubectl("data.a"), kubectl("data.a", "data.b"), kubectl("data.a"), other}, time.Second, 1, tugDelay - time.Second},
		"deletions":  {"deletions count as a contest of their own", []apply.Drift{{}, {}, {}}, time.Second, 3, tugDelay},
		"long since": {"what was corrected before the window does not count", []apply.Drift{kubectl("data.a"), kubectl("data.a"), kubectl("data.a")}, tugWindow + time.Second, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			war, now, times := tug{}, time.Unix(1000, 0), 0
			for i, drift := range tc.drifts {
				if i > 0 {
					now = now.Add(tc.every)
				}
				times = war.count(drift, now)
			}
			if times != tc.times {
				t.Errorf("%s: counted %d, want %d", tc.reason, times, tc.times)
			}
			if wait := war.delay(now); wait != tc.wait {
				t.Errorf("%s: waits %s, want %s", tc.reason, wait, tc.wait)
			}
		})
	}
}
