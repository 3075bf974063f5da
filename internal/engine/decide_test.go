package engine

import (
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// facts are those of a unit that is ready and has nothing to do; each case changes what it is about.
func facts(change func(*Facts)) Facts {
	u := &Unit{ID: UnitID{Kind: "Kustomization", Namespace: "ns", Name: "a"}, Generation: 1, Timeout: time.Minute, Source: SourceID{Kind: "GitRepository", Namespace: "ns", Name: "repo"}}
	f := Facts{
		Now: now, Unit: u, Source: SourceFact{Found: true, Revision: "r1"},
		Last:       Outcome{Key: Key{Generation: 1, Revision: "r1"}, Ended: now.Add(-time.Minute)},
		IntervalAt: now.Add(time.Hour), Health: UnitHealth{Verdict: Current},
	}
	if change != nil {
		change(&f)
	}
	return f
}

func pass(p Progress) *Pass {
	return &Pass{Key: Key{Generation: 1, Revision: "r1"}, Started: now, Deadline: now.Add(time.Minute), Progress: p, Waits: true}
}

func TestDecide(t *testing.T) {
	ill := UnitHealth{Verdict: Failed, Broken: []ObjectHealth{{ID: ObjectID{Kind: "Job", Name: "j"}, Verdict: Failed}}}
	slow := UnitHealth{Verdict: InProgress, Pending: []ObjectHealth{{ID: ObjectID{Kind: "Job", Name: "j"}, Verdict: InProgress}}}
	evaluating := RollUp([]ObjectHealth{{ID: ObjectID{Kind: "Job", Name: "j"}, Verdict: InProgress, Evaluating: true}})
	holders := []Wait{{On: UnitID{Kind: "Unit", Namespace: "ns", Name: "b"}, Reason: "b has not read r1"}, {On: UnitID{Kind: "Unit", Namespace: "ns", Name: "c"}, Reason: "c is broken"}}
	cases := map[string]struct {
		reason string
		change func(*Facts)
		step   Step
		phase  Phase
		says   string
	}{
		"rests":          {"nothing changed", nil, StepWait, PhaseReady, ""},
		"new revision":   {"a new revision begins a pass", func(f *Facts) { f.Source.Revision = "r2" }, StepRender, PhaseRendering, ""},
		"new content":    {"new content at the same revision does too", func(f *Facts) { f.Source.Digest = "d2" }, StepRender, PhaseRendering, ""},
		"new generation": {"a new declaration begins a pass", func(f *Facts) { f.Unit.Generation = 2 }, StepRender, PhaseRendering, ""},
		"request":        {"a request begins a pass", func(f *Facts) { f.Unit.Requested = "now" }, StepRender, PhaseRendering, ""},
		"interval":       {"the interval begins a pass", func(f *Facts) { f.IntervalAt = now }, StepRender, PhaseRendering, ""},
		"input":          {"a changed Secret begins a pass", func(f *Facts) { f.Inputs = 1 }, StepRender, PhaseRendering, ""},
		"drift":          {"drift begins a pass at once", func(f *Facts) { f.Drift = true }, StepRender, PhaseRendering, ""},
		"tug-of-war":     {"a tug-of-war backs off", func(f *Facts) { f.Drift, f.DriftAt = true, now.Add(time.Second) }, StepWait, PhaseReady, ""},
		"no source":      {"without an artifact the unit waits for it", func(f *Facts) { f.Source = SourceFact{Message: "it does not exist"}; f.Unit.Generation = 2 }, StepWait, PhaseWaitingForSource, "it does not exist"},
		"no source at all": {"a unit whose objects are in its declaration waits for none", func(f *Facts) {
			f.Unit.Source, f.Source, f.Unit.Generation = SourceID{}, SourceFact{}, 2
		}, StepRender, PhaseRendering, ""},
		"dependency": {"an unmet dependency holds the gate", func(f *Facts) {
			f.Source.Revision = "r2"
			f.Dependencies = []DependencyFact{{Dependency: Dependency{Unit: unitNamed("b")}, Message: "it is not ready"}}
		}, StepWait, PhaseWaitingForDependencies, "Unit/ns/b: it is not ready"},
		"dependency, being evaluated": {"an expression that is being evaluated holds the gate", func(f *Facts) {
			f.Source.Revision = "r2"
			f.Dependencies = []DependencyFact{{Dependency: Dependency{Unit: unitNamed("b")}, Message: "m", Evaluating: true}}
		}, StepWait, PhaseWaitingForDependencies, "Unit/ns/b: m"},
		"dependency of a resting unit": {"dependencies do not disturb a unit that has nothing to do", func(f *Facts) { f.Dependencies = []DependencyFact{{Message: "no"}} }, StepWait, PhaseReady, ""},
		"cycle": {"a cycle is spelled out", func(f *Facts) {
			f.Source.Revision = "r2"
			f.Cycle = []UnitID{unitNamed("a"), unitNamed("b"), unitNamed("a")}
		}, StepWait, PhaseWaitingForDependencies, "Unit/ns/a -> Unit/ns/b -> Unit/ns/a"},
		"cycle of a resting unit": {"every member names the cycle, also one that has nothing to do", func(f *Facts) {
			f.Cycle = []UnitID{unitNamed("a"), unitNamed("b"), unitNamed("a")}
		}, StepWait, PhaseWaitingForDependencies, "Unit/ns/a -> Unit/ns/b -> Unit/ns/a"},
		"drift meanwhile": {"drift is put right while health is waited for", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait, f.Health, f.Drift = true, slow, true
		}, StepAbandon, PhaseRendering, "drift"},
		"drift while a kind is missing": {"drift is put right while a need is waited for", func(f *Facts) {
			f.Pass, f.Drift = pass(Applied), true
			f.Pass.Pending = []Wait{{On: ObjectID{Kind: "X", Name: "x"}, Reason: "no kind"}}
		}, StepAbandon, PhaseRendering, "drift"},
		"tug-of-war meanwhile": {"a tug-of-war backs off while health is waited for", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait, f.Health = true, slow
			f.Drift, f.DriftAt = true, now.Add(time.Second)
		}, StepWait, PhaseWaitingForHealth, "Job/j"},
		"suspended":    {"a suspended unit drops its pass", func(f *Facts) { f.Unit.Suspended = true; f.Pass = pass(Applied) }, StepAbandon, PhaseSuspended, ""},
		"invalid":      {"a declaration that cannot be followed fails", func(f *Facts) { f.Unit.Invalid = Invalid{ReasonInvalid, "bad CEL"} }, StepFail, PhaseFailed, "bad CEL"},
		"busy":         {"a busy unit waits", func(f *Facts) { f.Pass = pass(Rendered); f.Busy = true }, StepWait, PhaseApplying, ""},
		"rendered":     {"what was rendered is applied", func(f *Facts) { f.Pass = pass(Rendered) }, StepApply, PhaseApplying, ""},
		"applied":      {"after the apply comes the prune", func(f *Facts) { f.Pass = pass(Applied) }, StepPrune, PhasePruning, ""},
		"held":         {"deletions wait for others", func(f *Facts) { f.Pass = pass(Applied); f.Hold.Waits = holders }, StepWait, PhasePruning, "deletions wait: b has not read r1; c is broken"},
		"held in part": {"what need not wait is deleted", func(f *Facts) { f.Pass = pass(Applied); f.Hold.Waits, f.Free = holders, true }, StepPrune, PhasePruning, ""},
		"needs": {"what cannot be applied yet is waited for", func(f *Facts) {
			f.Pass = pass(Applied)
			f.Pass.Pending = []Wait{{On: ObjectID{Kind: "X", Name: "x"}, Reason: "no kind"}}
		}, StepWait, PhaseApplying, "X/x: no kind"},
		"needs too long": {"a need that does not come fails at the deadline", func(f *Facts) {
			f.Pass = pass(Applied)
			f.Pass.Pending = []Wait{{On: ObjectID{Kind: "X", Name: "x"}, Reason: "no kind"}}
			f.Now = now.Add(time.Minute)
		}, StepFail, PhaseFailed, "X/x: no kind"},
		"unchecked":  {"without health checks the pass succeeds", func(f *Facts) { f.Pass = pass(Pruned); f.Health = slow }, StepSucceed, PhaseReady, ""},
		"healthy":    {"a healthy unit succeeds", func(f *Facts) { f.Pass = pass(Pruned); f.Unit.Health.Wait = true }, StepSucceed, PhaseReady, ""},
		"on its way": {"health is waited for", func(f *Facts) { f.Pass = pass(Pruned); f.Unit.Health.Wait = true; f.Health = slow }, StepWait, PhaseWaitingForHealth, "Job/j"},
		"too slow": {"health that does not come fails at the deadline", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait = true
			f.Health = slow
			f.Now = now.Add(time.Minute)
		}, StepFail, PhaseFailed, "timeout waiting for: [Job/j status: 'InProgress']"},
		"too slow, being evaluated": {"what is being evaluated at the deadline is waited for", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait = true
			f.Health = evaluating
			f.Now = now.Add(time.Minute)
		}, StepWait, PhaseWaitingForHealth, "Job/j"},
		"being evaluated": {"an object that is being evaluated is not healthy yet", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait, f.Health = true, evaluating
		}, StepWait, PhaseWaitingForHealth, "Job/j"},
		"rests, being evaluated": {"a ready unit stays ready while an object of it is evaluated again", func(f *Facts) {
			f.Unit.Health.Wait, f.Health = true, evaluating
		}, StepWait, PhaseReady, ""},
		"not recovered": {"a pass that failed on health stays failed while an object is evaluated again", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait, f.Health = true, evaluating
			f.Pass.Failure = &Failure{Reason: ReasonHealthCheckFailed, Message: "bad", RetryAt: now.Add(time.Hour)}
		}, StepWait, PhaseFailed, "bad"},
		"broken": {"a failed object fails the pass at once", func(f *Facts) { f.Pass = pass(Pruned); f.Unit.Health.Wait = true; f.Health = ill }, StepFail, PhaseFailed, "Job/j status: 'Failed'"},
		"attended": {"what is healthy is verified by a driver that does so", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Pass.Attended, f.Unit.Health.Wait = true, true
		}, StepVerify, PhaseWaitingForHealth, ""},
		"remedied": {"what is not healthy is remedied by such a driver", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Pass.Attended, f.Unit.Health.Wait, f.Health = true, true, ill
		}, StepRemedy, PhaseWaitingForHealth, "Job/j status: 'Failed'"},
		"nothing done": {"nothing is waited for where nothing was done", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Pass.Waits, f.Unit.Health.Wait, f.Health = false, true, ill
		}, StepSucceed, PhaseReady, ""},
		"turned ill later": {"health that counts once is not waited for again", func(f *Facts) {
			f.Unit.Health = HealthPolicy{Wait: true, Once: true}
			f.Health = ill
		}, StepWait, PhaseReady, ""},
		"superseded": {"a newer revision ends a pass that waits", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Unit.Health.Wait = true
			f.Health = slow
			f.Source.Revision = "r2"
		}, StepAbandon, PhaseWaitingForHealth, "superseded"},
		"recovered": {"a pass that failed on health succeeds when the objects do", func(f *Facts) {
			f.Pass = pass(Pruned)
			f.Pass.Failure = &Failure{Reason: ReasonHealthCheckFailed, RetryAt: now.Add(time.Hour)}
		}, StepSucceed, PhaseReady, ""},
		"failed": {"a failure waits for its retry", func(f *Facts) {
			f.Last.Failure = &Failure{Reason: ReasonBuildFailed, Message: "bad", RetryAt: now.Add(time.Second)}
		}, StepWait, PhaseFailed, "bad"},
		"retry":         {"a failure is retried", func(f *Facts) { f.Last.Failure = &Failure{Reason: ReasonBuildFailed, RetryAt: now} }, StepRender, PhaseRendering, ""},
		"turned ill":    {"a ready unit whose objects turn ill is looked at", func(f *Facts) { f.Unit.Health.Wait = true; f.Health = ill }, StepRecheck, PhaseReady, ""},
		"deleted":       {"a deleted unit is finalized", func(f *Facts) { f.Unit.Deleting = true }, StepFinalize, PhaseDeleting, ""},
		"deleted, held": {"the deletion of a unit waits for others too", func(f *Facts) { f.Unit.Deleting = true; f.Hold.Waits = holders }, StepWait, PhaseDeleting, "deletions wait: b has not read r1; c is broken"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Decide(facts(c.change))
			if got.Step != c.step || got.Phase != c.phase || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s: got %s in %s saying %q, want %s in %s saying %q", c.reason, got.Step, got.Phase, got.Message, c.step, c.phase, c.says)
			}
		})
	}
}
