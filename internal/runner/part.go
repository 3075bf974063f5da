package runner

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// Part is what a dialect brings to the runner that all dialects share: one graph and one registry of owners span them.
type Part struct {
	// Groups are the API groups whose units and sources the part answers for; Sources is nil without any of these.
	Groups  []string
	Dialect Dialect
	Sources Sources
	// Drivers are those of its units, by the kinds of the objects that declare them.
	Drivers map[schema.GroupKind]Driver
	// Names are those of each way to mark objects, by the Owner of a target.
	Names map[string]apply.Names
}

// Join has the runner serve a dialect. It is called after Bind and before Run.
func (r *Runner) Join(p Part) {
	maps.Copy(r.drivers, p.Drivers)
	for kind := range p.Drivers {
		r.unitKinds[kind] = true
	}
	maps.Copy(r.names, p.Names)
	for _, group := range p.Groups {
		r.dialects[group] = p.Dialect
		if p.Sources != nil {
			r.sources[group] = p.Sources
		}
	}
	if of, reads := p.Sources.(reading); reads {
		r.reading = append(r.reading, of)
	}
}

// reading are sources that read objects of the cluster themselves, and are notified when one changed. They must not block.
type reading interface{ ObjectChanged(id engine.ObjectID) }

// sourceMux asks the dialect of a source.
type sourceMux map[string]Sources

func (m sourceMux) of(id engine.SourceID) Sources {
	if of, served := m[id.Group]; served {
		return of
	}
	return unserved{}
}

func (m sourceMux) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	return m.of(id).Source(id)
}

func (m sourceMux) Readings(id engine.SourceID) []engine.Reading { return m.of(id).Readings(id) }

func (m sourceMux) Fetch(id engine.SourceID) { m.of(id).Fetch(id) }

// unserved answers for sources of groups that no part serves.
type unserved struct{}

func (unserved) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	return engine.SourceFact{Message: fmt.Sprintf("%s: its API group %q is not served", id, id.Group)}, nil
}

func (unserved) Readings(engine.SourceID) []engine.Reading { return nil }

func (unserved) Fetch(engine.SourceID) {}

// dialectMux asks the dialect of a unit. The runner knows none that no part declared.
type dialectMux map[string]Dialect

func (m dialectMux) of(id engine.UnitID) Dialect { return m[id.Group] }

func (m dialectMux) Report(ctx context.Context, r Report) error { return m.of(r.Unit).Report(ctx, r) }

func (m dialectMux) Connect(ctx context.Context, id engine.UnitID) (Connection, error) {
	return m.of(id).Connect(ctx, id)
}

func (m dialectMux) Release(ctx context.Context, id engine.UnitID) error {
	return m.of(id).Release(ctx, id)
}

func (m dialectMux) Object(id engine.UnitID) map[string]any { return m.of(id).Object(id) }

func (m dialectMux) Drifted(ctx context.Context, id engine.UnitID, drift apply.Drift, times int, back time.Duration) {
	m.of(id).Drifted(ctx, id, drift, times, back)
}

func (m dialectMux) HealthCheckCanceled(ctx context.Context, id engine.UnitID, by engine.Subject) {
	if d, records := m.of(id).(Interruptible); records {
		d.HealthCheckCanceled(ctx, id, by)
	}
}
