package runner

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// Part is a dialect that shares a runner with others: one graph and one registry of owners span them.
type Part struct {
	Dialect Dialect
	// Kinds are the kinds of objects that declare its units.
	Kinds map[schema.GroupKind]bool
	// Sources answer for the sources of these kinds.
	Sources     Sources
	SourceKinds []schema.GroupKind
	Drivers     map[schema.GroupKind]Driver
	// Names are those of each way to mark objects, by the Owner of a target.
	Names map[string]apply.Names
}

// Guest is a dialect that the engine of another one runs beside its own.
type Guest interface {
	Part() Part
	// Start begins to read what is declared, and returns when it has read what there is. It runs until ctx ends.
	Start(ctx context.Context, r *Runner, home *cluster.Cluster, config *rest.Config) error
	// Nudge has every source fetched at once whose URL matches.
	Nudge(matches func(url string) bool)
	// Wait waits until everything that it started has ended.
	Wait()
}

// join makes one configuration of that of a dialect and those of its guests.
func (c Config) join() Config {
	if len(c.Parts) == 0 {
		return c
	}
	c.UnitKinds, c.Drivers = maps.Clone(c.UnitKinds), maps.Clone(c.Drivers)
	dialects, sources := dialectMux{first: c.Dialect, others: map[schema.GroupKind]Dialect{}}, sourceMux{first: c.Sources, others: map[schema.GroupKind]Sources{}}
	for _, p := range c.Parts {
		maps.Copy(c.UnitKinds, p.Kinds)
		maps.Copy(c.Drivers, p.Drivers)
		for gk := range p.Kinds {
			dialects.others[gk] = p.Dialect
		}
		for _, kind := range p.SourceKinds {
			sources.others[kind] = p.Sources
		}
	}
	c.Dialect, c.Sources = dialects, sources
	return c
}

// sourceMux asks whoever answers for the kind of a source.
type sourceMux struct {
	first  Sources
	others map[schema.GroupKind]Sources
}

func (m sourceMux) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	if other, ok := m.others[id.GroupKind()]; ok {
		return other.Source(id)
	}
	return m.first.Source(id)
}

// dialectMux asks the dialect of a unit.
type dialectMux struct {
	first  Dialect
	others map[schema.GroupKind]Dialect
}

func (m dialectMux) of(id engine.UnitID) Dialect {
	if other, ok := m.others[id.GroupKind()]; ok {
		return other
	}
	return m.first
}

func (m dialectMux) Inputs(ctx context.Context, id engine.UnitID) (Inputs, error) {
	return m.of(id).Inputs(ctx, id)
}

func (m dialectMux) Report(ctx context.Context, r Report) error { return m.of(r.Unit).Report(ctx, r) }

func (m dialectMux) Connect(ctx context.Context, id engine.UnitID) (Connection, error) {
	return m.of(id).Connect(ctx, id)
}

func (m dialectMux) Orphaned(ctx context.Context, id engine.UnitID) error {
	return m.of(id).Orphaned(ctx, id)
}

func (m dialectMux) Release(ctx context.Context, id engine.UnitID) error {
	return m.of(id).Release(ctx, id)
}

func (m dialectMux) Object(id engine.UnitID) map[string]any { return m.of(id).Object(id) }

func (m dialectMux) Drifted(ctx context.Context, id engine.UnitID, drift apply.Drift, times int, back time.Duration) {
	m.of(id).Drifted(ctx, id, drift, times, back)
}
