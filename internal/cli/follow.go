package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/runner"
)

// follow prints where the units of a cluster stand that another process serves, as they say themselves, until
// all are ready or ctx ends.
func (g *globals) follow(ctx context.Context, config *rest.Config, say *progress.Printer) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	defer say.Clear()
	seen := map[engine.UnitID]runner.State{}
	var states []runner.State
	for {
		now, err := g.unitStates(ctx, client)
		switch {
		case err != nil && ctx.Err() == nil && !apierrors.IsServiceUnavailable(err):
			return err
		case err == nil:
			states = now
		}
		tellChanges(states, seen, say)
		say.Live(states)
		if v := judge(states); rooted(states) && v.ready && v.rest {
			say.Clear()
			return nil
		}
		select {
		case <-ctx.Done():
			say.Clear()
			for _, line := range chains(states) {
				say.Plain("             " + line)
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return hint(errors.New("timed out before everything was ready"), "headgate check")
			}
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// rooted tells whether the root is among the units.
func rooted(states []runner.State) bool {
	for _, s := range states {
		if s.Unit == (engine.UnitID{Group: kustomizeGroup, Kind: kustomizationKind.Kind, Namespace: flux.Namespace, Name: flux.System}) {
			return true
		}
	}
	return false
}

// unitStates are the states of the units as they report them.
func (g *globals) unitStates(ctx context.Context, client dynamic.Interface) ([]runner.State, error) {
	list, err := g.listUnits(ctx, client)
	states := make([]runner.State, 0, len(list))
	for _, u := range list {
		states = append(states, stateOf(u))
	}
	return states, err
}

// stateOf reads the state of a unit from its object.
func stateOf(u *unstructured.Unstructured) runner.State {
	s := runner.State{
		Unit: idOf(u), Phase: engine.PhaseWaitingForSource, Since: u.GetCreationTimestamp().Time, Message: "not reconciled yet",
		Suspended: suspended(u), Revision: text(u, "status", "lastAppliedRevision"),
	}
	s.Objects = len(inventory(u))
	if isApplication(u) {
		appState(u, &s)
		return s
	}
	if status, reason, message := condition(u, "Ready"); status != "" {
		observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
		s.Reason, s.Message = engine.Reason(reason), message
		s.Phase, s.Ready = phaseOf(status, reason, observed == u.GetGeneration())
		if at, err := time.Parse(time.RFC3339, transition(u)); err == nil {
			s.Since = at
		}
	}
	s.Settled = s.Ready || s.Suspended
	return s
}

// appState fills in where an Application stands.
func appState(u *unstructured.Unstructured, s *runner.State) {
	status, reason, message := appReadiness(u)
	s.Reason, s.Message, s.Revision = engine.Reason(reason), message, appRevision(u)
	s.Phase, s.Ready = phaseOf(status, reason, true)
	if reason == "Syncing" || reason == "Progressing" || reason == "Missing" || reason == "OutOfSync" || reason == "Unknown" {
		s.Phase = engine.PhaseWaitingForHealth
	}
	if at, err := time.Parse(time.RFC3339, appSince(u)); err == nil {
		s.Since = at
	}
	s.Settled = s.Ready || s.Suspended
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

// tellChanges prints a line for each unit that stands elsewhere than before.
func tellChanges(states []runner.State, seen map[engine.UnitID]runner.State, say *progress.Printer) {
	for _, s := range states {
		before, known := seen[s.Unit]
		seen[s.Unit] = s
		if known && before.Phase == s.Phase && before.Message == s.Message || !known && s.Reason == "" {
			continue
		}
		text := s.Message
		if s.Ready {
			text = "ready: " + s.Message
		}
		say.Note(runner.Note{Time: time.Now(), Unit: s.Unit, Phase: s.Phase, Text: text, Failed: s.Phase == engine.PhaseFailed, Ready: s.Phase == engine.PhaseReady && s.Ready})
	}
}
