package bare

import (
	"context"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// Styles of merges.
const (
	// Merge makes a merge commit; Squash one commit with everything; FastForward moves the branch and makes none.
	Merge       = "merge"
	Squash      = "squash"
	FastForward = "fast-forward-only"
)

// Base is the last commit that two have in common; empty where they have none.
func (r Repository) Base(ctx context.Context, a, b string) (string, error) {
	id, err := r.git(ctx, "merge-base", a, b)
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return id, nil //nolint:nilerr // Git fails without a message where there is none.
}

// Mergeable says why a commit cannot be merged into another: ErrConflict with the files, or what went wrong.
func (r Repository) Mergeable(ctx context.Context, into, head string) error {
	_, err := r.mergeTree(ctx, into, head)
	return err
}

// mergeTree makes the tree of a merge.
func (r Repository) mergeTree(ctx context.Context, into, head string) (string, error) {
	tree, err := r.git(ctx, "merge-tree", "--write-tree", "--name-only", "--no-messages", into, head)
	if err == nil {
		return tree, nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if gitserver.Says(err, "unrelated histories") {
		return "", fmt.Errorf("the histories are unrelated: %w", ErrConflict)
	}
	if code, ok := gitserver.ExitCode(err); ok && code == 1 {
		return "", fmt.Errorf("merging %s into %s: %w", short(head), short(into), ErrConflict)
	}
	return "", fmt.Errorf("merging %s into %s: %w; git 2.38 or later is required", short(head), short(into), err)
}

func short(id string) string { return id[:min(10, len(id))] }

// Join is a merge to make.
type Join struct {
	// Branch gets the commit Head; Style is Merge, Squash or FastForward.
	Branch, Head, Style string
	// Message is that of the commit, if one is made.
	Message           string
	Author, Committer Person
}

// Join merges and returns the commit that the branch has then.
func (r Repository) Join(ctx context.Context, j Join) (string, error) {
	into, err := r.Branch(ctx, j.Branch)
	if err != nil {
		return "", err
	}
	id, err := r.joined(ctx, j, into)
	if err != nil {
		return "", err
	}
	return id, r.move(ctx, j.Branch, id, into)
}

func (r Repository) joined(ctx context.Context, j Join, into string) (string, error) {
	if j.Style == FastForward {
		if base, err := r.Base(ctx, into, j.Head); err != nil || base != into {
			return "", fmt.Errorf("branch %q has commits that the other lacks; a fast-forward is impossible: %w", j.Branch, ErrConflict)
		}
		return j.Head, nil
	}
	tree, err := r.mergeTree(ctx, into, j.Head)
	if err != nil {
		return "", err
	}
	tree, _, _ = strings.Cut(tree, "\n")
	parents := []string{into, j.Head}
	if j.Style == Squash {
		parents = parents[:1]
	}
	return r.commit(ctx, tree, j.Message, j.Author, j.Committer, parents...)
}

// Contains reports whether a branch has a commit in its history.
func (r Repository) Contains(ctx context.Context, branch, commit string) bool {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", commit, heads+branch)
	return err == nil
}

// Changed are the paths that one commit changed against its first parent.
func (r Repository) Changed(ctx context.Context, commit string) (added, removed, modified []string, err error) {
	out, err := r.git(ctx, "diff-tree", "-z", "-r", "-m", "--first-parent", "--root", "--no-commit-id", "--no-renames", "--name-status", commit)
	if err != nil {
		return nil, nil, nil, err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		switch fields[i] {
		case "A":
			added = append(added, fields[i+1])
		case "D":
			removed = append(removed, fields[i+1])
		default:
			modified = append(modified, fields[i+1])
		}
	}
	return added, removed, modified, nil
}
