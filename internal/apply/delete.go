package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Deletion is what one unit deletes.
type Deletion struct {
	Unit    engine.UnitID
	Entries []engine.Entry
	// Former are units that owned objects together with this one and left them to it: these may carry their names yet.
	Former map[engine.ObjectID]engine.UnitID
}

// Delete deletes the entries of one unit, in their order by stages and in parallel within one, in
// the background of the server. An object is only deleted when its labels name the unit, or the one that has left it to
// the unit, and when it is not exempt by an annotation; the others are released and reported as skipped.
func (a *Applier) Delete(ctx context.Context, d Deletion) []Result {
	entries := d.Entries
	var results []Result
	for len(entries) > 0 {
		stage := engine.StageOf(entries[0].ID)
		end := slices.IndexFunc(entries, func(e engine.Entry) bool { return engine.StageOf(e.ID) != stage })
		if end < 0 {
			end = len(entries)
		}
		part := make([]Result, end)
		guard.Each(entries[:end], 0, func(i int, e engine.Entry) {
			a.slots <- struct{}{}
			defer func() { <-a.slots }()
			part[i] = a.deleteOne(ctx, d, e)
		})
		results = append(results, part...)
		entries = entries[end:]
	}
	return results
}

func (a *Applier) deleteOne(ctx context.Context, d Deletion, e engine.Entry) Result {
	result := Result{Entry: e, Action: engine.Skip}
	client, served, err := a.reach(ctx, e)
	if err != nil {
		result.Err = &ObjectError{ID: e.ID, Err: fmt.Errorf("deleting it: %w", err)}
		return result
	}
	if !served {
		// The kind went, and its objects with it.
		a.Forget(e.ID)
		return result
	}
	live, err := client.Get(ctx, e.ID.Name, metav1.GetOptions{})
	if err = a.certain(ctx, e.ID, err); apierrors.IsNotFound(err) {
		a.Forget(e.ID)
		return result
	}
	if err != nil {
		result.Err = &ObjectError{ID: e.ID, Err: fmt.Errorf("reading it before deletion: %w", err)}
		return result
	}
	a.Forget(e.ID)
	if former, left := d.Former[e.ID]; !a.mine(d.Unit, live) && (!left || !a.mine(former, live)) {
		return result
	}
	background, uid := metav1.DeletePropagationBackground, live.GetUID()
	err = client.Delete(ctx, e.ID.Name, metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		result.Err = &ObjectError{ID: e.ID, Err: fmt.Errorf("deleting it: %w", err)}
		return result
	}
	result.Action = engine.Delete
	return result
}

// Deletes reports whether the unit deletes an object that it no longer declares, by how that is marked.
func (a *Applier) Deletes(unit engine.UnitID, u *unstructured.Unstructured) bool {
	return a.mine(unit, u)
}

// mine reports whether the unit may delete an object.
func (a *Applier) mine(unit engine.UnitID, live *unstructured.Unstructured) bool {
	labels := live.GetLabels()
	if labels[a.names.Name] != unit.Name || labels[a.names.Namespace] != unit.Namespace {
		return false
	}
	if marks := a.marks(live); marks.Keep || marks.HandsOff {
		return false
	}
	group, _, _ := unstructured.NestedString(live.Object, "spec", "group")
	return live.GetKind() != "CustomResourceDefinition" || !slices.Contains(a.names.Protected, group)
}
