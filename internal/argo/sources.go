package argo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// sources answers for the sources of Applications.
type sources struct{ e *Engine }

// Source reports what all repositories of an Application have at the revisions that it wants.
func (s sources) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	a := s.e.apps.get(UnitID(id.Namespace, id.Name))
	if a == nil {
		return engine.SourceFact{Message: id.String() + " does not exist"}, nil
	}
	a.mu.Lock()
	keys, awaits, unbegun := a.keys, a.awaits, a.unbegun()
	a.mu.Unlock()
	if len(keys) == 0 {
		return engine.SourceFact{Found: true, Revision: "none", Digest: "none"}, nil
	}
	fact := engine.SourceFact{Found: true}
	var revisions, digests []string
	for i, k := range keys {
		state := s.e.feeds.Get(k)
		switch {
		case !state.Settled, state.Asked < awaits && !k.Fixed():
			return engine.SourceFact{Found: true, Pending: true, Message: sourceName(keys, i) + " is being fetched"}, nil
		case !state.Has(), unbegun && state.Err != nil:
			return engine.SourceFact{Found: true, Message: fmt.Sprintf("%s: %s", sourceName(keys, i), state.Err)}, nil
		}
		revisions = append(revisions, state.Revision)
		digests = append(digests, fmt.Sprintf("%v %s %s %s", k, state.Revision, state.Digest, state.Signatures.TagID()))
	}
	fact.Revision, fact.Digest = strings.Join(revisions, ","), digest(strings.Join(digests, "\n"))
	return fact, nil
}

// Readings returns which repositories an Application reads, and what there is of each. Repositories of charts have no
// revisions that others could read.
func (s sources) Readings(id engine.SourceID) []engine.Reading {
	var all []engine.Reading
	for _, k := range s.keys(id) {
		if k.Kind == feeds.Helm || k.Kind == feeds.BuiltIn {
			continue
		}
		state := s.e.feeds.Get(k)
		one := engine.Reading{
			Repository: engine.RepositoryOf(k.URL, k.Revision), Revision: state.Revision, Known: state.Known, Fetched: state.Fetched, Fixed: k.Fixed(),
		}
		if state.Err != nil {
			one.Failure = state.Err.Error()
		}
		all = append(all, one)
	}
	return all
}

// Fetch has the repositories of an Application fetched at once.
func (s sources) Fetch(id engine.SourceID) { s.e.feeds.Refresh(s.keys(id)) }

// keys are those of what an Application reads.
func (s sources) keys(id engine.SourceID) []feeds.Key {
	a := s.e.apps.get(UnitID(id.Namespace, id.Name))
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.keys
}

// sourceName is what a source of several is called in messages.
func sourceName(keys []feeds.Key, i int) string {
	if len(keys) == 1 {
		return "spec.source (" + keys[i].URL + ")"
	}
	return fmt.Sprintf("spec.sources[%d] (%s)", i, keys[i].URL)
}

// wantedSources are the sources of an Application, as a request for a sync changes them: without its revisions where these
// hold no more.
func wantedSources(spec v1alpha1.ApplicationSpec, sync *v1alpha1.SyncOperation, unpinned bool) []v1alpha1.ApplicationSource {
	all := slices.Clone(spec.Sources)
	if one := policy.SourceOf(spec); one != nil {
		all = []v1alpha1.ApplicationSource{*one}
	}
	if sync == nil {
		return all
	}
	switch {
	case len(sync.Sources) > 0:
		all = slices.Clone(sync.Sources)
	case sync.Source != nil:
		all = []v1alpha1.ApplicationSource{*sync.Source}
	}
	for i := range all {
		switch {
		case unpinned:
		case len(sync.Revisions) > i && sync.Revisions[i] != "":
			all[i].TargetRevision = sync.Revisions[i]
		case sync.Revision != "" && len(all) == 1:
			all[i].TargetRevision = sync.Revision
		}
	}
	return all
}
