package argo

import (
	"context"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
)

// resumable is the state of an operation that a process which ended has left, when it is the one that is wanted.
func resumable(obj *v1alpha1.Application, revision string, op *v1alpha1.Operation) *v1alpha1.OperationState {
	state := obj.Status.OperationState
	if state == nil || !sameRequest(state.Operation, *op) || !sameSources(*state, obj) {
		return nil
	}
	if state.Phase != v1alpha1.OperationTerminating && (state.Phase != v1alpha1.OperationRunning || !sameRevision(*state, revision)) {
		return nil
	}
	out := &v1alpha1.OperationState{StartedAt: state.StartedAt, RetryCount: state.RetryCount, Operation: state.Operation}
	if state.FinishedAt == nil {
		// Otherwise this is what came of an attempt that failed: the next one starts over.
		out.SyncResult = state.SyncResult
	}
	return out
}

// resultsBefore are what came of the objects of an operation that goes on, when it is of the same sources.
func resultsBefore(before, now *v1alpha1.SyncOperationResult) []v1alpha1.ResourceResult {
	if before == nil || encoded(before.Source) != encoded(now.Source) || encoded(before.Sources) != encoded(now.Sources) {
		return nil
	}
	return before.Resources
}

// succeeded are the hooks among them that have succeeded.
func succeeded(before []v1alpha1.ResourceResult, cluster string) map[operation.Hooked]bool {
	hooks := map[operation.Hooked]bool{}
	for _, r := range before {
		if r.HookType != "" && r.HookPhase == v1alpha1.OperationSucceeded {
			hooks[operation.Hooked{ID: idOfResult(r, cluster), Phase: operation.Phase(r.HookType)}] = true
		}
	}
	return hooks
}

// awaited are the objects among them that were written, and whose health was waited for.
func awaited(before []v1alpha1.ResourceResult, cluster string) map[engine.ObjectID]bool {
	objects := map[engine.ObjectID]bool{}
	for _, r := range before {
		if r.HookType == "" && r.HookPhase == v1alpha1.OperationRunning {
			objects[idOfResult(r, cluster)] = true
		}
	}
	return objects
}

// finished are those of objects for which there is nothing left to do.
func finished(before []v1alpha1.ResourceResult, op *operation.Operation, cluster string) []v1alpha1.ResourceResult {
	planned := map[operation.Hooked]bool{}
	for _, t := range op.Tasks {
		planned[operation.Hooked{ID: t.ID, Phase: t.Phase}] = true
	}
	var rest []v1alpha1.ResourceResult
	for _, r := range before {
		has := planned[operation.Hooked{ID: idOfResult(r, cluster), Phase: operation.Phase(r.SyncPhase)}]
		if !has && r.Status != v1alpha1.ResultCodePruneSkipped {
			rest = append(rest, r)
		}
	}
	return rest
}

func idOfResult(r v1alpha1.ResourceResult, cluster string) engine.ObjectID {
	return engine.ObjectID{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Cluster: cluster}
}

// sameSources reports whether an operation is of the sources that an Application declares. One that names its own is.
func sameSources(state v1alpha1.OperationState, obj *v1alpha1.Application) bool {
	request, result := state.Operation, state.SyncResult
	if !request.InitiatedBy.Automated || result == nil {
		return true
	}
	return encoded(result.Source) == encoded(policy.SourceOf(obj.Spec)) && encoded(result.Sources) == encoded(obj.Spec.Sources)
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
