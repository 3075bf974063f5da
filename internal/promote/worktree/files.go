package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Modes of files and directories that are written.
const (
	modeFile, modeProgram, modeDir = 0o600, 0o700, 0o700
)

// cone are the directories that are checked out; none is all.
type cone []string

// within reports whether a directory is checked out with all below it.
func (c cone) within(dir string) bool {
	if len(c) == 0 {
		return true
	}
	for _, one := range c {
		if one == "." || dir == one || strings.HasPrefix(dir, one+"/") {
			return true
		}
	}
	return false
}

// has reports whether the files of a directory are checked out.
func (c cone) has(dir string) bool {
	if dir == "." || c.within(dir) {
		return true
	}
	for _, one := range c {
		if strings.HasPrefix(one, dir+"/") {
			return true
		}
	}
	return false
}

// writer writes the files of commits into a directory.
type writer struct {
	*Repository
	ctx  context.Context
	root *os.Root
	cone cone
	left budget
	// folds is set where names that differ only by case are one name.
	folds bool
	// again has what is there replaced: a commit that is written for the second time.
	again bool
}

func (r *Repository) writer(ctx context.Context, root *os.Root) *writer {
	_, err := os.Stat(filepath.Join(r.dir, strings.ToUpper(recordFile)))
	return &writer{Repository: r, ctx: ctx, root: root, cone: r.record.Sparse, left: newBudget(), folds: err == nil}
}

// Write writes the files of what was fetched into a directory that is empty, those of some directories alone if there are any.
func (r *Repository) Write(ctx context.Context, root *os.Root, sparse []string) error {
	r.record.Sparse = sparse
	head, err := r.commit(r.record.Head)
	if err == nil {
		err = r.save()
	}
	if err != nil {
		return err
	}
	if err := r.writer(ctx, root).change(plumbing.ZeroHash, head.TreeHash, "."); err != nil {
		return fmt.Errorf("writing the files of commit %s: %w", head.Hash, err)
	}
	return nil
}

// change turns the files of one directory of a repository into those of another one. What is in neither stays.
func (w *writer) change(from, to plumbing.Hash, at string) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	before, err := w.named(from, at)
	if err != nil {
		return err
	}
	after, err := w.named(to, at)
	if err != nil {
		return err
	}
	// What goes makes room for what comes, which may differ only by case.
	for name, old := range before {
		if entry, stays := after[name]; stays && (entry == old || entry.Mode == filemode.Dir && old.Mode == filemode.Dir) {
			continue
		}
		if err := w.remove(old, path.Join(at, name)); err != nil {
			return err
		}
	}
	for name, entry := range after {
		name := path.Join(at, name)
		if err := w.put(before[entry.Name], entry, name); err != nil {
			return err
		}
	}
	return nil
}

// named are the entries of a directory by their names, each of which is that of a file.
func (w *writer) named(tree plumbing.Hash, at string) (map[string]object.TreeEntry, error) {
	all, err := w.entries(tree)
	if err != nil {
		return nil, err
	}
	named := make(map[string]object.TreeEntry, len(all))
	alike := map[string]string{}
	for _, entry := range all {
		if err := w.left.entry(); err != nil {
			return nil, err
		}
		if err := valid(entry.Name, path.Join(at, entry.Name)); err != nil {
			return nil, err
		}
		if _, twice := named[entry.Name]; twice {
			return nil, fmt.Errorf("%w: %q occurs twice", ErrRefused, path.Join(at, entry.Name))
		}
		if other, clash := alike[folded(entry.Name)]; clash && w.folds {
			return nil, fmt.Errorf("%w: %q and %q are one name on this file system", ErrRefused, path.Join(at, other), path.Join(at, entry.Name))
		}
		named[entry.Name], alike[folded(entry.Name)] = entry, entry.Name
	}
	return named, nil
}

// put writes an entry where another one was, or none.
func (w *writer) put(old, entry object.TreeEntry, at string) error {
	if entry == old {
		return nil
	}
	switch entry.Mode {
	case filemode.Dir:
		if !w.cone.has(at) {
			return nil
		}
		return w.directory(old, entry, at)
	case filemode.Submodule:
		// The directory of a nested repository, which is not entered.
		if err := w.root.Mkdir(at, modeDir); err != nil && (!errors.Is(err, fs.ErrExist) || !w.again && old.Mode != filemode.Submodule) {
			return inTheWay(at, err)
		}
		return nil
	}
	if w.again {
		if err := w.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch entry.Mode {
	case filemode.Symlink:
		return w.link(entry, at)
	case filemode.Regular, filemode.Executable, filemode.Deprecated:
		return w.file(entry, at)
	}
	return fmt.Errorf("%w: %q has the mode %s", ErrRefused, at, entry.Mode)
}

// directory writes what is below a directory.
func (w *writer) directory(old, entry object.TreeEntry, at string) error {
	var from plumbing.Hash
	if old.Mode == filemode.Dir {
		from = old.Hash
	}
	// It has to be new where none was, for the same reason as a file.
	if err := w.root.Mkdir(at, modeDir); err != nil && (!errors.Is(err, fs.ErrExist) || !w.again && from.IsZero()) {
		return inTheWay(at, err)
	}
	if err := Straight(w.root, at); err != nil {
		return err
	}
	return w.change(from, entry.Hash, at)
}

func (w *writer) link(entry object.TreeEntry, at string) error {
	target, err := w.blob(entry.Hash)
	switch {
	case err != nil:
		return fmt.Errorf("%q: %w", at, err)
	case len(target) == 0 || len(target) > maxLink || strings.ContainsRune(string(target), 0):
		return fmt.Errorf("%w: the symbolic link %q has no target that is a path", ErrRefused, at)
	}
	if err := w.root.Symlink(string(target), at); err != nil {
		return inTheWay(at, err)
	}
	return nil
}

func (w *writer) file(entry object.TreeEntry, at string) error {
	data, err := w.blob(entry.Hash)
	if err == nil {
		err = w.left.take(at, int64(len(data)))
	}
	if err != nil {
		return fmt.Errorf("%q: %w", at, err)
	}
	mode := fs.FileMode(modeFile)
	if entry.Mode == filemode.Executable {
		mode = modeProgram
	}
	// It has to be new: on a file system that ignores case it may be one of this commit, or a link of it.
	file, err := w.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return inTheWay(at, err)
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// inTheWay words why something cannot be written.
func inTheWay(at string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %q is there already, or has another name that is the same on this file system", ErrRefused, at)
	}
	return err
}

// remove deletes an entry, with the files of its directory that the commit had.
func (w *writer) remove(old object.TreeEntry, at string) error {
	if old.Mode != filemode.Dir {
		if err := w.root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) && old.Mode != filemode.Submodule {
			return err
		}
		return nil
	}
	if !w.cone.has(at) {
		return nil
	}
	if err := Straight(w.root, at); err != nil {
		return err
	}
	if err := w.change(old.Hash, plumbing.ZeroHash, at); err != nil {
		return err
	}
	// Files that no commit has stay.
	_ = w.root.Remove(at)
	return nil
}
