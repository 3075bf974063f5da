package argo

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// setHealth is the health of an ApplicationSet as an object of an Application. Its wave has what it generates begin
// before the next one does: it is Progressing while an automated Application is on its way. One that failed
// permanently, or that cannot be compared, blocks no other, and neither does anything if the set has the
// annotation by which health is left out.
func (e *Engine) setHealth(rec cluster.Record) shown {
	h := shown{rec.Health.Status, rec.Health.Message}
	if h.Status != healthy {
		return h
	}
	name := types.NamespacedName{Namespace: rec.ID.Namespace, Name: rec.ID.Name}
	if e.sets.ignoresHealth(name) {
		return h
	}
	if first := e.firstMoving(name); first != nil {
		child := e.childHealth(first.id, cluster.Record{})
		return shown{progressing, strings.TrimSuffix(first.id.String()+": "+child.Message, ": ")}
	}
	return h
}

// firstMoving is the first Application of a set, by name, that is on its way to what it declares; nil when there is none.
func (e *Engine) firstMoving(set types.NamespacedName) *app {
	var first *app
	e.apps.each(func(a *app) {
		if (first == nil || a.id.Name < first.id.Name) && e.sets.generates(set, a) && e.moving(a) {
			first = a
		}
	})
	return first
}

// moving reports whether an automated Application is on its way.
func (e *Engine) moving(a *app) bool {
	a.mu.Lock()
	obj, v := a.obj, &a.view
	stays := !automated(obj) || obj.DeletionTimestamp != nil || obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true" ||
		len(a.invalid) > 0 || v.broken != nil || v.operation != nil && failedForGood(v.operation)
	a.mu.Unlock()
	return !stays && slices.Contains([]string{progressing, missing}, e.childHealth(a.id, cluster.Record{}).Status)
}

func failedForGood(state *v1alpha1.OperationState) bool {
	return state.Phase == v1alpha1.OperationFailed || state.Phase == v1alpha1.OperationError
}

// ignoresHealth reports whether the health of what a set generates is ignored.
func (s *applicationSets) ignoresHealth(name types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sets[name]
	return state == nil || state.object.GetAnnotations()[v1alpha1.IgnoreHealthAnnotation] == "true"
}

// wakeParents wakes what waits for the sets of an Application, when that may be different now.
func (e *Engine) wakeParents(obj *v1alpha1.Application) {
	for _, set := range e.sets.of(obj) {
		moving := ""
		if first := e.firstMoving(set); first != nil {
			moving = first.id.Name
		}
		if e.sets.moves(set, moving) {
			e.runner.ObjectChanged(engine.ObjectID{Group: Group, Kind: applicationSetKind.Kind, Namespace: set.Namespace, Name: set.Name})
		}
	}
}

// moves notes which Application of a set is on its way, and tells whether that was another one before.
func (s *applicationSets) moves(name types.NamespacedName, moving string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sets[name]
	if state == nil || state.moving == moving {
		return false
	}
	state.moving = moving
	return true
}
