package argo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// barred reports why an Application waits with what it deletes: others that read the same repositories may be about to claim
// that. What others claim by now is not deleted.
func (d *driver) barred(ctx context.Context, a *app, w runner.Work, c *comparison) (why string, err error) {
	entries := make([]engine.Entry, len(c.extras))
	for i, e := range c.extras {
		entries[i] = e.entry
	}
	deletions, err := w.Peers.Deletions(ctx, entries)
	if err != nil {
		return "", err
	}
	c.extras = slices.DeleteFunc(c.extras, func(e *extra) bool { return deletions.Claimed[e.entry.ID] })
	a.mu.Lock()
	a.view.held = deletions.Held
	a.mu.Unlock()
	return deletions.Held, nil
}

// hold waits until nothing is in the way of what is deleted.
func (d *driver) hold(a *app, c *comparison, why string) runner.Acted {
	return runner.Acted{Entries: c.entries(), Held: true, Waiting: []engine.Wait{{On: a.id, Reason: why}}}
}

// heldCondition says what the deletions of a sync wait for.
func (a *app) heldCondition(r *runner.Report) v1alpha1.ApplicationCondition {
	if r != nil && !r.Observed && r.Reason == engine.ReasonProgressing {
		// Others than at first may be waited for by now.
		a.view.held = strings.TrimPrefix(r.Message, a.id.String()+": ")
	}
	return v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionSyncError, Message: "waiting: " + a.view.held}
}

// prune deletes an object that is no longer declared.
func (d *driver) prune(ctx context.Context, a *app, g gate, t *operation.Task) operation.Result {
	if t.Confirm && !approved(a.now(), a.job.op.state.StartedAt.Time) {
		return operation.Result{Skipped: fmt.Sprintf("waiting for pruning confirmation: set the annotation %s to the time", v1alpha1.DeletionApprovedAnnotation)}
	}
	result := g.remove(ctx, engine.Entry{ID: t.ID, Version: t.Version}, a.job.compared.options.Propagation)
	a.job.op.guarded(func() { a.job.op.changes = append(a.job.op.changes, result) })
	return operation.Result{Err: bare(result.Err)}
}

// approved reports whether deletions were approved since a time.
func approved(obj *v1alpha1.Application, since time.Time) bool {
	at, err := time.Parse(time.RFC3339, obj.Annotations[v1alpha1.DeletionApprovedAnnotation])
	return err == nil && !at.Before(since.Truncate(time.Second))
}

// lookForExtras finds what is held, is there, is ours, and is no longer declared.
func (d *driver) lookForExtras(ctx context.Context, a *app, w runner.Work, c *comparison) error {
	obj, g, tracking := a.now(), d.gate(a, w), d.tracking(a)
	hooks := map[engine.ObjectID]bool{}
	for _, h := range c.hooks {
		hooks[w.Applier.Entry(h).ID] = true
	}
	held := engine.Union(w.Held, w.Cluster.Objects.OwnedBy(types.NamespacedName{Name: tracking.AppName}))
	for _, e := range held {
		if c.find(e.ID) != nil || hooks[e.ID] || c.skipped[e.ID] || asksFor(obj, e.ID) {
			continue
		}
		_, served := w.Cluster.Kinds.Lookup(e.ID.GroupKind().WithVersion(""))
		if _, there := w.Cluster.Objects.Get(e.ID); served && !there && len(w.Cluster.Objects.Unwatched([]engine.Entry{e})) == 0 {
			continue
		}
		live, err := getLive(ctx, w, e)
		if err != nil {
			return &transient{err}
		}
		if live == nil {
			continue
		}
		if hasHookFinalizer(live) && g.owns(live) {
			c.strays = append(c.strays, live)
		}
		if !tracking.Mine(live) || !prunable(live) || g.removable(e) != nil {
			continue
		}
		c.extras = append(c.extras, c.extra(e, live))
	}
	return nil
}

// extra is an object that is no longer declared, with what its annotations say of that.
func (c *comparison) extra(e engine.Entry, live *unstructured.Unstructured) *extra {
	options, skipped := c.options.For(live), operation.HookOf(live).Skip
	switch {
	case skipped:
		options.Prune = policy.GuardForbid
	case live.GetDeletionTimestamp() != nil && options.Prune == policy.GuardConfirm:
		// There is nothing left to agree to.
		options.Prune = policy.GuardNone
	}
	return &extra{entry: e, live: live, options: options, ignored: skipped || policy.CompareOptionsOf(live, true).IgnoreExtraneous}
}

// prunable reports whether an object could be what an Application left behind: something else takes away what another object
// owns, and hooks; definitions stay. What is being deleted is left behind until it is gone, so that an operation which is
// retried meanwhile waits for it.
func prunable(live *unstructured.Unstructured) bool {
	return len(live.GetOwnerReferences()) == 0 && live.GetKind() != "CustomResourceDefinition" && !operation.HookOf(live).Is
}
