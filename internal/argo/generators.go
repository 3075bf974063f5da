package argo

import (
	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/sets"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

var (
	_ dialect.Generating = (*Engine)(nil)
	_ dialect.Idling     = (*Engine)(nil)
)

// Idle are the Applications that differ from their sources and are not synced automatically.
func (e *Engine) Idle() map[engine.UnitID]string {
	idle := map[engine.UnitID]string{}
	e.apps.each(func(a *app) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.view.sync.Status == v1alpha1.SyncStatusCodeOutOfSync && !automated(a.obj) && a.obj.DeletionTimestamp == nil {
			idle[a.id] = string(a.view.sync.Status)
		}
	})
	return idle
}

// Generators are how the ApplicationSets stand.
func (e *Engine) Generators() []runner.State {
	all := []runner.State{}
	for _, s := range e.sets.Standing() {
		state := runner.State{
			Unit:  engine.UnitID{Group: Group, Kind: sets.Kind, Namespace: s.Name.Namespace, Name: s.Name.Name},
			Phase: engine.PhaseWaitingForSource, Message: "its Applications are being generated", Since: s.At, Settled: s.Settled,
		}
		switch {
		case s.Failed != "":
			state.Phase, state.Reason, state.Message = engine.PhaseFailed, engine.ReasonFailed, s.Failed
		case s.Settled:
			state.Phase, state.Message, state.Ready = engine.PhaseReady, "", true
		}
		all = append(all, state)
	}
	return all
}
