package argo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// gate is what every write and every deletion of an Application's objects passes: declared objects, hooks, the namespace
// of the destination. Nothing else in this package writes to the cluster of an Application. It asks the settings, the
// project, and who else has the object; for a deletion, whose the live object is.
//
// It is made for one step, so that what the project says holds from that step on. What was rendered for another declaration, or
// is about to be written to another cluster or as another account than those that the project was asked about, does not pass.
type gate struct {
	app     engine.UnitID
	project *policy.Project
	// unusable is why the Application may not use its project at all, invalid what else is wrong with what it declares, or with
	// the signatures of what that was rendered from.
	unusable, invalid error
	// moved is set when the Application declares something else by now than what the step is about.
	moved       error
	destination clusterOf
	resources   settings.Filter
	tracking    differences.Tracking
	work        runner.Work
	// others are objects that another unit has.
	others map[engine.ObjectID]engine.UnitID
	// made are objects that stand for charts: the project is asked about what the chart consists of.
	made map[engine.ObjectID][]string
}

// gate is the gate of an Application, by what its project and the settings say now.
func (d *driver) gate(a *app, w runner.Work) gate {
	tracking, resources := d.tracking(a), d.settings.Now().Resources
	a.mu.Lock()
	defer a.mu.Unlock()
	var moved, invalid error
	if a.generation != w.Key.Generation || a.place != w.Declared.Target {
		moved = errMoved
	}
	if len(a.invalid) > 0 {
		invalid = errors.New(messages(a.invalid))
	} else if a.unverified != nil {
		invalid = a.unverified
	}
	return gate{
		moved: moved, invalid: invalid,
		app: a.id, project: a.project, unusable: policy.Uses(a.obj, a.project, d.options.Namespace), destination: a.cluster, resources: resources,
		tracking: tracking, work: w, others: othersOf(w), made: a.made,
	}
}

// errMoved reports that what was decided was for another declaration.
var errMoved = errors.New("the Application, its cluster or its account was changed meanwhile: it is evaluated again")

// stale reports why a step may not begin, nil when it may: what is declared by now is about to be evaluated.
func (g gate) stale() error {
	if g.moved != nil {
		return g.moved
	}
	return g.invalid
}

// othersOf are the objects that other units have, those that they may be about to release included.
func othersOf(w runner.Work) map[engine.ObjectID]engine.UnitID {
	if len(w.Deferred) == 0 {
		return w.Conflicts
	}
	others := maps.Clone(w.Conflicts)
	for id, wait := range w.Deferred {
		others[id] = wait.Owner
	}
	return others
}

// visible says why an object is ignored by the Application, nil if it is not: the settings exclude its kind, or
// the project does not permit it. A project that the Application may not use permits nothing, neither to write nor to delete.
func (g gate) visible(e engine.Entry) error {
	_, made := g.made[e.ID]
	return g.seen(e, made)
}

// removable is visible for an object that is no longer declared: a VirtualCluster may have stood for a chart then.
func (g gate) removable(e engine.Entry) error {
	return g.seen(e, e.ID.GroupKind() == virtualClusterKind)
}

func (g gate) seen(e engine.Entry, made bool) error {
	_, namespaced, known := g.work.Kind(e.GroupVersionKind())
	o := policy.Object{
		Group: e.ID.Group, Kind: e.ID.Kind, Namespace: e.ID.Namespace, Name: e.ID.Name, Namespaced: namespaced || !known && e.ID.Namespace != "",
	}
	err := g.usable(o)
	switch {
	case err != nil:
		return err
	case !made || g.project.Lists(o):
		return g.project.PermitsObject(g.destination, o)
	}
	if err := g.project.Bars(o); err != nil {
		return err
	}
	return g.project.PermitsObject(g.destination, charted(o))
}

// allows is visible for an object of which it is known whether it is in a namespace.
func (g gate) allows(o policy.Object) error {
	if err := g.usable(o); err != nil {
		return err
	}
	return g.project.PermitsObject(g.destination, o)
}

// usable says why an object is ignored whatever the lists of the project say.
func (g gate) usable(o policy.Object) error {
	if g.resources.Excludes(o.Group, o.Kind, g.destination.Server) {
		return fmt.Errorf("resource %s:%s is excluded in the settings", o.Group, o.Kind)
	}
	if g.moved != nil {
		return g.moved
	}
	return g.unusable
}

// permits reports why an object may not be written, nil when it may.
func (g gate) permits(e engine.Entry) error {
	if err := g.stale(); err != nil {
		return err
	}
	return errors.Join(g.visible(e), g.conflict(e.ID))
}

// conflict names the other unit that has an object, nil when none has.
func (g gate) conflict(id engine.ObjectID) error {
	owner, conflict := g.others[id]
	if !conflict {
		return nil
	}
	return g.taken(id, owner)
}

// unclaimed is conflict for what was not declared when the step began: a hook of a deletion, the namespace of the
// destination.
func (g gate) unclaimed(ctx context.Context, id engine.ObjectID) error {
	owner, other, err := g.work.Peers.Owner(ctx, id)
	if err != nil || !other {
		return err
	}
	return g.taken(id, owner)
}

func (g gate) taken(id engine.ObjectID, owner engine.UnitID) error {
	return fmt.Errorf("%s is part of applications %s and %s: it belongs to %s; remove it from one of the two", id, g.app.Name, owner.Name, owner)
}

// undeclared reports why an object may not be written that is not declared: the namespace of the destination. One that is
// only created takes nothing from its owner; its metadata does.
func (g gate) undeclared(ctx context.Context, u *unstructured.Unstructured) error {
	if len(u.GetLabels()) == 0 && len(u.GetAnnotations()) == 0 {
		return nil
	}
	return g.unclaimed(ctx, g.work.Applier.Entry(u).ID)
}

// write writes an object.
func (g gate) write(ctx context.Context, order apply.Order) apply.Written {
	e := g.work.Applier.Entry(order.Object)
	if err := g.permits(e); err != nil {
		return apply.Written{Result: apply.Result{Entry: e, Action: engine.Skip, Err: err}}
	}
	return g.work.Applier.Write(ctx, order)
}

// remove deletes an object that is the Application's own.
func (g gate) remove(ctx context.Context, e engine.Entry, propagation metav1.DeletionPropagation) apply.Result {
	if err := g.removable(e); err != nil {
		return apply.Result{Entry: e, Action: engine.Skip, Err: err}
	}
	return g.work.Applier.Remove(ctx, e, apply.Removal{
		Propagation: propagation,
		Permit:      func(live *unstructured.Unstructured) (string, bool) { return "it is no longer ours", g.owns(live) },
	})
}

// owns reports whether a live object is the Application's: by its tracking, or as a hook.
func (g gate) owns(live *unstructured.Unstructured) bool {
	return g.tracking.Mine(live) || g.ownsHook(live)
}

// ownsHook reports whether a live object was made as a hook of the Application. What another Application is tracked by never
// was. A hook without tracking is known by the marks that only hooks get; a tracking label alone counts for what says
// itself that it is a hook, since an installation may have come from labels.
func (g gate) ownsHook(live *unstructured.Unstructured) bool {
	owner, _ := g.tracking.Owner(live)
	if owner != "" && owner != g.tracking.AppName {
		return false
	}
	if marks := live.GetAnnotations(); marks[v1alpha1.TrackingAnnotation] != "" && marks[v1alpha1.InstallationAnnotation] != g.tracking.InstallationID {
		// It is one of another installation, whatever its Application is called there.
		return false
	}
	marked := live.GetAnnotations()[annotationHookOf] != "" || hasHookFinalizer(live)
	return marked || owner == "" && operation.HookOf(live).Is && live.GetLabels()[g.tracking.LabelKey] == g.tracking.AppName
}

// foreign names whose an object is that stands where a hook is to be made, nil when it is the Application's.
func (g gate) foreign(live *unstructured.Unstructured) error {
	if g.owns(live) {
		return nil
	}
	whose := "it is not marked as a hook of this application"
	if owner, _ := g.tracking.Owner(live); owner != "" {
		whose = "it belongs to application " + owner
	}
	return fmt.Errorf("%s already exists, and %s: it is not changed; rename the hook, or delete the object", engine.IDOf(live), whose)
}

func hasHookFinalizer(live *unstructured.Unstructured) bool {
	return slices.Contains(live.GetFinalizers(), operation.HookFinalizer)
}

// release removes our finalizer from a hook, so that its deletion need not wait. The project is not consulted: nothing is
// gained by it, and a hook that the project no longer permits would never go.
func (g gate) release(ctx context.Context, live *unstructured.Unstructured) error {
	for range releases {
		if live == nil || !hasHookFinalizer(live) || !g.owns(live) {
			return nil
		}
		err := g.work.Applier.Unfinalize(ctx, live, operation.HookFinalizer)
		if !apierrors.IsConflict(err) {
			return err
		}
		if live, err = getLive(ctx, g.work, g.work.Applier.Entry(live)); err != nil {
			return err
		}
	}
	return fmt.Errorf("removing the finalizer of %s: too many conflicts", engine.IDOf(live))
}

// releases bounds how often a finalizer is taken off an object that changes meanwhile.
const releases = 10
