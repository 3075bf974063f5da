package sets

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Standing is how a set stands.
type Standing struct {
	Name types.NamespacedName
	// Settled is set when a pass over what it declares has ended, Failed is why it failed, and At is when.
	Settled bool
	Failed  string
	At      time.Time
}

// Standing is how all sets stand that are not about to be deleted, by name. The Applications of one that is settled are known to the installation.
func (s *Sets) Standing() []Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Standing
	byName := func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }
	for _, name := range slices.SortedFunc(maps.Keys(s.sets), byName) {
		state := s.sets[name]
		if state.object.GetDeletionTimestamp() != nil {
			continue
		}
		one := Standing{Name: name, At: state.object.GetCreationTimestamp().Time, Settled: state.passed == state.object.GetGeneration()}
		if one.Settled {
			one.Failed, one.At = state.failed, state.at
		}
		all = append(all, one)
	}
	return all
}

// passed takes how a pass over a set ended.
func (s *Sets) passed(state *setState, generation int64, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if state.passed != generation || state.failed != text || state.at.IsZero() {
		state.at = time.Now()
	}
	state.passed, state.failed = generation, text
}
