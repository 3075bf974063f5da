package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// Clone keeps what was fetched of a repository, so that the next fetch transfers only what is new, and one of a
// commit that is there nothing at all, whichever reference names it. The zero value keeps nothing yet. It is not
// safe for concurrent use.
//
// That a fetch has all it needs is never taken on trust: every object is found by the digest of its
// content, and when one is missing, or the server does not understand what is asked, the whole commit is
// fetched into a new clone.
type Clone struct {
	dir, url string
	// fetches and bytes count what was added to the first fetch.
	fetches int
	bytes   int64
	// held are the commits that are there with all their files, by what a server offers: the commit, or a tag of it.
	held map[plumbing.Hash]plumbing.Hash
	// newest are those that a server is sent, the last one first.
	newest []plumbing.Hash
}

// Limits of what is added to a clone; beyond them the next fetch begins a new one.
const (
	maxAdded      = 100
	maxAddedBytes = 64 << 20
)

// mostSent bounds the commits that a server is sent.
const mostSent = 8

// holds reports whether a commit is there. One that is named by its hash and has to be on a branch is searched for there.
func (c *Clone) holds(t target) bool {
	if !t.full {
		commit, held := c.held[t.offered]
		return held && commit == t.hash
	}
	return t.reference == "" && slices.Contains(slices.Collect(maps.Values(c.held)), t.hash)
}

// hold notes that a commit is there.
func (c *Clone) hold(t target) {
	if c.held == nil {
		c.held = map[plumbing.Hash]plumbing.Hash{}
	}
	c.held[t.offered] = t.hash
	c.newest = slices.DeleteFunc(c.newest, func(h plumbing.Hash) bool { return h == t.hash })
	c.newest = slices.Insert(c.newest, 0, t.hash)
	c.newest = c.newest[:min(len(c.newest), mostSent)]
}

// serves reports whether a commit is there, or can be added.
func (c *Clone) serves(url string, t target) bool {
	return c.dir != "" && c.url == url && (c.holds(t) || !t.full && c.fetches < maxAdded && c.bytes < maxAddedBytes)
}

// Close deletes what is kept.
func (c *Clone) Close() error {
	dir := c.dir
	*c = Clone{}
	if dir == "" {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("deleting a clone: %w", err)
	}
	return nil
}

// lasting are the failures that another fetch of the same commit would have too.
var lasting = []error{ErrAuth, ErrURL, ErrNoTag, ErrUnsigned, ErrTagSignature, ErrTagName, ErrCommitSignature, ErrInclude, errSparse}

// usable reports whether a clone may serve for the next fetch after it ended in an error, or in none. What was cut off
// is requested again.
func usable(ctx context.Context, err error) bool {
	return err == nil || ctx.Err() != nil || slices.ContainsFunc(lasting, func(kind error) bool { return errors.Is(err, kind) })
}

// download fetches a commit and reads its files.
func (r *remote) download(ctx context.Context, t target, previous *Tree) (*GitResult, error) {
	kept := r.options.Clone
	if kept != nil && kept.serves(r.url, t) {
		got, err := r.downloadInto(ctx, kept, t, previous)
		if usable(ctx, err) {
			return got, err
		}
	}
	if kept == nil || t.full {
		// A commit anywhere in a history needs all of that, which is not worth keeping.
		kept = &Clone{}
		// What cannot be deleted now is when the store is opened again.
		defer func() { _ = kept.Close() }()
	}
	if err := kept.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.options.SpillDir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("creating a directory to fetch into: %w", err)
	}
	kept.dir, kept.url = dir, r.url
	if _, err := git.PlainInit(dir, true); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a repository to fetch into: %w", err), kept.Close())
	}
	got, err := r.downloadInto(ctx, kept, t, previous)
	if err != nil && (len(kept.newest) == 0 || !usable(ctx, err)) {
		return nil, errors.Join(err, kept.Close())
	}
	return got, err
}
