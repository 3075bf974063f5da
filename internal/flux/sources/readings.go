package sources

import (
	"cmp"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// noteRevision notes what a fetch gave that began at a time. The lock is held.
func (f *Feed) noteRevision(began time.Time) {
	f.began = began
	if a, stored := f.sources.Store.Get(f.Key); stored && f.has != a.Revision {
		f.has, f.known = a.Revision, time.Now()
	}
}

// reading is what the feed of a source has of the repository that it is fetched from.
func (f *Feed) reading(of engine.Repository, o Origin) engine.Reading {
	out := engine.Reading{Repository: of, Fixed: o.Suspended() || o.GetDeletionTimestamp() != nil || f.sources.Elsewhere}
	if a, stored := f.sources.Store.Get(f.Key); stored {
		out.Revision = a.Revision
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out.Known, out.Fetched, out.Failure = f.known, f.began, f.failure
	if f.has != out.Revision {
		// It is of an earlier process, or has just come.
		out.Known = time.Now()
	}
	return out
}

// mostParts bounds how far sources are followed that are made from others.
const mostParts = 8

// Readings returns which repositories a source reads: its own, and those of what it is made from.
func (s *Keeper) Readings(id engine.SourceID) []engine.Reading {
	return s.readings(source.Key(id), mostParts)
}

func (s *Keeper) readings(key source.Key, depth int) []engine.Reading {
	f, known := s.Feed(key)
	if !known || depth == 0 {
		return nil
	}
	o := f.Current()
	if o == nil {
		return nil
	}
	var all []engine.Reading
	switch repo := o.(type) {
	case GitRepository:
		all = append(all, f.reading(engine.RepositoryOf(repo.Spec.URL, gitRefOf(repo.GitRepository)), o))
	case OCIRepository:
		all = append(all, f.reading(engine.RepositoryOf(repo.Spec.URL, ociRefOf(repo.OCIRepository)), o))
	}
	parts := s.partsOf(o)
	if len(parts) == 0 {
		return all
	}
	fresh, failure := s.madeOfLatest(f, o)
	for _, part := range parts {
		for _, read := range s.readings(part, depth-1) {
			if !fresh {
				// It is of one revision or another of its parts, which was known when it was made; whether it is
				// of the last one is unknown.
				made := f.reading(read.Repository, o)
				read.Revision, read.Known, read.Fetched = made.Revision, made.Known, time.Time{}
				read.Failure, read.Fixed = failure, read.Fixed || o.Suspended()
			}
			all = append(all, read)
		}
	}
	return all
}

// gitRefOf is what a GitRepository follows.
func gitRefOf(repo *sourcev1.GitRepository) string {
	ref := repo.Spec.Reference
	if ref == nil {
		return "master"
	}
	return cmp.Or(ref.Commit, ref.Name, ref.SemVer, ref.Tag, ref.Branch, "master")
}

// ociRefOf is what an OCIRepository follows.
func ociRefOf(repo *sourcev1.OCIRepository) string {
	ref := repo.Spec.Reference
	if ref == nil {
		return "latest"
	}
	return cmp.Or(ref.Digest, ref.SemVer, ref.Tag, "latest")
}

// partsOf are the sources that one is made from.
func (s *Keeper) partsOf(o Origin) []source.Key {
	switch o := o.(type) {
	case GitRepository:
		var keys []source.Key
		for _, in := range o.Spec.Include {
			keys = append(keys, toolkit.SourceKey(sourcev1.GitRepositoryKind, o.Namespace, in.GitRepositoryRef.Name))
		}
		return keys
	case HelmChart:
		return []source.Key{o.ChartSource()}
	case ExternalArtifact:
		return s.made.Parts(o.ExternalArtifact)
	}
	return nil
}

// madeOfLatest reports whether a source is made from what its parts have now, and why that failed if it did.
func (s *Keeper) madeOfLatest(f *Feed, o Origin) (latest bool, failure string) {
	if ea, is := o.(ExternalArtifact); is {
		return s.made.Latest(ea.ExternalArtifact)
	}
	c, is := o.(composed)
	if !is {
		return true, ""
	}
	now, err := c.Look(s)
	f.mu.Lock()
	defer f.mu.Unlock()
	return err == nil && f.done != nil && f.made == now, f.failure
}

// Fetch has the repositories fetched that a source reads.
func (s *Keeper) Fetch(id engine.SourceID) { s.fetchParts(source.Key(id), mostParts) }

func (s *Keeper) fetchParts(key source.Key, depth int) {
	f, known := s.Feed(key)
	if !known || depth == 0 {
		return
	}
	o := f.Current()
	if o == nil {
		return
	}
	for _, part := range s.partsOf(o) {
		s.fetchParts(part, depth-1)
	}
	if ea, is := o.(ExternalArtifact); is {
		s.made.Retry(ea.ExternalArtifact)
		return
	}
	f.Nudge()
}
