package engine

import (
	"testing"
	"time"
)

func TestSettled(t *testing.T) {
	health := func(v Verdict) []Awaited { return []Awaited{{What: AwaitingHealth, Verdict: v}} }
	cases := map[string]struct {
		reason string
		motion Motion
		want   bool
	}{
		"ready":               {"what is ready rests", Motion{Phase: PhaseReady, Reached: true}, true},
		"ready for less":      {"a newer state is wanted", Motion{Phase: PhaseReady}, false},
		"ready and under way": {"its status is being written", Motion{Phase: PhaseReady, Reached: true, Underway: true}, false},
		"suspended":           {"nobody moves it", Motion{Phase: PhaseSuspended}, true},
		"first fetch":         {"the source is about to come", Motion{Phase: PhaseWaitingForSource, Source: SourceFact{Pending: true}}, false},
		"dead source":         {"the source has failed", Motion{Phase: PhaseWaitingForSource}, true},
		"source that has just come": {"the unit is told of it in a moment", Motion{
			Phase: PhaseWaitingForSource, Source: SourceFact{Found: true, Revision: "main@1", Digest: "d"},
		}, false},
		"source that has just failed": {"the unit says yet that it is fetched", Motion{
			Phase: PhaseWaitingForSource, Source: SourceFact{Message: "there is no such host"}, Told: "there is no artifact yet",
		}, false},
		"source that failed": {"the unit says so", Motion{
			Phase: PhaseWaitingForSource, Source: SourceFact{Message: "there is no such host"}, Told: "there is no such host",
		}, true},
		"ready for the revision before": {"the source has a newer one", Motion{
			Phase: PhaseReady, Reached: true, Key: Key{Revision: "main@1"}, Want: Key{Revision: "main@2"},
		}, false},
		"failed for the revision before": {"the newer one may be right", Motion{
			Phase: PhaseFailed, Failure: &Failure{}, Key: Key{Revision: "main@1"}, Want: Key{Revision: "main@2"},
		}, false},
		"suspended for the revision before": {"nobody moves it", Motion{
			Phase: PhaseSuspended, Key: Key{Revision: "main@1"}, Want: Key{Revision: "main@2"},
		}, true},
		"dependency for the revision before": {"what it wants waits as well", Motion{
			Phase: PhaseWaitingForDependencies, Key: Key{Revision: "main@1"}, Want: Key{Revision: "main@2"}, Awaits: []Awaited{{What: AwaitingUnit}},
		}, true},
		"rendering": {"a step follows", Motion{Phase: PhaseRendering}, false},

		"applying a definition": {"its kind is served in a moment", Motion{
			Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingKind, Applied: true}},
		}, false},
		"no definition": {"nobody brings the kind", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingKind}}}, true},
		"a kind that has just come": {"the unit is told of it in a moment", Motion{
			Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingKind, Came: true}},
		}, false},
		"an object that has just come": {"the unit is told of it in a moment", Motion{
			Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingExistence, Came: true}},
		}, false},
		"one of two kinds": {"one comes still", Motion{
			Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingKind}, {What: AwaitingKind, Applied: true}},
		}, false},
		"applying":                 {"whatever it waits for is not known", Motion{Phase: PhaseApplying}, false},
		"no namespace":             {"nobody makes it", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingExistence}}}, true},
		"an object that ends":      {"its end may come", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingEnd}}}, false},
		"an object of another":     {"the other one moves, or does not", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingUnit}}}, true},
		"a driver":                 {"nothing is known of what it waits for", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingUnknown}}}, false},
		"a driver, due":            {"it looks again in a moment", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingUnit}}, Due: now.Add(time.Second)}, false},
		"a driver, due in an hour": {"nobody waits for that", Motion{Phase: PhaseApplying, Awaits: []Awaited{{What: AwaitingUnit}}, Due: now.Add(time.Hour)}, true},
		"held":                     {"its holders move, or do not", Motion{Phase: PhasePruning, Awaits: []Awaited{{What: AwaitingUnit}}}, true},
		"deleted, held":            {"its holders move, or do not", Motion{Phase: PhaseDeleting, Awaits: []Awaited{{What: AwaitingUnit}}}, true},
		"deleted":                  {"its objects go", Motion{Phase: PhaseDeleting, Awaits: []Awaited{{What: AwaitingEnd}}}, false},

		"dependency":        {"the other one moves, or does not", Motion{Phase: PhaseWaitingForDependencies, Awaits: []Awaited{{What: AwaitingUnit}}}, true},
		"dependency object": {"it is on its way", Motion{Phase: PhaseWaitingForDependencies, Awaits: health(InProgress)}, false},
		"missing object":    {"nobody makes it", Motion{Phase: PhaseWaitingForDependencies, Awaits: health(NotFound)}, true},

		"health":             {"it is on its way", Motion{Phase: PhaseWaitingForHealth, Awaits: health(InProgress)}, false},
		"health of a unit":   {"that moves, or does not", Motion{Phase: PhaseWaitingForHealth, Awaits: []Awaited{{What: AwaitingUnit}}}, true},
		"health that failed": {"patience does not mend it", Motion{Phase: PhaseWaitingForHealth, Awaits: health(Failed)}, true},
		"health of nothing":  {"nobody makes it", Motion{Phase: PhaseWaitingForHealth, Awaits: health(NotFound)}, true},
		"health of nothing yet": {"a controller may make it until the timeout", Motion{
			Phase: PhaseWaitingForHealth, Awaits: []Awaited{{What: AwaitingHealth, Verdict: NotFound, Bounded: true}},
		}, false},

		"failed":                {"the next try would give the same", Motion{Phase: PhaseFailed, Failure: &Failure{}, Attempts: 1}, true},
		"failed for a moment":   {"the server did not answer", Motion{Phase: PhaseFailed, Failure: &Failure{Transient: true}, Attempts: 1}, false},
		"failed for long":       {"the server does not answer", Motion{Phase: PhaseFailed, Failure: &Failure{Transient: true}, Attempts: transientTries + 1}, true},
		"refused":               {"a server that has just begun refuses everything", Motion{Phase: PhaseFailed, Failure: &Failure{Refused: true}, Attempts: RefusedTries}, false},
		"refused again":         {"it is not permitted", Motion{Phase: PhaseFailed, Failure: &Failure{Refused: true}, Attempts: RefusedTries + 1}, true},
		"tried again":           {"a driver tries again a number of times", Motion{Phase: PhaseFailed, Failure: &Failure{Transient: true, After: time.Minute}, Attempts: 20}, false},
		"tried again, for long": {"a driver that tries for ever is not waited for", Motion{Phase: PhaseFailed, Failure: &Failure{After: time.Minute}, Attempts: 1}, true},
		"failed for want of a kind": {"the kind is served in a moment", Motion{
			Phase: PhaseFailed, Failure: &Failure{}, Awaits: []Awaited{{What: AwaitingKind, Applied: true}},
		}, false},
		"failed, tried soon": {"another unit may have brought what it lacks", Motion{
			Phase: PhaseFailed, Failure: &Failure{}, Attempts: failedTries, Now: time.Unix(100, 0), Due: time.Unix(110, 0),
		}, false},
		"failed again and again": {"the next try would give the same", Motion{
			Phase: PhaseFailed, Failure: &Failure{}, Attempts: failedTries + 1, Now: time.Unix(100, 0), Due: time.Unix(110, 0),
		}, true},
		"health on its way":       {"it may come a little later", Motion{Phase: PhaseFailed, Failure: &Failure{}, Attempts: 1, Awaits: health(InProgress)}, false},
		"health that never comes": {"it was waited for several times", Motion{Phase: PhaseFailed, Failure: &Failure{}, Attempts: failedTries + 1, Awaits: health(InProgress)}, true},
		"invalid":                 {"it is what is declared that has to change", Motion{Phase: PhaseFailed}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.motion.Now = now
			if got := c.motion.Settled(); got != c.want {
				t.Errorf("%s: settled is %v", c.reason, got)
			}
		})
	}
}
