package worktree

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Author is who commits.
type Author struct{ Name, Email string }

func (a Author) signature() object.Signature {
	return object.Signature{Name: strings.TrimSpace(a.Name), Email: strings.TrimSpace(a.Email), When: time.Now()}
}

// Commit commits what the files of a directory are now, and reports whether they changed.
func (r *Repository) Commit(ctx context.Context, root *os.Root, message string, by Author) (changed bool, err error) {
	head, err := r.commit(r.record.Head)
	if err != nil {
		return false, err
	}
	tree, err := r.snapshot(ctx, root, head.TreeHash)
	if err != nil {
		return false, fmt.Errorf("reading the files: %w", err)
	}
	if tree == head.TreeHash {
		return false, nil
	}
	if r.record.Head, err = r.keepCommit(tree, []plumbing.Hash{head.Hash}, message, by); err != nil {
		return false, err
	}
	return true, r.save()
}

func (r *Repository) keepCommit(tree plumbing.Hash, parents []plumbing.Hash, message string, by Author) (plumbing.Hash, error) {
	who := by.signature()
	return r.keepObject(&object.Commit{Author: who, Committer: who, Message: Cleaned(message), TreeHash: tree, ParentHashes: parents})
}

// Cleaned is a message as Git commits it: without spaces at the ends of lines, and without empty lines at its ends or beside others.
func Cleaned(message string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(message, "\x00", ""), "\n") {
		line = strings.TrimRight(line, " \t\r\v\f")
		if line == "" && (len(lines) == 0 || lines[len(lines)-1] == "") {
			continue
		}
		lines = append(lines, line)
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// ancestors are a commit and all before it that are here.
func (r *Repository) ancestors(ctx context.Context, of plumbing.Hash) (map[plumbing.Hash]bool, error) {
	seen, next := map[plumbing.Hash]bool{of: true}, []plumbing.Hash{of}
	for len(next) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		hash := next[len(next)-1]
		next = next[:len(next)-1]
		c, err := object.GetCommit(r.store, hash)
		if err != nil {
			// What is before it was not fetched.
			continue
		}
		for _, parent := range c.ParentHashes {
			if !seen[parent] {
				seen[parent] = true
				next = append(next, parent)
			}
		}
	}
	return seen, nil
}

// onto puts the commits of Head that a branch does not have on top of its last one.
func (r *Repository) onto(ctx context.Context, tip plumbing.Hash, by Author) (plumbing.Hash, error) {
	theirs, err := r.ancestors(ctx, tip)
	if err != nil {
		return tip, err
	}
	if theirs[r.record.Head] {
		return tip, nil
	}
	ours, err := r.ancestors(ctx, r.record.Head)
	if err != nil {
		return tip, err
	}
	if ours[tip] {
		return r.record.Head, nil
	}
	todo, err := r.beyond(theirs)
	if err != nil {
		return tip, err
	}
	for _, c := range todo {
		if tip, err = r.pick(ctx, c, tip, by); err != nil {
			return tip, fmt.Errorf("commit %s: %w", c.Hash, err)
		}
	}
	return tip, nil
}

// beyond are the commits of Head that others do not have, the oldest first.
func (r *Repository) beyond(theirs map[plumbing.Hash]bool) ([]*object.Commit, error) {
	var found []*object.Commit
	seen := map[plumbing.Hash]bool{}
	type visit struct {
		hash plumbing.Hash
		done *object.Commit
	}
	next := []visit{{hash: r.record.Head}}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at.done != nil {
			found = append(found, at.done)
			continue
		}
		if theirs[at.hash] || seen[at.hash] {
			continue
		}
		if seen[at.hash] = true; len(seen) > maxCommits {
			return nil, fmt.Errorf("%w: there are more than %d commits that the branch does not have", errLarge, maxCommits)
		}
		c, err := r.commit(at.hash)
		if err != nil {
			return nil, err
		}
		next = append(next, visit{done: c})
		for _, parent := range c.ParentHashes {
			next = append(next, visit{hash: parent})
		}
	}
	return found, nil
}

// pick makes the change of a commit on top of another one. A change that is there already makes none, and merges have none of their own.
func (r *Repository) pick(ctx context.Context, c *object.Commit, tip plumbing.Hash, by Author) (plumbing.Hash, error) {
	on, err := r.commit(tip)
	if err != nil || len(c.ParentHashes) > 1 {
		return tip, err
	}
	var before plumbing.Hash
	if len(c.ParentHashes) == 1 {
		if c.ParentHashes[0] == tip {
			return c.Hash, nil
		}
		parent, err := r.commit(c.ParentHashes[0])
		if err != nil {
			return tip, err
		}
		before = parent.TreeHash
	}
	m := &merge{Repository: r, ctx: ctx, left: newBudget()}
	tree, err := m.dir(before, c.TreeHash, on.TreeHash, ".")
	if err != nil || tree == on.TreeHash {
		return tip, err
	}
	return r.keepObject(&object.Commit{Author: c.Author, Committer: by.signature(), Message: c.Message, TreeHash: tree, ParentHashes: []plumbing.Hash{tip}})
}
