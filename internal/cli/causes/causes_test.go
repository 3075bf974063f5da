package causes

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

func TestLines(t *testing.T) {
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
	const try = "  try: headgate why Kustomization/ns/a"
	cases := map[string]struct {
		reason string
		states []runner.State
		want   []string
	}{
		"Ready": {"there is nothing to say", []runner.State{ready}, nil},
		"Cause": {
			"what waits for a cause is counted",
			[]runner.State{failed("a", "broken\nand more"), waiting("b", "a"), waiting("c", "b"), ready},
			[]string{"1 cause blocks 3 of 4 units:", "  Kustomization/ns/a failed: broken", "  2 more units wait for that", try},
		},
		"Parent": {"a parent waits for its children", []runner.State{failed("a", "broken"), parent}, []string{"1 cause blocks 2 of 2 units:", "  Kustomization/ns/a failed: broken", "  1 more unit waits for that", try}},
		"Late":   {"also when its time is over", []runner.State{failed("a", "broken"), late}, []string{"1 cause blocks 2 of 2 units:", "  Kustomization/ns/a failed: broken", "  1 more unit waits for that", try}},
		"Object": {
			"what depends on an object waits for the unit that could not apply it",
			[]runner.State{failed("a", "1 of 2 objects failed: Deployment/shop/web: refused as invalid"), {
				Unit: id("b"), Phase: engine.PhaseWaitingForDependencies, Message: "Deployment/shop/web: not found",
				Waits: []engine.Wait{{On: engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}},
			}},
			[]string{
				"1 cause blocks 2 of 2 units:", "  Kustomization/ns/a failed: 1 of 2 objects failed: Deployment/shop/web: refused as invalid",
				"  1 more unit waits for that", try,
			},
		},
		"Quoted": {
			"a parent repeats what its child waits for, and brings none of it",
			[]runner.State{
				{
					Unit: id("a"), Phase: engine.PhaseWaitingForDependencies, Message: "Kustomization/ns/gone: not found",
					Depends: []engine.UnitID{id("gone")}, Waits: []engine.Wait{{On: id("gone")}},
				},
				{
					Unit: id("root"), Phase: engine.PhaseWaitingForHealth, Message: "Kustomization/ns/a waits: Kustomization/ns/gone: not found",
					Waits: []engine.Wait{{On: id("a")}},
				},
			},
			[]string{
				"1 cause blocks 2 of 2 units:", "  Kustomization/ns/a waits for dependencies: Kustomization/ns/gone: not found",
				"    it depends on Kustomization/ns/gone, which does not exist", "  1 more unit waits for that", try,
			},
		},
		"Own": {"what fails by itself is a cause", []runner.State{failed("a", "x"), failed("b", "y")}, []string{"2 causes block 2 of 2 units:", "  Kustomization/ns/a failed: x", "  Kustomization/ns/b failed: y", try}},
		"Alike": {
			"equal reasons are said once",
			[]runner.State{failed("a", "no such host"), failed("b", "no such host"), failed("c", "no such host"), failed("d", "no such host")},
			[]string{"1 cause blocks 4 of 4 units:", "  4 units (Kustomization/ns/a, Kustomization/ns/b, Kustomization/ns/c and 1 more) failed: no such host", try},
		},
		"Missing": {
			"what is not there is named",
			[]runner.State{waiting("a", "gone")},
			[]string{"1 cause blocks 1 of 1 unit:", "  Kustomization/ns/a waits for dependencies: waits", "    it depends on Kustomization/ns/gone, which does not exist", try},
		},
		"Key": {
			"a missing key is what to give",
			[]runner.State{failed("a", "none of the keys can decrypt x.yaml"), failed("b", "y")},
			[]string{
				"2 causes block 2 of 2 units:", "  Kustomization/ns/a failed: none of the keys can decrypt x.yaml", "  Kustomization/ns/b failed: y",
				"  try: headgate up PATH --age-key-file FILE, or --simulate for values that stand in",
			},
		},
		"Circle": {
			"those that wait for each other are all named",
			[]runner.State{waiting("a", "b"), waiting("b", "a")},
			[]string{"1 cause blocks 2 of 2 units:", "  2 units (Kustomization/ns/a, Kustomization/ns/b) wait for dependencies: waits", try},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Lines(c.states)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}
