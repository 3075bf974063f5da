package render

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/source"
)

// Remotes fetch what kustomizations name outside their source, for one reader.
type Remotes interface {
	// Fetch returns what is at an address, as it was at a time or later. No error holds a credential.
	Fetch(ctx context.Context, r Remote, since time.Time) (*Fetched, error)
	// Keep releases what was fetched and is not among these.
	Keep(all []Remote)
}

// Fetched is what is at an address. It is never changed.
type Fetched struct {
	// Tree is the repository, or has the one file; Path is what of it is named, a directory unless File is set.
	Tree *source.Tree
	Path string
	File bool
	// Repository and Ref are those of a repository, without credentials.
	Repository, Ref string
	// Fixed is set where the address always stands for the same content.
	Fixed bool
}

// same reports whether two fetches brought the same.
func (f *Fetched) same(other *Fetched) bool {
	return f.Path == other.Path && f.File == other.File && f.Tree.Digest() == other.Tree.Digest()
}

// Bounds of what one render reads elsewhere.
const (
	mostRemotes     = 256
	mostRemoteBytes = 1 << 30
	mostNested      = 8
)

// recent is how old what was fetched may be for another render: what happens at a time is fetched once.
const recent = 30 * time.Second

// ErrMissing is a build that ended since something has to be fetched first. It is built again then.
var ErrMissing = errors.New("something that a kustomization names elsewhere has to be fetched first")

// Elsewhere is what one render reads outside its tree. Nothing is fetched during a build: a build collects what it lacks,
// and is repeated when that was fetched, so that no slot and no lock is held while a server is waited for. It serves one
// build at a time.
type Elsewhere struct {
	remotes Remotes
	since   time.Time
	got     map[Remote]fetch
	missing []Remote
	// used are those that the last build read.
	used map[Remote]*Fetched
}

// fetch is what came of a fetch.
type fetch struct {
	*Fetched
	err error
}

// NewElsewhere begins a render. Where it is to be fresh, nothing that was fetched before serves. Without remotes there is nothing
// elsewhere.
func NewElsewhere(remotes Remotes, fresh bool) *Elsewhere {
	if remotes == nil {
		return nil
	}
	e := &Elsewhere{remotes: remotes, since: time.Now(), got: map[Remote]fetch{}}
	if !fresh {
		e.since = e.since.Add(-recent)
	}
	return e
}

// Complete repeats a build until it lacks nothing. Its caller holds nothing that others wait for.
func (e *Elsewhere) Complete(ctx context.Context, build func() error) error {
	if e == nil {
		return build()
	}
	for {
		e.used = map[Remote]*Fetched{}
		err := build()
		if !errors.Is(err, ErrMissing) {
			if err == nil {
				e.keep()
			}
			return err
		}
		if err := e.fetch(ctx); err != nil {
			return err
		}
	}
}

// Before fetches what an earlier render has read, and reports whether it is the same now.
func (e *Elsewhere) Before(ctx context.Context, read map[Remote]*Fetched) (same bool, err error) {
	if e == nil || len(read) == 0 {
		return len(read) == 0, nil
	}
	for r := range read {
		if _, known := e.got[r]; !known {
			e.missing = append(e.missing, r)
		}
	}
	if err := e.fetch(ctx); err != nil {
		return false, err
	}
	for r, before := range read {
		if now := e.got[r]; now.err != nil || !now.same(before) {
			return false, nil
		}
	}
	return true, nil
}

// keep releases what is not read any more.
func (e *Elsewhere) keep() {
	all := make([]Remote, 0, len(e.used))
	for r := range e.used {
		all = append(all, r)
	}
	e.remotes.Keep(all)
}

// fetch fetches what is missing, all at a time; how many requests there are is the remotes' concern. The error is that of the
// context: what cannot be fetched is an error of the build.
func (e *Elsewhere) fetch(ctx context.Context) error {
	missing := e.missing
	e.missing = nil
	results := make([]fetch, len(missing))
	guard.Each(missing, 0, func(i int, r Remote) { results[i].Fetched, results[i].err = e.remotes.Fetch(ctx, r, e.since) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, r := range missing {
		e.got[r] = results[i]
	}
	return nil
}

// take returns what is at an address, or nil when it has to be fetched first.
func (e *Elsewhere) take(r Remote) (*Fetched, error) {
	got, known := e.got[r]
	switch {
	case !known:
		e.miss(r)
		if len(e.got)+len(e.missing) > mostRemotes {
			return nil, fmt.Errorf("the unit reads from more than %d remote addresses", mostRemotes)
		}
		return nil, nil
	case got.err != nil:
		return nil, got.err
	}
	e.used[r] = got.Fetched
	return got.Fetched, e.measure()
}

func (e *Elsewhere) miss(r Remote) {
	for _, one := range e.missing {
		if one == r {
			return
		}
	}
	e.missing = append(e.missing, r)
}

// measure bounds what all of it holds. A tree that several addresses share counts once.
func (e *Elsewhere) measure() error {
	seen := map[string]bool{}
	total := int64(0)
	for _, one := range e.used {
		if digest := one.Tree.Digest(); !seen[digest] {
			seen[digest] = true
			total += one.Tree.Bytes()
		}
	}
	if total > mostRemoteBytes {
		return fmt.Errorf("what the unit reads from remote addresses has more than %d bytes", mostRemoteBytes)
	}
	return nil
}

// lacks reports whether a build has to be repeated.
func (e *Elsewhere) lacks() bool { return e != nil && len(e.missing) > 0 }
