package runner

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TestUnrecorded has what was applied be written as soon as a pass waits, once, where the status does not have it yet.
func TestUnrecorded(t *testing.T) {
	entry := func(name string) engine.Entry {
		return engine.Entry{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: name}, Version: "v1"}
	}
	held, recorded := []engine.Entry{entry("a"), entry("b")}, engine.Unit{Inventory: []engine.Entry{entry("a")}}
	prunes := Traits{Declares: true, Prunes: true}
	for name, c := range map[string]struct {
		u    unit
		want bool
	}{
		"one object is new":   {unit{Unit: recorded, traits: prunes, inventory: held, pass: &engine.Pass{}}, true},
		"all are recorded":    {unit{Unit: recorded, traits: prunes, inventory: held[:1], pass: &engine.Pass{}}, false},
		"it was written":      {unit{Unit: recorded, traits: prunes, inventory: held, pass: &engine.Pass{}, announced: "waits"}, false},
		"it is being applied": {unit{Unit: recorded, traits: prunes, inventory: held, pass: &engine.Pass{}, busy: true}, false},
		"no pass":             {unit{Unit: recorded, traits: prunes, inventory: held}, false},
		"its driver keeps its own record of them": {unit{Unit: recorded, inventory: held, pass: &engine.Pass{}}, false},
	} {
		if got := c.u.unrecorded(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
