package argo

import (
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
)

// result is what came of a sync, before anything did. The caller does not hold the lock.
func (a *app) result(c *comparison, sync *v1alpha1.SyncOperation) *v1alpha1.SyncOperationResult {
	a.mu.Lock()
	defer a.mu.Unlock()
	return resultAt(a.obj, c.revision, sync)
}

// resultAt is what came of a sync to a revision, before anything did.
func resultAt(obj *v1alpha1.Application, revision string, sync *v1alpha1.SyncOperation) *v1alpha1.SyncOperationResult {
	r := &v1alpha1.SyncOperationResult{}
	if len(obj.Spec.Sources) > 0 {
		r.Revisions, r.Sources = strings.Split(revision, ","), obj.Spec.Sources
		if len(sync.Sources) > 0 {
			r.Sources = sync.Sources
		}
		return r
	}
	r.Revision, r.Source = revision, policy.SourceOf(obj.Spec)
	if sync.Source != nil {
		r.Source = sync.Source
	}
	return r
}

// results are what came of each object so far.
func (r *running) results() []v1alpha1.ResourceResult {
	r.guard.Lock()
	defer r.guard.Unlock()
	all := append([]v1alpha1.ResourceResult{}, r.beside...)
	for _, t := range slices.Concat(r.sync.Tasks, r.left) {
		if t.State == operation.Pending || t.State == operation.Deleting {
			continue
		}
		one := resultOf(engine.Entry{ID: t.ID, Version: t.Version}, v1alpha1.ResultCode(t.Code), t.Message)
		one.SyncPhase = string(t.Phase)
		if t.Hook {
			one.HookType = string(t.Phase)
		}
		if t.Object != nil {
			one.Images = manifests.Images(t.Object)
		}
		switch {
		case t.State == operation.Running, t.State == operation.Done && t.Unwaited():
			one.HookPhase = v1alpha1.OperationRunning
		case t.State == operation.Done:
			one.HookPhase = v1alpha1.OperationSucceeded
		case t.State == operation.Failed:
			one.HookPhase = v1alpha1.OperationFailed
		}
		all = append(all, one)
	}
	return all
}

func resultOf(e engine.Entry, code v1alpha1.ResultCode, message string) v1alpha1.ResourceResult {
	return v1alpha1.ResourceResult{
		Group: e.ID.Group, Version: e.Version, Kind: e.ID.Kind, Namespace: e.ID.Namespace, Name: e.ID.Name, Status: code, Message: message,
	}
}

// entries are what the Application holds while an operation runs: hooks among them, so that it hears of them.
func (r *running) entries(c *comparison) []engine.Entry {
	entries := c.entries()
	known := map[engine.ObjectID]bool{}
	for _, e := range entries {
		known[e.ID] = true
	}
	for _, t := range slices.Concat(r.sync.Tasks, r.sync.Lingering()) {
		if (t.State == operation.Running || t.State == operation.Done || t.State == operation.Deleting) && !known[t.ID] && t.ID.Kind != "Namespace" {
			known[t.ID] = true
			entries = append(entries, engine.Entry{ID: t.ID, Version: t.Version})
		}
	}
	return entries
}

// settle enters what came of the tasks into the comparison.
func (r *running) settle(c *comparison) {
	if r.request.Sync.DryRun {
		return
	}
	pruned := map[engine.ObjectID]bool{}
	for _, t := range r.sync.Tasks {
		switch {
		case t.Prune:
			pruned[t.ID] = t.State == operation.Done && t.Code == operation.Pruned
		case t.Hook:
		case t.Code == operation.Synced:
			if o := c.find(t.ID); o != nil {
				o.standing.InSync, o.standing.Missing = true, false
			}
		}
	}
	kept := c.extras[:0:0]
	for _, e := range c.extras {
		if !pruned[e.entry.ID] {
			kept = append(kept, e)
		}
	}
	c.extras = kept
	failed := r.failedHooks() && (c.hooksRan || len(c.barred) == 0)
	if due := failed || r.sync.Failing() == ""; due && (!r.selective() || !c.hooksRan) {
		// Those of a sync that failed for them are run again, and a sync of selected objects has none.
		c.hooksDiffer, c.hooksFailed = false, failed
	}
}

// failedHooks reports whether a hook ended an operation without success.
func (r *running) failedHooks() bool {
	return !r.terminated && slices.ContainsFunc(r.sync.Tasks, func(t *operation.Task) bool { return t.Hook && t.State == operation.Failed })
}
