package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// Clone keeps what was fetched of a repository, so that the next fetch transfers only what is new. The
// zero value keeps nothing yet. It is not safe for concurrent use.
//
// That a fetch has all it needs is never taken on trust: every object is found by the digest of its
// content, and when one is missing, or the server does not understand what is asked, the whole commit is
// fetched into a new clone.
type Clone struct {
	dir, url string
	// fetches and bytes count what was added to the first fetch.
	fetches int
	bytes   int64
}

// Limits of what is added to a clone; beyond them the next fetch begins a new one.
const (
	maxAdded      = 100
	maxAddedBytes = 64 << 20
)

// keptRef names the commit that a clone has, which is what the server is sent.
const keptRef plumbing.ReferenceName = "refs/kept/commit"

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
var lasting = []error{ErrAuth, ErrURL, ErrNoTag, ErrUnsigned, ErrTagSignature, ErrCommitSignature, ErrInclude, errSparse}

// usable reports whether a clone may serve for the next fetch after it ended in an error, or in none.
func (c *Clone) usable(err error) bool {
	return err == nil || slices.ContainsFunc(lasting, func(kind error) bool { return errors.Is(err, kind) })
}

// download fetches a commit and reads its files.
func (r *remote) download(ctx context.Context, t target, previous *Tree) (*GitResult, error) {
	kept := r.options.Clone
	if kept == nil || t.full {
		// A commit anywhere in a history needs all of that, which is not worth keeping.
		kept = &Clone{}
		// What cannot be deleted now is when the store is opened again.
		defer func() { _ = kept.Close() }()
	}
	if kept.dir != "" && kept.url == r.url && kept.fetches < maxAdded && kept.bytes < maxAddedBytes {
		kept.fetches++
		got, err := r.downloadInto(ctx, kept.dir, t, previous)
		if kept.usable(err) {
			return got, err
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, kept.Close())
		}
	}
	if err := kept.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(r.options.SpillDir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("creating a directory to fetch into: %w", err)
	}
	if _, err := git.PlainInit(dir, true); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a repository to fetch into: %w", err), os.RemoveAll(dir))
	}
	got, err := r.downloadInto(ctx, dir, t, previous)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	kept.dir, kept.url = dir, r.url
	return got, nil
}

// keep leaves the commit as the only reference of a repository: the server is sent it, and no other
// name gets in the way of one that is fetched later.
func keep(repo *git.Repository, t target) error {
	if t.full {
		return nil
	}
	err := repo.Storer.SetReference(plumbing.NewHashReference(keptRef, t.hash))
	if err == nil {
		err = repo.Storer.RemoveReference(t.reference)
	}
	if err == nil {
		err = repo.Storer.SetShallow([]plumbing.Hash{t.hash})
	}
	if err != nil {
		return fmt.Errorf("keeping commit %s: %w", t.hash, err)
	}
	return nil
}
