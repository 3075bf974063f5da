package bases

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// maxFile is the largest file, as for a manifest in a source.
const maxFile = 16 << 20

// Reader fetches for one unit.
type Reader struct {
	store *Store

	mu   sync.Mutex
	unit Unit
	held map[render.Remote]*held
	// closed is set when the unit is gone: what a render fetches that has not ended is released at once.
	closed bool
}

var _ render.Remotes = (*Reader)(nil)

// held is what was fetched from an address.
type held struct {
	// turn is had by the fetch that is in progress; what follows belongs to it.
	turn     chan struct{}
	got      *render.Fetched
	began    time.Time
	revision string
}

// Listed is not waited for: a render requests what it reads.
func (*held) Listed(feed.Listing) {}

// Fetch returns what is at an address, as it was at a time or later.
func (r *Reader) Fetch(ctx context.Context, one render.Remote, since time.Time) (*render.Fetched, error) {
	r.mu.Lock()
	h, unit := r.held[one], r.unit
	if h == nil {
		h = &held{turn: make(chan struct{}, 1)}
		r.held[one] = h
	}
	r.mu.Unlock()
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() {
		<-h.turn
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || r.held[one] != h {
			r.store.feed.Leave(h)
		}
	}()
	if h.got != nil && (h.got.Fixed || !h.began.Before(since)) {
		return h.got, nil
	}
	began := time.Now()
	got, err := (&visit{store: r.store, unit: unit, held: h, remote: one, since: since}).fetch(ctx)
	if err != nil {
		return nil, err
	}
	h.got, h.began = got, began
	return got, nil
}

// Keep releases what was fetched and is not among these.
func (r *Reader) Keep(all []render.Remote) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for one, h := range r.held {
		if !slices.Contains(all, one) {
			delete(r.held, one)
			r.store.feed.Leave(h)
		}
	}
}

// close releases everything.
func (r *Reader) close() {
	r.Keep(nil)
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
}

// visit is one fetch.
type visit struct {
	store  *Store
	unit   Unit
	held   *held
	remote render.Remote
	since  time.Time
}

// fetch requests a file, a repository, or first the one and then the other, as kustomize does.
func (v *visit) fetch(ctx context.Context) (*render.Fetched, error) {
	repository, is := v.remote.Repository()
	if is && (v.remote.Marked() && !v.remote.File || v.remote.Directory) {
		return v.repository(ctx, repository)
	}
	if v.remote.Directory {
		return nil, errors.New("it names no repository")
	}
	got, err := v.file(ctx)
	if err == nil || v.remote.File || !is || !errors.Is(err, source.ErrNoFile) {
		return got, err
	}
	// The server answers, and has no file there.
	got, other := v.repository(ctx, repository)
	if other != nil {
		return nil, fmt.Errorf("as a repository: %w; as a file: %w", other, err)
	}
	return got, nil
}

func (v *visit) file(ctx context.Context) (*render.Fetched, error) {
	address, access, err := v.unit.Reach.File(v.remote.URL)
	if err != nil {
		return nil, err
	}
	turn, ok := v.store.feed.Take(ctx, v.unit.Share, address)
	if !ok {
		return nil, context.Cause(ctx)
	}
	defer turn.End()
	data, err := source.FetchFile(ctx, source.FileOptions{Access: access, URL: address, Limit: maxFile})
	if err != nil {
		return nil, err
	}
	name := "file"
	if u, err := url.Parse(v.remote.URL); err == nil && path.Base(path.Clean("/"+u.Path)) != "/" {
		name = path.Base(u.Path)
	}
	tree, err := source.NewTree([]*source.File{source.NewFile(name, 0o644, data)})
	if err != nil {
		return nil, err
	}
	return &render.Fetched{Tree: tree, Path: name, File: true}, nil
}

// commit is what a reference is that never changes.
var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// refs are what a reference may mean, in the order of Git.
func refs(ref string) []source.GitRef {
	switch {
	case ref == "", ref == "HEAD":
		return []source.GitRef{{Name: "HEAD"}}
	case commit.MatchString(ref):
		return []source.GitRef{{Commit: ref}}
	case strings.HasPrefix(ref, "refs/"):
		return []source.GitRef{{Name: ref}}
	}
	return []source.GitRef{{Name: "refs/tags/" + ref}, {Name: "refs/heads/" + ref}}
}

func (v *visit) repository(ctx context.Context, repository render.Repository) (*render.Fetched, error) {
	options, err := v.unit.Reach.Git(repository.URL)
	if err != nil {
		return nil, err
	}
	keep := source.KeepAll
	options.Ignore, options.SpillDir, options.Timeout, options.RecurseSubmodules = &keep, v.store.spill, repository.Timeout, repository.Submodules
	q := feed.Git{Options: options, Share: v.unit.Share, Since: v.since, Previous: v.held.revision}
	if v.held.got != nil && !v.held.got.File {
		q.Tree = v.held.got.Tree
	}
	var got feed.Result
	for _, q.Options.Ref = range refs(repository.Ref) {
		got, err = v.store.feed.Git(ctx, v.held, q)
		if !errors.Is(err, source.ErrReference) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if resolved, err := got.Tree.Resolve(repository.Dir); err != nil {
		return nil, err
	} else if _, there := got.Tree.Entries(resolved); !there {
		return nil, fmt.Errorf("the repository has no directory %q", repository.Dir)
	}
	v.held.revision = got.Revision
	return &render.Fetched{
		Tree: got.Tree, Path: strings.Trim(path.Clean("/"+repository.Dir), "/"), Repository: render.Remote{URL: repository.URL}.Shown(), Ref: repository.Ref,
		Fixed: commit.MatchString(repository.Ref),
	}, nil
}
