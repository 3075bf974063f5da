package sources

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// Source answers the runner.
func (s *Keeper) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	key := source.Key(id)
	f, known := s.Feed(key)
	if !known {
		if why := s.charts.Failure(key); why != "" {
			return engine.SourceFact{Message: why}, nil
		}
		if s.declared(id) {
			return engine.SourceFact{Pending: true, Message: id.String() + " was just declared"}, nil
		}
		return engine.SourceFact{Pending: s.charts.Awaited(key), Message: id.String() + " does not exist"}, nil
	}
	settled, failure := f.state()
	if a, ok := s.Store.Get(key); ok && settled {
		if late := s.late(f, a); late != "" {
			return engine.SourceFact{Found: true, Pending: failure == "", Message: withFailure(late, failure)}, nil
		}
		fact := engine.SourceFact{Found: true, Revision: a.Revision, Digest: a.Digest, Origin: a.Metadata[OriginRevision]}
		if a.Tree != nil {
			fact.Digest = a.Tree.Digest()
		}
		return fact, a
	}
	if failure != "" {
		return engine.SourceFact{Found: true, Pending: f.asked(), Message: id.String() + " has no artifact: " + failure}, nil
	}
	return engine.SourceFact{Found: true, Pending: true, Message: id.String() + " has no artifact yet"}, nil
}

// declared reports whether a source exists of which its watch has not told yet.
func (s *Keeper) declared(id engine.SourceID) bool {
	if s.objects == nil || s.Elsewhere || s.Sharded {
		return false
	}
	_, there := s.objects.Get(id.Object())
	return there
}

// late says that a chart is not yet what is declared: a release that took the former one would be upgraded
// twice, and once to what was never declared. The files of other sources stay in use until there are new ones.
func (s *Keeper) late(f *Feed, a *source.Artifact) string {
	o := f.Current()
	if !s.hasFile(o, a) || o.SourceKind().foreign || o.Suspended() {
		return ""
	}
	if c, ok := o.(HelmChart); ok && s.charts.Outdated(c) {
		return fmt.Sprintf("%s is about to change", engine.SourceID(f.Key))
	}
	if !s.Elsewhere && f.fetchedFor(o) || *o.State().generation == o.GetGeneration() {
		return ""
	}
	return fmt.Sprintf("%s has not been fetched yet as it is declared now", engine.SourceID(f.Key))
}

func withFailure(text, failure string) string {
	if failure == "" {
		return text
	}
	return text + ": " + failure
}

// Failing are the sources whose last fetch failed.
func (s *Keeper) Failing() []*Feed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var failing []*Feed
	for _, f := range s.feeds {
		if _, failure := f.state(); failure != "" {
			failing = append(failing, f)
		}
	}
	return failing
}

// All returns the objects that declare sources, in no order.
func (s *Keeper) All() []Origin {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []Origin
	for _, f := range s.feeds {
		if o := f.Current(); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// Readable returns the artifact of a source that a generator reads.
func (s *Keeper) Readable(key source.Key) (*source.Artifact, error) {
	f, known := s.Feed(key)
	if !known {
		return nil, fmt.Errorf("%s does not exist", engine.SourceID(key))
	}
	o := f.Current()
	settled, failure := f.state()
	a, stored := s.Store.Get(key)
	switch {
	case o == nil || !settled && o.GetDeletionTimestamp() == nil:
		return nil, ErrPending
	case stored:
		return a, nil
	case failure != "":
		return nil, fmt.Errorf("%s has no artifact: %s", engine.SourceID(key), failure)
	default:
		return nil, fmt.Errorf("%s has no artifact yet", engine.SourceID(key))
	}
}

// GeneratedBy are the feeds of the ExternalArtifacts of a generator.
func (s *Keeper) GeneratedBy(id types.NamespacedName) []*Feed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var feeds []*Feed
	for _, f := range s.feeds {
		o, ok := f.Current().(ExternalArtifact)
		if !ok {
			continue
		}
		if by, made := GeneratorOf(o.ExternalArtifact); made && by == id {
			feeds = append(feeds, f)
		}
	}
	return feeds
}
