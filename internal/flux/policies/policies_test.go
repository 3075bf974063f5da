package policies

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// asPolicies compares policies as values.
var asPolicies = cmpopts.EquateComparable(Policy{})

func TestPolicies(t *testing.T) {
	changes := 0
	operators := engine.UnitID{Kind: "FluxInstance", Namespace: toolkit.Namespace, Name: "flux"}
	p := New(Policy{NoRemoteBases: true, DefaultServiceAccount: "own"})
	p.Changed = func() { changes++ }
	p.Ask(engine.UnitID{Kind: "FluxInstance", Namespace: "apps", Name: "flux"}, Policy{NoCrossNamespaceRefs: true})
	if diff := cmp.Diff(p.base, p.Now(), asPolicies); diff != "" {
		t.Errorf("a tenant asked, and got\n%s", diff)
	}
	p.Ask(operators, Policy{NoCrossNamespaceRefs: true, DefaultServiceAccount: "other", AgeSecret: "age"})
	want := Policy{NoRemoteBases: true, NoCrossNamespaceRefs: true, DefaultServiceAccount: "own", AgeSecret: "age"}
	if diff := cmp.Diff(want, p.Now(), asPolicies); diff != "" {
		t.Error(diff)
	}
	p.Ask(operators, Policy{})
	if diff := cmp.Diff(p.base, p.Now(), asPolicies); diff != "" {
		t.Errorf("nobody asks any more, and there is\n%s", diff)
	}
	if changes != 2 {
		t.Errorf("%d changes were told, want 2", changes)
	}
}
