package argo

import (
	"context"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// resumable is the state of an operation that a process which ended has left, when it is the one that is wanted.
func resumable(obj *v1alpha1.Application, revision string, op *v1alpha1.Operation) *v1alpha1.OperationState {
	state := obj.Status.OperationState
	if state == nil || state.Phase != v1alpha1.OperationRunning || !sameRevision(*state, revision) || !sameRequest(state.Operation, *op) {
		return nil
	}
	out := &v1alpha1.OperationState{StartedAt: state.StartedAt, RetryCount: state.RetryCount, Operation: state.Operation}
	if state.FinishedAt == nil {
		// Otherwise this is what came of an attempt that failed: the next one starts over.
		out.SyncResult = state.SyncResult
	}
	return out
}

// succeeded are the hooks that have succeeded in an operation that goes on, when it is of the same sources.
func succeeded(before, now *v1alpha1.SyncOperationResult, cluster string) map[operation.Hooked]bool {
	if before == nil || encoded(before.Source) != encoded(now.Source) || encoded(before.Sources) != encoded(now.Sources) {
		return nil
	}
	hooks := map[operation.Hooked]bool{}
	for _, r := range before.Resources {
		if r.HookType != "" && r.HookPhase == v1alpha1.OperationSucceeded {
			id := engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Cluster: cluster}
			hooks[operation.Hooked{ID: id, Phase: operation.Phase(r.HookType)}] = true
		}
	}
	return hooks
}

func sameRevision(state v1alpha1.OperationState, revision string) bool {
	if state.SyncResult == nil {
		return false
	}
	return state.SyncResult.Revision == revision || strings.Join(state.SyncResult.Revisions, ",") == revision
}

// record has the status say which hooks and which Jobs that run once have completed before anything follows from that, and before
// these may go: they do not run again when another process continues the operation.
func (d *driver) record(ctx context.Context, a *app, op *running, completed []*operation.Task) error {
	succeeded := slices.ContainsFunc(completed, func(t *operation.Task) bool { return t.State == operation.Done })
	if !succeeded && !a.unnoted() {
		return nil
	}
	a.progress(op, a.job.compared, nil)
	return d.Engine.write(ctx, a, nil)
}

// announce has the status say that an operation runs before hooks do: what a killed process ran is not run again. Other
// objects are known by their tracking; the status names them when the operation ends, or after a moment.
func (d *driver) announce(ctx context.Context, a *app, op *running) error {
	if op.written {
		return nil
	}
	op.written = true
	if slices.ContainsFunc(op.sync.Tasks, func(t *operation.Task) bool { return t.Hook }) {
		return d.Engine.write(ctx, a, nil)
	}
	return nil
}
