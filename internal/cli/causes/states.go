package causes

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// States are where the units of a cluster stand, as their objects report it.
func States(ctx context.Context, g *console.Globals, client dynamic.Interface) ([]runner.State, error) {
	list, err := g.ListUnits(ctx, client)
	if err != nil {
		return nil, err
	}
	generators, err := unready(ctx, g, client)
	list = append(list, generators...)
	states := make([]runner.State, 0, len(list))
	open := map[engine.UnitID]bool{}
	for _, u := range list {
		s := stateOf(g, u)
		states, open[s.Unit] = append(states, s), !s.Ready && !s.Suspended
	}
	// What is made of other units waits for those of them that are not ready.
	for i, u := range list {
		for _, id := range g.Catalogue.StateOf(u).Inventory {
			if part := engine.UnitOf(id); open[part] && open[states[i].Unit] {
				states[i].Waits = append(states[i].Waits, engine.Wait{On: part})
			}
		}
	}
	return states, err
}

// unready are the objects that units are generated from, and that are not ready: they count as units.
func unready(ctx context.Context, g *console.Globals, client dynamic.Interface) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, kind := range g.Kinds(func(k dialect.Kind) bool { return k.Generates }) {
		list, err := kind.List(ctx, client, metav1.NamespaceAll, true)
		if err != nil {
			return nil, err
		}
		for _, u := range list {
			if g.Catalogue.StateOf(u).Ready != "True" {
				all = append(all, u)
			}
		}
	}
	return all, nil
}

// stateOf reads the state of a unit from its object.
func stateOf(g *console.Globals, u *unstructured.Unstructured) runner.State {
	said := g.Catalogue.StateOf(u)
	s := runner.State{
		Unit: console.IdOf(u), Phase: engine.PhaseWaitingForSource, Since: u.GetCreationTimestamp().Time, Message: "not reconciled yet",
		Suspended: said.Suspended, Revision: said.Revision, Objects: len(said.Inventory),
	}
	if said.Said {
		s.Reason, s.Message = engine.Reason(said.Reason), said.Message
		s.Phase, s.Ready = phaseOf(said.Ready, said.Reason, said.Current)
		switch {
		case said.Manual:
			s.Phase, s.Ready = engine.PhaseReady, true
		case said.Moving && !s.Ready:
			s.Phase = engine.PhaseWaitingForHealth
		}
		if at, err := time.Parse(time.RFC3339, said.Since); err == nil {
			s.Since = at
		}
	}
	s.Settled = s.Ready || s.Suspended
	// What it needs of what cannot be read is said in its own condition.
	needs, _ := g.NeedsOf(u)
	for _, id := range needs {
		if g.Catalogue.IsUnit(id.Object()) {
			s.Depends = append(s.Depends, id)
		}
	}
	return s
}

// phaseOf is the phase that a Ready condition stands for.
func phaseOf(status, reason string, current bool) (phase engine.Phase, ready bool) {
	switch {
	case status == "True" && current:
		return engine.PhaseReady, true
	case engine.Reason(reason) == engine.ReasonDependencyNotReady:
		return engine.PhaseWaitingForDependencies, false
	case status == "False":
		return engine.PhaseFailed, false
	default:
		return engine.PhaseWaitingForHealth, false
	}
}
