package standins

import (
	"cmp"
	"fmt"
	"path"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/source"
)

// reasonSimulated is our reason for sources that have a stub.
const reasonSimulated = "Simulated"

// StandIn makes a stub of the chart that a source cannot get, if it may; the error is why it could not.
func (s *Simulation) StandIn(o sources.Origin, id engine.SourceID, failure error) (*sources.Fetched, bool) {
	s.mu.Lock()
	allowed := s.charts[id]
	s.mu.Unlock()
	if _, isRepository := o.(sources.HelmRepository); isRepository && allowed {
		return s.emptyIndex(id, failure), true
	}
	name, version, isChart := chartOfOrigin(o)
	if allowed && !isChart {
		return s.files(id, failure)
	}
	if !allowed {
		return nil, false
	}
	data, err := simulate.Chart(name, version, nil)
	if err != nil {
		s.Parts.Log.Info("a chart cannot be simulated", "source", id.String(), "error", err.Error())
		return nil, false
	}
	s.note("Chart", fmt.Sprintf("%s %s of %s", name, version, id), engine.UnitID{})
	revision := version
	if o.SourceKind() == sources.OCIRepositoryKinds {
		revision += "@" + simulate.Digest(data)
	}
	text := fmt.Sprintf("a stub of chart '%s' with version '%s', since it cannot be fetched: %s", name, version, failure)
	return stubOf(text, revision, fmt.Sprintf("%s-%s.tgz", name, version), data), true
}

// emptyIndex lets a repository of charts be there without any: its charts have stubs of their own.
func (s *Simulation) emptyIndex(id engine.SourceID, failure error) *sources.Fetched {
	data := []byte(`{"apiVersion":"v1","entries":{}}`)
	s.note("Chart", "the index of "+id.String(), engine.UnitID{})
	text := fmt.Sprintf("an index without charts, since it cannot be fetched: %s", failure)
	return stubOf(text, simulate.Digest(data), "index.yaml", data)
}

// stubOf lets a source hold a file that was not fetched, and say so.
func stubOf(text, revision, file string, data []byte) *sources.Fetched {
	return &sources.Fetched{
		Ready: func(*source.Artifact) (string, string) { return reasonSimulated, text },
		Event: func(*source.Artifact) string { return text }, Told: reasonSimulated,
		Observe: func(sources.Origin, *toolkit.Conditions) {},
		Store: func(store *source.Store, key source.Key) error {
			_, err := store.PutFile(key, revision, file, data, nil, time.Now())
			return err
		},
	}
}

// chartOfOrigin is the chart that a source is to have.
func chartOfOrigin(o sources.Origin) (name, version string, ok bool) {
	switch r := o.(type) {
	case sources.OCIRepository:
		ref := &sourcev1.OCIRepositoryRef{}
		if r.Spec.Reference != nil {
			ref = r.Spec.Reference
		}
		copied := r.Spec.LayerSelector != nil && r.Spec.LayerSelector.Operation == sourcev1.OCILayerCopy
		return path.Base(r.Spec.URL), simulate.Version(cmp.Or(ref.Tag, ref.SemVer)), copied
	case sources.HelmChart:
		return path.Base(r.Spec.Chart), simulate.Version(r.Spec.Version), r.Spec.SourceRef.Kind == sourcev1.HelmRepositoryKind
	}
	return "", "", false
}

// Chart makes a stub of a chart that cannot be fetched, for a dialect that fetches charts itself; false where charts have
// to be real.
func (s *Simulation) Chart(repo, name, version string, cause error) (data []byte, resolved string, made bool) {
	if !s.want.Charts {
		return nil, "", false
	}
	resolved = simulate.Version(version)
	data, err := simulate.Chart(name, resolved, nil)
	if err != nil {
		s.Parts.Log.Info("a chart cannot be simulated", "chart", name, "error", err.Error())
		return nil, "", false
	}
	s.note("Chart", fmt.Sprintf("%s %s of %s (%s)", name, resolved, repo, cause), engine.UnitID{})
	return data, resolved, true
}
