package sources

import (
	"context"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// hearing is what a source knows of its remote by others, and how new it wants to have it. The lock of the feed is for it, too.
type hearing struct {
	// wished is when a fetch was requested last; used is when the references were requested that were used last.
	wished, used time.Time
	// passing is set during a pass. What is heard then waits for its end, which may have found the same.
	passing bool
	heard   *remotes.Listing
}

// slot waits until a source may be fetched. A repository takes a slot when it has something to request.
func (s *Keeper) slot(ctx context.Context, o Origin) (turn *rounds.Turn, ok bool) {
	switch o.(type) {
	case GitRepository, HelmRepository:
		if !s.Elsewhere {
			return nil, ctx.Err() == nil
		}
	}
	return s.remotes.Take(ctx, o.GetNamespace(), s.server(o))
}

// server is the address that a source is fetched from, empty where it has none.
func (s *Keeper) server(o Origin) string {
	switch of := o.(type) {
	case bucket:
		return "https://" + of.Spec.Endpoint
	case HelmChart:
		f, known := s.Feed(of.ChartSource())
		if repo, is := f.origin().(HelmRepository); known && is {
			return s.Rewritten(repo.Address())
		}
	}
	return s.Rewritten(o.Address())
}

// origin is current, also of a feed that there is not.
func (f *Feed) origin() Origin {
	if f == nil {
		return nil
	}
	return f.Current()
}

// since is how old may be what a fetch goes by: what another reader of the same repository has requested serves if it is as
// new.
func (f *Feed) since() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := f.used.Add(1); next.After(f.wished) {
		return next
	}
	return f.wished
}

// usedOf notes when what a fetch went by was read, if it was.
func (f *Feed) usedOf(began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !began.IsZero() {
		f.used = began
	}
}

// Listed takes what another reader of the same repository has found.
func (f *Feed) Listed(l remotes.Listing) {
	f.mu.Lock()
	f.heard = &l
	f.mu.Unlock()
	f.hear()
}

// listen is called around passes.
func (f *Feed) listen(now bool) {
	f.mu.Lock()
	f.passing = !now
	f.mu.Unlock()
	f.hear()
}

// hear has a source fetched of which another reader found something else than there is; the same is as good as a fetch of
// its own.
func (f *Feed) hear() {
	f.mu.Lock()
	l := f.heard
	o := f.now
	if f.passing || l == nil {
		f.mu.Unlock()
		return
	}
	f.heard = nil
	if o == nil || o.Suspended() || !l.Began.After(f.used) || f.done == nil && f.failure == "" {
		f.mu.Unlock()
		return
	}
	revision, err := found(*l, o)
	same := err == nil && revision == f.has && f.failure == "" && f.done.same(f.sources, o)
	if same {
		done := *f.done
		done.at, f.began, f.used = l.Began, l.Began, l.Began
		f.done = &done
	} else {
		f.nudged = true
		if f.wished.Before(l.Began) {
			f.wished = l.Began
		}
	}
	f.mu.Unlock()
	if same {
		f.sources.changed(f.Key)
	} else {
		f.poke()
	}
}

// found is the revision that a listing has for a source.
func found(l remotes.Listing, o Origin) (string, error) {
	if repo, git := o.(GitRepository); git {
		return l.Revision(selectionOf(repo.GitRepository))
	}
	if index := l.Index(); index != nil {
		return index.Revision(), nil
	}
	return "", ErrPending
}

// selectionOf is what a GitRepository selects.
func selectionOf(repo *sourcev1.GitRepository) source.GitRef {
	ref := repo.Spec.Reference
	if ref == nil {
		return source.GitRef{}
	}
	return source.GitRef{Branch: ref.Branch, Tag: ref.Tag, SemVer: ref.SemVer, Name: ref.Name, Commit: ref.Commit}
}

var _ remotes.Reader = (*Feed)(nil)
