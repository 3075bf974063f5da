package worktree

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// Ref selects a commit by one of its fields; without any, it is that of the default branch.
type Ref struct{ Branch, Tag, Commit string }

// infinite is the depth that Git takes for all of a history.
const infinite = 0x7fffffff

// Fetch fetches a commit with its files, without those before it, and has it checked out once Write has written it.
func (r *Repository) Fetch(ctx context.Context, c *Connection, ref Ref) error {
	name, want := plumbing.HEAD, plumbing.NewHash(ref.Commit)
	switch {
	case ref.Branch != "":
		name = plumbing.NewBranchReferenceName(ref.Branch)
	case ref.Tag != "":
		name = plumbing.NewTagReferenceName(ref.Tag)
	case ref.Commit != "":
		name = ""
	}
	if name != "" {
		var has bool
		if want, has = c.refs[name]; !has {
			return fmt.Errorf("%s has no %q: %w", c.remote.URL, name, ErrMissing)
		}
	}
	if name == "" && !c.offers(want) {
		return r.search(ctx, c, want)
	}
	if err := c.fetch(ctx, r, request{wants: []plumbing.Hash{want}, depth: c.depth(1)}); err != nil {
		return err
	}
	head, err := r.peel(want)
	if err != nil {
		return err
	}
	r.record = record{Head: head, Base: head, From: name, Shallow: c.depth(1) != 0}
	return nil
}

// depth is a depth where the server can limit it, and zero elsewhere.
func (c *Connection) depth(commits int) int {
	if c.can.Supports(capability.Shallow) {
		return commits
	}
	return 0
}

// offers reports whether the server sends a commit that is requested by its ID.
func (c *Connection) offers(commit plumbing.Hash) bool {
	for _, can := range []capability.Capability{capability.AllowReachableSHA1InWant, "allow-any-sha1-in-want"} {
		if c.can.Supports(can) {
			return true
		}
	}
	for _, hash := range c.refs {
		if hash == commit {
			return true
		}
	}
	return false
}

// search fetches the history of all branches and tags for a commit that the server does not send otherwise.
func (r *Repository) search(ctx context.Context, c *Connection, commit plumbing.Hash) error {
	var all request
	for name, hash := range c.refs {
		if name.IsBranch() || name.IsTag() {
			all.wants = append(all.wants, hash)
		}
	}
	if len(all.wants) > 0 {
		if err := c.fetch(ctx, r, all); err != nil {
			return err
		}
	}
	if _, err := object.GetCommit(r.store, commit); err != nil {
		return fmt.Errorf("%s has no commit %s: %w", c.remote.URL, commit, ErrMissing)
	}
	r.record = record{Head: commit, Base: commit}
	return nil
}

// maxTags bounds the annotated tags of annotated tags.
const maxTags = 8

// peel is the commit that an object is, or is a tag of.
func (r *Repository) peel(hash plumbing.Hash) (plumbing.Hash, error) {
	for range maxTags {
		tag, err := object.GetTag(r.store, hash)
		if err != nil {
			break
		}
		hash = tag.Target
	}
	_, err := r.commit(hash)
	return hash, err
}

// Message is that of the commit that was fetched.
func (r *Repository) Message() (string, error) {
	c, err := r.commit(r.record.Head)
	if err != nil {
		return "", err
	}
	return c.Message, nil
}

// Begin has a branch checked out that the server does not have: an empty commit.
func (r *Repository) Begin(branch string, by Author) error {
	tree, err := r.keepObject(&object.Tree{})
	if err != nil {
		return err
	}
	head, err := r.keepCommit(tree, nil, "Initial commit of "+branch, by)
	if err != nil {
		return err
	}
	r.record = record{Head: head}
	return r.save()
}

// deepen fetches what a branch has, with as much of the history as its relation to ours takes.
func (r *Repository) deepen(ctx context.Context, c *Connection, tip plumbing.Hash) error {
	wants := []plumbing.Hash{tip}
	switch {
	case r.record.Base.IsZero() || !r.record.Shallow:
		// What is below ours is here, or does not exist.
		ours := request{wants: wants}
		if !r.record.Base.IsZero() {
			ours.haves = []plumbing.Hash{r.record.Base}
		}
		return c.fetch(ctx, r, ours)
	case !r.has(tip):
		ours := []plumbing.Hash{r.record.Base}
		if err := c.fetch(ctx, r, request{wants: wants, haves: ours, shallows: ours}); err != nil {
			return err
		}
	}
	theirs, err := r.ancestors(ctx, tip)
	if err != nil || theirs[r.record.Base] {
		return err
	}
	// The branch is another one: how far both go back is unknown otherwise.
	switch now, has := c.refs[r.record.From]; {
	case c.offers(r.record.Base):
		wants = append(wants, r.record.Base)
	case has:
		wants = append(wants, now)
	}
	if err := c.fetch(ctx, r, request{wants: wants, depth: infinite, shallows: []plumbing.Hash{r.record.Base}}); err != nil {
		return err
	}
	base, err := r.commit(r.record.Base)
	if err != nil {
		return err
	}
	for _, parent := range base.ParentHashes {
		if !r.has(parent) {
			return fmt.Errorf("%w: the repository does not have the history of commit %s any more", ErrRefused, r.record.Base)
		}
	}
	r.record.Shallow = false
	return r.save()
}
