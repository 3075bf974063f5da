package standins

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

var serviceRanges = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "servicecidrs"}

// rangeTries bounds how often a unit is tried again for the same range: the API server uses one a moment after it was created, and tries
// an address in any of its ranges when nothing is stored.
const rangeTries = 20

// provideRanges makes the ranges of addresses that Services name and the embedded cluster does not have.
func (s *Simulation) provideRanges(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health {
		return false
	}
	made := false
	for _, failed := range d.Failed {
		for _, lacking := range simulate.RangesLacking(failed.Message) {
			o := simulate.ServiceRange(lacking)
			s.provideNew(ctx, serviceRanges, o)
			if s.mayTry(failed.Unit, o.GetName()) {
				s.Parts.Runner.Retry(failed.Unit)
				made = true
			}
		}
	}
	return made
}

// mayTry counts how often a unit was tried again for a range, or for a namespace.
func (s *Simulation) mayTry(unit engine.UnitID, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := unit.String() + " " + name
	s.ranged[key]++
	return s.ranged[key] <= rangeTries
}
