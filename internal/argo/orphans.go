package argo

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/runner"
)

// orphans are the objects of a namespace that no Application has.
type orphans struct {
	// project, namespace and requested are what they were counted by, at is when.
	project              *policy.Project
	namespace, requested string
	at                   time.Time
	count                int
	timer                *time.Timer
}

// orphansStand is how long orphans are not counted again for changes of objects alone.
const orphansStand = 10 * time.Second

// lookForOrphans warns of objects in the namespace of the destination that no Application has, where the project says so. They
// are counted at each comparison, and once in each interval in which repositories are polled.
func (d *driver) lookForOrphans(ctx context.Context, a *app, w runner.Work, c *comparison) {
	a.mu.Lock()
	project, namespace := a.project, a.obj.Spec.Destination.Namespace
	a.mu.Unlock()
	o := &a.job.orphans
	if o.timer != nil {
		o.timer.Stop()
	}
	if !warnsOfOrphans(project) || namespace == "" {
		*o = orphans{}
		return
	}
	if o.project != project || o.namespace != namespace || o.requested != w.Key.Requested || time.Since(o.at) > orphansStand {
		*o = orphans{project: project, namespace: namespace, requested: w.Key.Requested, at: time.Now(), count: d.countOrphans(ctx, a, w, c)}
	}
	if every := d.settings.Now().Reconciliation.Every; every > 0 {
		o.timer = time.AfterFunc(every, func() { d.runner.InputsChanged(a.id) })
	}
	if o.count > 0 {
		c.warn(v1alpha1.ApplicationConditionOrphanedResourceWarning, fmt.Sprintf("Application has %d orphaned resources", o.count))
	}
}

func warnsOfOrphans(project *policy.Project) bool {
	if project == nil {
		return false
	}
	_, warns := project.WatchesOrphans()
	return warns
}

func (d *driver) countOrphans(ctx context.Context, a *app, w runner.Work, c *comparison) int {
	a.mu.Lock()
	project, namespace := a.project, a.obj.Spec.Destination.Namespace
	a.mu.Unlock()
	present, err := w.Cluster.Present(ctx, namespace, d.kindsOf(a, w))
	if err != nil && ctx.Err() == nil {
		d.observe(a.id.String(), "searching for orphaned resources: "+err.Error())
	}
	all := make([]policy.Resident, 0, len(present))
	for _, p := range present {
		id := p.Entry.ID
		r := policy.Resident{
			Object: policy.Object{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name, Namespaced: true},
			UID:    string(p.UID), Taken: c.find(id) != nil || p.Unit != (types.NamespacedName{}) && d.apps.get(d.judge.Unit(p.Unit)) != nil,
		}
		for _, owner := range p.Owners {
			r.Owners = append(r.Owners, string(owner))
		}
		all = append(all, r)
	}
	return project.Orphans(all)
}
