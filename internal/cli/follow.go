package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
func follow(ctx context.Context, config *rest.Config, say *progress.Printer) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	defer say.Clear()
	seen := map[engine.UnitID]runner.State{}
	var states []runner.State
	for {
		now, err := unitStates(ctx, client)
		switch {
		case err != nil && ctx.Err() == nil && !apierrors.IsServiceUnavailable(err):
			return unreachable(err)
		case err == nil:
			states = now
		}
		tellChanges(states, seen, say)
		say.Live(states)
		if rooted(states) && judge(states).ready && allThere(states) {
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
				return hint(errors.New("not everything is ready in time"), "headgate check")
			}
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// rooted tells whether the root is among the units.
func rooted(states []runner.State) bool {
	for _, s := range states {
		if s.Unit == (engine.UnitID{Kind: "Kustomization", Namespace: flux.Namespace, Name: flux.System}) {
			return true
		}
	}
	return false
}

// allThere tells whether every unit that another one holds is there.
func allThere(states []runner.State) bool {
	known := map[engine.UnitID]bool{}
	for _, s := range states {
		known[s.Unit] = true
	}
	for _, s := range states {
		for _, child := range s.Children {
			if !known[child] {
				return false
			}
		}
	}
	return true
}

// unitStates are where the units stand by what they say of themselves.
func unitStates(ctx context.Context, client dynamic.Interface) ([]runner.State, error) {
	var states []runner.State
	for _, resource := range flux.UnitResources() {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			states = append(states, stateOf(&list.Items[i]))
		}
	}
	return states, nil
}

// stateOf reads the state of a unit from its object.
func stateOf(u *unstructured.Unstructured) runner.State {
	s := runner.State{
		Unit:  engine.UnitID{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()},
		Phase: engine.PhaseWaitingForSource, Since: u.GetCreationTimestamp().Time, Message: "it has not been looked at yet",
	}
	s.Suspended, _, _ = unstructured.NestedBool(u.Object, "spec", "suspend")
	s.Revision, _, _ = unstructured.NestedString(u.Object, "status", "lastAppliedRevision")
	for _, e := range flux.HeldBy(u) {
		s.Objects++
		if isUnit(e.ID) {
			s.Children = append(s.Children, engine.UnitID{Kind: e.ID.Kind, Namespace: e.ID.Namespace, Name: e.ID.Name})
		}
	}
	observed, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != "Ready" {
			continue
		}
		s.Reason, _ = c["reason"].(string)
		s.Message, _ = c["message"].(string)
		if at, err := time.Parse(time.RFC3339, fmt.Sprint(c["lastTransitionTime"])); err == nil {
			s.Since = at
		}
		s.Phase, s.Ready = phaseOf(fmt.Sprint(c["status"]), s.Reason, observed == u.GetGeneration())
	}
	return s
}

// phaseOf is the phase that a Ready condition stands for.
func phaseOf(status, reason string, current bool) (phase engine.Phase, ready bool) {
	switch {
	case status == "True" && current:
		return engine.PhaseReady, true
	case reason == engine.ReasonDependencyNotReady:
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
		say.Note(runner.Note{Time: time.Now(), Unit: s.Unit, Phase: s.Phase, Text: text, Failed: s.Phase == engine.PhaseFailed})
	}
}
