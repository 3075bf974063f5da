package standins

import (
	"context"
	"errors"
	"maps"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/source"
)

// provideCharts lets sources that have nothing to give have a stub.
func (s *Simulation) provideCharts(ctx context.Context, d runner.Demands) bool {
	if !s.want.Charts {
		return false
	}
	wanted := maps.Clone(d.Sources)
	for _, o := range d.Objects {
		if o.ID.Group == sourcev1.GroupVersion.Group {
			wanted[toolkit.SourceID(o.ID.Kind, o.ID.Namespace, o.ID.Name)] = o.Unit
		}
	}
	made := false
	for id := range wanted {
		s.mu.Lock()
		known := s.charts[id]
		s.charts[id] = true
		s.mu.Unlock()
		f, there := s.Parts.Sources.Feed(source.Key(id))
		if !there || known {
			continue
		}
		if o := f.Current(); o != nil {
			s.label(ctx, o)
		}
		f.Nudge()
		made = true
	}
	return made
}

// label marks a source that may have a stub.
func (s *Simulation) label(ctx context.Context, o sources.Origin) {
	patch := []byte(`{"metadata":{"labels":{"` + simulate.Label + `":"chart"}}}`)
	_, err := s.client.Resource(o.SourceKind().Resource).Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.MergePatchType, patch, toolkit.PatchAs(simulationManager))
	if err != nil && !apierrors.IsNotFound(err) {
		s.Parts.Log.Info("a source cannot be labelled", "kind", o.SourceKind().Name, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
}

// reasonComparison is why Applications fail that cannot be rendered.
const reasonComparison = "ComparisonError"

// lacksContent reports whether a unit failed for what it reads.
func (s *Simulation) lacksContent(failed runner.State) bool {
	if _, ours := s.Parts.Kustomizations.Get(failed.Unit); !ours {
		return failed.Reason == reasonComparison
	}
	return failed.Reason == engine.ReasonBuildFailed || failed.Reason == engine.ReasonArtifactFailed
}

// provideContent lets units that failed have marked values where they cannot decrypt, and do without what
// they read from elsewhere.
func (s *Simulation) provideContent(_ context.Context, d runner.Demands) bool {
	made := false
	for _, failed := range d.Failed {
		if !s.lacksContent(failed) {
			continue
		}
		s.mu.Lock()
		if !s.marked[failed.Unit] {
			s.marked[failed.Unit], made = true, true
			s.Parts.Runner.Retry(failed.Unit)
		}
		s.mu.Unlock()
	}
	return made
}

// LeaveOut returns what has a unit do without what is not in its source, nil when it does not have to.
func (s *Simulation) LeaveOut(id engine.UnitID) func(what, entry string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.want.Charts || !s.marked[id] {
		return nil
	}
	return func(what, entry string) { s.note(what, entry, id) }
}

// Marks returns what makes the stand-ins of a unit's values, nil when there are none.
func (s *Simulation) Marks(id engine.UnitID) func(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.want.Secrets || !s.marked[id] {
		return nil
	}
	return func(key string) string {
		s.note("Secret", "values of "+id.String()+" that cannot be decrypted", engine.UnitID{})
		return simulate.Mark(key)
	}
}

// provideVariables lets units go without variables that are undefined even when the Secrets that they read are there.
func (s *Simulation) provideVariables(_ context.Context, d runner.Demands) bool {
	made := false
	for _, failed := range d.Failed {
		if !s.want.Secrets || !errors.As(failed.Cause, new(*substitute.UndefinedError)) {
			continue
		}
		s.mu.Lock()
		if !s.lax[failed.Unit] {
			s.lax[failed.Unit], made = true, true
			s.Parts.Runner.Retry(failed.Unit)
		}
		s.mu.Unlock()
	}
	return made
}

// Lacking returns what has variables of a unit be empty that no one defines, as Flux had them before substitution was strict
// by default; nil when that is an error.
func (s *Simulation) Lacking(id engine.UnitID) render.Lacking {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lax[id] {
		return nil
	}
	return emptyVariables{s, id}
}

// emptyVariables reports the variables of one unit that are empty because no one defines them.
type emptyVariables struct {
	simulation *Simulation
	unit       engine.UnitID
}

// Undefined reports variables.
func (v emptyVariables) Undefined(names []string) string {
	for _, name := range names {
		v.simulation.note("Variable", name+" of "+v.unit.String()+", which is undefined: it is empty", engine.UnitID{})
	}
	return simulate.Label
}
