package sets

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Health is the health of an ApplicationSet as an object of an Application. Its wave has what it generates begin
// before the next one does: it is Progressing while an automated Application is on its way. One that failed
// permanently, or that cannot be compared, blocks no other, and neither does anything if the set has the
// annotation by which health is left out.
func (s *Sets) Health(rec cluster.Record) engine.ObjectHealth {
	h := rec.Health
	if h.Status != string(v1alpha1.HealthStatusHealthy) {
		return h
	}
	name := types.NamespacedName{Namespace: rec.ID.Namespace, Name: rec.ID.Name}
	if s.ignoresHealth(name) {
		return h
	}
	if first, why := s.firstMoving(name); first != "" {
		id := engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: "Application", Namespace: name.Namespace, Name: first}
		h.Status, h.Message = string(v1alpha1.HealthStatusProgressing), strings.TrimSuffix(id.String()+": "+why, ": ")
	}
	return h
}

// firstMoving is the first Application of a set, by name, that is on its way to what it declares, and why it has not arrived;
// empty when there is none.
func (s *Sets) firstMoving(set types.NamespacedName) (first, why string) {
	for name, because := range s.Moving(set) {
		if first == "" || name < first {
			first, why = name, because
		}
	}
	return first, why
}

// Moving are the Applications of a set that are on their way to what they declare, by name, with why they have not arrived.
func (s *Sets) Moving(set types.NamespacedName) map[string]string {
	moving := map[string]string{}
	for _, one := range s.installation.Applications(set.Namespace) {
		obj := one.Declared
		if !slices.Contains(s.of(obj), set) {
			continue
		}
		if why, moves := s.installation.Moving(types.NamespacedName{Namespace: obj.Namespace, Name: obj.Name}); moves {
			moving[obj.Name] = why
		}
	}
	return moving
}

// ignoresHealth reports whether the health of what a set generates is ignored.
func (s *Sets) ignoresHealth(name types.NamespacedName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sets[name]
	return state == nil || state.object.GetAnnotations()[v1alpha1.IgnoreHealthAnnotation] == "true"
}

// wakeParents wakes what waits for the sets of an Application, when that may be different now.
func (s *Sets) wakeParents(obj *v1alpha1.Application) {
	for _, set := range s.of(obj) {
		if first, _ := s.firstMoving(set); s.moves(set, first) {
			s.host.Runner.ObjectChanged(engine.ObjectID{Group: v1alpha1.GroupVersion.Group, Kind: Kind, Namespace: set.Namespace, Name: set.Name})
		}
	}
}

// Stalled wakes what waits for the sets of an Application that now lacks what others have to bring.
func (s *Sets) Stalled(obj *v1alpha1.Application) {
	for _, set := range s.of(obj) {
		s.host.Runner.ObjectChanged(engine.ObjectID{Group: v1alpha1.GroupVersion.Group, Kind: Kind, Namespace: set.Namespace, Name: set.Name})
	}
}

// moves notes which Application of a set is on its way, and reports whether that was another one before.
func (s *Sets) moves(name types.NamespacedName, moving string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sets[name]
	if state == nil || state.moving == moving {
		return false
	}
	state.moving = moving
	return true
}
