package worktree

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ErrConflict is a change that another one contradicts.
var ErrConflict = errors.New("conflict")

// merge makes the change between two directories in a third one.
type merge struct {
	*Repository
	ctx  context.Context
	left budget
}

// dir merges directories, of which a zero hash is one that is not there.
func (m *merge) dir(base, ours, theirs plumbing.Hash, at string) (plumbing.Hash, error) {
	switch {
	case m.ctx.Err() != nil:
		return theirs, context.Cause(m.ctx)
	case base == ours, ours == theirs:
		return theirs, nil
	case base == theirs:
		return ours, nil
	}
	var sides [3]map[string]object.TreeEntry
	names := map[string]bool{}
	for i, tree := range []plumbing.Hash{base, ours, theirs} {
		entries, err := m.entries(tree)
		if err != nil {
			return theirs, err
		}
		sides[i] = map[string]object.TreeEntry{}
		for _, entry := range entries {
			if err := m.left.entry(); err != nil {
				return theirs, err
			}
			sides[i][entry.Name], names[entry.Name] = entry, true
		}
	}
	tree := &object.Tree{}
	for name := range names {
		entry, err := m.entry(sides[0][name], sides[1][name], sides[2][name], path.Join(at, name))
		if err != nil {
			return theirs, err
		}
		if !entry.Hash.IsZero() {
			tree.Entries = append(tree.Entries, entry)
		}
	}
	if len(tree.Entries) == 0 && at != "." {
		return plumbing.ZeroHash, nil
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortedAs(a), sortedAs(b)) })
	return m.keepObject(tree)
}

// entry merges what is under one name.
func (m *merge) entry(base, ours, theirs object.TreeEntry, at string) (object.TreeEntry, error) {
	switch {
	case base == ours, ours == theirs:
		return theirs, nil
	case base == theirs:
		return ours, nil
	}
	dirs := [3]plumbing.Hash{}
	files := 0
	for i, side := range []object.TreeEntry{base, ours, theirs} {
		if side.Mode == filemode.Dir {
			dirs[i] = side.Hash
		} else if !side.Hash.IsZero() {
			files++
		}
	}
	if files == 0 {
		hash, err := m.dir(dirs[0], dirs[1], dirs[2], at)
		return object.TreeEntry{Name: path.Base(at), Mode: filemode.Dir, Hash: hash}, err
	}
	for _, side := range []object.TreeEntry{base, ours, theirs} {
		if side.Mode != filemode.Regular && side.Mode != filemode.Executable && side.Mode != filemode.Deprecated {
			return theirs, fmt.Errorf("%w in %q, which one side replaced or deleted, and the other one changed", ErrConflict, at)
		}
	}
	return m.file(base, ours, theirs, at)
}

// file merges a file that both sides changed.
func (m *merge) file(base, ours, theirs object.TreeEntry, at string) (object.TreeEntry, error) {
	merged := theirs
	if base.Mode == theirs.Mode {
		merged.Mode = ours.Mode
	}
	switch {
	case base.Hash == ours.Hash, ours.Hash == theirs.Hash:
		return merged, nil
	case base.Hash == theirs.Hash:
		merged.Hash = ours.Hash
		return merged, nil
	}
	var texts [3]string
	for i, side := range []object.TreeEntry{base, ours, theirs} {
		data, err := m.blob(side.Hash)
		if err == nil {
			err = m.left.take(at, int64(len(data)))
		}
		if err != nil {
			return merged, err
		}
		texts[i] = string(data)
	}
	text, agreed := mergeLines(texts[0], texts[1], texts[2])
	if !agreed {
		return merged, fmt.Errorf("%w in %q, in which both sides changed the same lines", ErrConflict, at)
	}
	hash, err := m.keepBlob([]byte(text))
	merged.Hash = hash
	return merged, err
}
