package argo

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// tracking marks the objects of an Application.
func (e *Engine) tracking(a *app) differences.Tracking {
	t := e.settings.Now().Tracking
	return differences.Tracking{
		Method: t.Method, LabelKey: t.LabelKey, InstallationID: t.InstallationID,
		AppName: differences.InstanceName(a.id.Namespace, a.id.Name, e.options.Namespace), Namespace: a.now().Spec.Destination.Namespace,
	}
}

// mark marks a hook; one whose name is too long for a label goes without.
func (e *Engine) mark(t differences.Tracking, u *unstructured.Unstructured) {
	if err := t.Mark(u); err != nil {
		e.observe(engine.IDOf(u).String(), err.Error())
	}
}

// lookForMarks has kinds watched of which something is marked as an Application's, also where no Application declares one: at
// the first comparison, and when a refresh is requested.
func (d *driver) lookForMarks(ctx context.Context, a *app, w runner.Work) {
	var after time.Time
	requested := w.Key.Requested
	switch was := a.job.surveyed; {
	case was == nil:
	case *was == requested || !refreshes(requested):
		return
	default:
		after = time.Now()
	}
	a.job.surveyed = &requested
	if err := w.Cluster.WatchMarked(ctx, after, d.kindsOf(a, w)); err != nil && ctx.Err() == nil {
		d.observe(a.id.String(), "searching for tracked objects: "+err.Error())
	}
}

// kindsOf are the kinds that the cluster of an Application serves and the settings do not exclude there.
func (d *driver) kindsOf(a *app, w runner.Work) map[schema.GroupKind]cluster.Resource {
	a.mu.Lock()
	server := a.cluster.Server
	a.mu.Unlock()
	resources, kinds := d.settings.Now().Resources, w.Cluster.Kinds.All()
	maps.DeleteFunc(kinds, func(gk schema.GroupKind, _ cluster.Resource) bool {
		return resources.Excludes(gk.Group, gk.Kind, server)
	})
	return kinds
}
