package argo

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/engine"
)

// remember notes what a set generates: Applications of a policy that permits no deletions do not name their set.
func (s *applicationSets) remember(state *setState, generated appset.Generated) {
	members := make(map[string]bool, len(generated.Origins))
	for name := range generated.Origins {
		members[name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state.members = members
}

// generates tells whether an Application is one of a set.
func (s *applicationSets) generates(set types.NamespacedName, a *app) bool {
	if a.id.Namespace != set.Namespace {
		return false
	}
	obj := a.now()
	return obj != nil && slices.Contains(s.of(obj), set)
}

// of are the sets that an Application belongs to.
func (s *applicationSets) of(obj *v1alpha1.Application) []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.setsOf(obj)
}

// setsOf are the sets that an Application names as its owners, or that generate it where it names none. The caller holds the
// lock.
func (s *applicationSets) setsOf(obj *v1alpha1.Application) []types.NamespacedName {
	var sets []types.NamespacedName
	for _, ref := range obj.OwnerReferences {
		if ref.Kind == applicationSetKind.Kind {
			sets = append(sets, types.NamespacedName{Namespace: obj.Namespace, Name: ref.Name})
		}
	}
	if len(sets) > 0 {
		return sets
	}
	for name, state := range s.sets {
		if name.Namespace == obj.Namespace && state.members[obj.Name] {
			sets = append(sets, name)
		}
	}
	return sets
}

// behind tells whether an Application has yet to be compared with what its sources hold now, or whether what was read of it is
// older than that comparison: of two that a commit changes, the status of the later one may be written first. One that is not
// followed, or whose sources cannot be read, is not waited for.
func (e *Engine) behind(id engine.UnitID, read *appset.AppState) bool {
	a := e.apps.get(id)
	if a == nil {
		return false
	}
	fact, _ := (sources{e}).Source(a.source())
	a.mu.Lock()
	defer a.mu.Unlock()
	switch v := &a.view; {
	case len(a.invalid) > 0 || a.obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true":
		return false
	case fact.Digest == "":
		return fact.Pending
	default:
		return fact.Digest != v.content || v.generation != a.generation || !read.Tells(v.sync)
	}
}
