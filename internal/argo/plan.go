package argo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// plan makes the tasks of an operation.
func (d *driver) plan(a *app, w runner.Work, c *comparison, request v1alpha1.Operation, state v1alpha1.OperationState) *running {
	obj := a.now()
	if request.Sync == nil {
		request.Sync = &v1alpha1.SyncOperation{}
	}
	sync := request.Sync
	r := &running{request: request, state: state, options: policy.OptionsOf(obj, sync)}
	r.state.Operation, r.state.Phase, r.state.FinishedAt, r.state.Message = request, v1alpha1.OperationRunning, nil, ""
	r.state.SyncResult = a.result(c, sync)
	var before []v1alpha1.ResourceResult
	if state.FinishedAt == nil {
		before = resultsBefore(state.SyncResult, r.state.SyncResult)
	}
	p := operation.Request{
		ID: w.Applier.Entry, Digest: hookDigest, Revision: c.revision, Started: state.StartedAt.Time, PruneLast: r.options.Objects.PruneLast,
		Run: digest(c.digest + state.StartedAt.UTC().String() + fmt.Sprint(state.RetryCount)), Selected: selected(sync, obj),
		NoHooks: sync.SyncStrategy != nil && sync.SyncStrategy.Apply != nil, Succeeded: succeeded(before, w.Cluster.Name),
	}
	waited := awaited(before, w.Cluster.Name)
	for _, o := range c.objects {
		if o.done || r.options.OutOfSyncOnly && o.inSync() && !waited[o.entry.ID] {
			continue
		}
		p.Objects = append(p.Objects, o.order.Object)
	}
	p.Objects = append(p.Objects, c.hooks...)
	for _, e := range c.extras {
		if why := unpruned(e, sync.Prune); why != "" {
			r.beside = append(r.beside, resultOf(e.entry, v1alpha1.ResultCodePruneSkipped, why))
			continue
		}
		p.Extra = append(p.Extra, operation.Extra{
			Entry: e.entry, Wave: operation.WaveOf(e.live.GetAnnotations()), Last: e.options.PruneLast, Confirm: e.options.Prune == policy.GuardConfirm,
		})
	}
	p.Namespace = managedNamespace(obj, w, c, r.options)
	r.sync = operation.New(p)
	r.beside = append(r.beside, finished(before, r.sync, w.Cluster.Name)...)
	d.refuseEarly(a, c, r)
	return r
}

// refuseEarly has an operation fail before it does anything.
func (d *driver) refuseEarly(a *app, c *comparison, r *running) {
	if shared := c.shared(); r.options.FailOnShared && len(shared) > 0 {
		r.sync.Refuse("Shared resource found: " + strings.Join(shared, "; "))
	}
	windows, err := a.snapshot().windows(time.Now())
	if err != nil || !windows.CanGoOn(!r.request.InitiatedBy.Automated, r.state.StartedAt.Time) {
		r.sync.Refuse(cmp.Or(windows.Why, "Sync operation blocked by sync window"))
	}
}

// shared are what is said of objects that another Application has.
func (c *comparison) shared() []string {
	var texts []string
	for _, condition := range c.conditions {
		if condition.Type == v1alpha1.ApplicationConditionSharedResourceWarning {
			texts = append(texts, condition.Message)
		}
	}
	return texts
}

// selected reports which objects a request names; nil is all.
func selected(sync *v1alpha1.SyncOperation, obj *v1alpha1.Application) func(engine.ObjectID) bool {
	if len(sync.Resources) == 0 {
		return nil
	}
	return func(id engine.ObjectID) bool {
		return slices.ContainsFunc(sync.Resources, func(r v1alpha1.SyncOperationResource) bool {
			return r.Group == id.Group && r.Kind == id.Kind && r.Name == id.Name &&
				(r.Namespace == "" || r.Namespace == id.Namespace || id.Namespace == "" && r.Namespace == obj.Spec.Destination.Namespace)
		})
	}
}

// unpruned reports why something is not deleted.
func unpruned(e *extra, prune bool) string {
	switch {
	case e.options.Prune == policy.GuardForbid:
		return "ignored (no prune)"
	case !prune:
		return "ignored (requires pruning)"
	}
	return ""
}
