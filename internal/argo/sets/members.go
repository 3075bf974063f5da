package sets

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
)

// remember notes what a set generates: Applications of a policy that permits no deletions do not name their set.
func (s *Sets) remember(state *setState, generated appset.Generated) {
	members := make(map[string]bool, len(generated.Origins))
	for name := range generated.Origins {
		members[name] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state.members = members
}

// of are the sets that an Application belongs to.
func (s *Sets) of(obj *v1alpha1.Application) []types.NamespacedName {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.setsOf(obj)
}

// setsOf are the sets that an Application names as its owners, or that generate it where it names none. The caller holds the
// lock.
func (s *Sets) setsOf(obj *v1alpha1.Application) []types.NamespacedName {
	var sets []types.NamespacedName
	for _, ref := range obj.OwnerReferences {
		if ref.Kind == Kind {
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
