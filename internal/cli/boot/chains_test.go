package boot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

func TestChains(t *testing.T) {
	id := func(name string) engine.UnitID {
		return engine.UnitID{Kind: "Kustomization", Namespace: "ns", Name: name}
	}
	failed := func(name, message string) runner.State {
		return runner.State{Unit: id(name), Phase: engine.PhaseFailed, Message: message}
	}
	waiting := func(name string, on ...string) runner.State {
		s := runner.State{Unit: id(name), Phase: engine.PhaseWaitingForDependencies, Message: "waits"}
		for _, other := range on {
			s.Depends = append(s.Depends, id(other))
		}
		return s
	}
	parent := runner.State{Unit: id("root"), Phase: engine.PhaseWaitingForHealth, Message: "waiting for a", Waits: []engine.Wait{{On: id("a")}}}
	late := parent
	late.Phase, late.Reason = engine.PhaseFailed, engine.ReasonHealthCheckFailed
	ready := runner.State{Unit: id("ready"), Ready: true}
	cases := map[string]struct {
		reason string
		states []runner.State
		want   []string
	}{
		"Ready": {"there is nothing to say", []runner.State{ready}, nil},
		"Cause": {
			"what waits for a cause is counted",
			[]runner.State{failed("a", "broken\nand more"), waiting("b", "a"), waiting("c", "b"), ready},
			[]string{"Kustomization/ns/a is Failed: broken", "2 more wait for it"},
		},
		"Parent": {"a parent waits for its children", []runner.State{failed("a", "broken"), parent}, []string{"Kustomization/ns/a is Failed: broken", "1 more wait for it"}},
		"Late":   {"also when its time is over", []runner.State{failed("a", "broken"), late}, []string{"Kustomization/ns/a is Failed: broken", "1 more wait for it"}},
		"Own":    {"what fails by itself is a cause", []runner.State{failed("a", "x"), failed("b", "y")}, []string{"Kustomization/ns/a is Failed: x", "Kustomization/ns/b is Failed: y"}},
		"Alike": {
			"equal reasons are said once",
			[]runner.State{failed("a", "no such host"), failed("b", "no such host"), failed("c", "no such host"), failed("d", "no such host")},
			[]string{"4 units (Kustomization/ns/a, Kustomization/ns/b, Kustomization/ns/c and 1 more) are Failed: no such host"},
		},
		"Missing": {
			"what is not there is named",
			[]runner.State{waiting("a", "gone")},
			[]string{"Kustomization/ns/a is WaitingForDependencies: waits", "  it depends on Kustomization/ns/gone, which does not exist"},
		},
		"Circle": {
			"those that wait for each other are all named",
			[]runner.State{waiting("a", "b"), waiting("b", "a")},
			[]string{"2 units (Kustomization/ns/a, Kustomization/ns/b) are WaitingForDependencies: waits"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, chains(c.states)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}
