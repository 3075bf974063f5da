package sources

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// Reasons of Flux for what cannot be included, and ours for a cycle, which Flux does not look for.
const (
	reasonNotFound     = "NotFound"
	reasonNoArtifact   = "NoArtifact"
	reasonIncludeCycle = "IncludeCycle"
)

// included is what a GitRepository includes, as it is now, in the order of its spec.
type included struct {
	parts     []source.Inclusion
	artifacts []*source.Artifact
}

// key changes when anything that is included does.
func (i included) key() string {
	var b strings.Builder
	for _, a := range i.artifacts {
		fmt.Fprintf(&b, "%s %s\n", a.Revision, a.Digest)
	}
	return b.String()
}

// includes reads what a GitRepository includes.
func (s *Keeper) includes(repo *sourcev1.GitRepository) (included, error) {
	var all included
	if len(repo.Spec.Include) == 0 {
		return all, nil
	}
	edges := func(name string) []string {
		return s.includedBy(toolkit.SourceKey(sourcev1.GitRepositoryKind, repo.Namespace, name))
	}
	if cycle := IncludeCycle(repo.Name, edges); cycle != nil {
		return all, access.Unavailable(reasonIncludeCycle, fmt.Errorf(
			"spec.include: cycle: %s; remove one of these includes", strings.Join(cycle, " -> ")))
	}
	for i, in := range repo.Spec.Include {
		name := in.GitRepositoryRef.Name
		a, err := s.part(toolkit.SourceKey(sourcev1.GitRepositoryKind, repo.Namespace, name))
		if err != nil {
			var failure *access.Failure
			if errors.As(err, &failure) {
				err = access.Unavailable(failure.Reason, fmt.Errorf("spec.include[%d]: %w", i, failure.Err))
			}
			return all, err
		}
		all.artifacts = append(all.artifacts, a)
		all.parts = append(all.parts, source.Inclusion{Name: name, Tree: a.Tree, From: in.GetFromPath(), To: in.GetToPath()})
	}
	return all, nil
}

// part returns the artifact of a source that another one is made from. The error is errPending when it is
// about to be known what there is.
func (s *Keeper) part(key source.Key) (*source.Artifact, error) {
	f, known := s.Feed(key)
	if !known {
		return nil, access.Unavailable(reasonNotFound, fmt.Errorf("%s %q does not exist", key.Kind, key.Name))
	}
	o := f.Current()
	settled, failure := f.state()
	a, stored := s.Store.Get(key)
	switch {
	case o == nil || !settled && o.GetDeletionTimestamp() == nil:
		return nil, ErrPending
	case stored:
		return a, nil
	case failure == "" && !o.Suspended() && o.GetDeletionTimestamp() == nil:
		return nil, ErrPending
	}
	return nil, access.Unavailable(reasonNoArtifact, fmt.Errorf("%s %q has no artifact", key.Kind, key.Name))
}

// includedBy returns the names of what a source includes.
func (s *Keeper) includedBy(key source.Key) []string {
	f, known := s.Feed(key)
	if !known {
		return nil
	}
	var names []string
	for _, in := range includesOf(f.Current()) {
		names = append(names, in.GitRepositoryRef.Name)
	}
	return names
}

// includesOf returns what an origin declares to include.
func includesOf(o Origin) []sourcev1.GitRepositoryInclude {
	repo, ok := o.(GitRepository)
	if !ok {
		return nil
	}
	return repo.Spec.Include
}

// IncludeCycle returns the way from a source over what it includes back to itself, if there is one.
func IncludeCycle(start string, edges func(string) []string) []string {
	seen := map[string]bool{}
	var walk func(path []string) []string
	walk = func(path []string) []string {
		for _, next := range edges(path[len(path)-1]) {
			if next == start {
				return append(path, next)
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if cycle := walk(append(slices.Clone(path), next)); cycle != nil {
				return cycle
			}
		}
		return nil
	}
	return walk([]string{start})
}

// composed is an origin that is made from other sources.
type composed interface {
	Origin
	// concerns reports whether a change of another source may matter.
	concerns(key source.Key) bool
	// Look says what there is now of what it is made from. The error is errPending when that is about to be
	// known.
	Look(s *Keeper) (string, error)
}

// concerns is true for every source of the namespace: one that is not included may close or open a cycle.
func (r GitRepository) concerns(key source.Key) bool {
	return len(r.Spec.Include) > 0 && key.Namespace == r.Namespace
}

// Look names what the repository includes now.
func (r GitRepository) Look(s *Keeper) (string, error) {
	now, err := s.includes(r.GitRepository)
	return now.key(), err
}

// wakeComposed has the sources fetched that are made from one, if they have not seen yet what it has now.
func (s *Keeper) wakeComposed(key source.Key) {
	s.mu.RLock()
	others := make([]*Feed, 0, len(s.feeds))
	for other, f := range s.feeds {
		if other != key {
			others = append(others, f)
		}
	}
	s.mu.RUnlock()
	for _, f := range others {
		if o, ok := f.Current().(composed); ok && o.concerns(key) {
			f.lookAgain(o)
		}
	}
}

func (f *Feed) lookAgain(o composed) {
	now, err := o.Look(f.sources)
	if errors.Is(err, ErrPending) {
		return
	}
	if look := lookOf(now, err); look != f.lastLook() {
		f.Nudge()
	}
}

// lookOf is the result of reading the parts, to be compared with that of another time.
func lookOf(now string, err error) string {
	if err != nil {
		return err.Error()
	}
	return now
}

// sameIncludes reports whether the artifact in the status was made from what is included now.
func sameIncludes(repo *sourcev1.GitRepository, now included) bool {
	was := repo.Status.IncludedArtifacts
	return slices.Equal(repo.Status.ObservedInclude, repo.Spec.Include) &&
		slices.EqualFunc(was, now.artifacts, func(w *meta.Artifact, n *source.Artifact) bool {
			return w.HasRevision(n.Revision) && w.HasDigest(n.Digest)
		})
}

// observeIncludes writes down what was included.
func observeIncludes(after *sourcev1.GitRepositoryStatus, repo *sourcev1.GitRepository, now included) {
	after.ObservedInclude = slices.Clone(repo.Spec.Include)
	was := after.IncludedArtifacts
	after.IncludedArtifacts = nil
	for i, a := range now.artifacts {
		next := ArtifactOf(a)
		if i < len(was) && was[i].HasRevision(a.Revision) && was[i].HasDigest(a.Digest) && was[i].URL == a.URL {
			next = was[i]
		}
		after.IncludedArtifacts = append(after.IncludedArtifacts, next)
	}
}

// ArtifactOf is an artifact as a status shows it.
func ArtifactOf(a *source.Artifact) *meta.Artifact {
	size := a.Size
	return &meta.Artifact{
		Path: a.Path, URL: a.URL, Revision: a.Revision, Digest: a.Digest, Size: &size, Metadata: a.Metadata,
		LastUpdateTime: metav1.NewTime(a.LastUpdate.Truncate(time.Second)),
	}
}
