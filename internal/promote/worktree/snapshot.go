package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// reader reads the files of a directory into directories of a repository.
type reader struct {
	*Repository
	ctx  context.Context
	root *os.Root
	cone cone
	left budget
}

// snapshot is what the files are now, as a commit on top of a directory of the repository would have them: those that are not checked out as they are
// there, without those that rules ignore and it does not have.
func (r *Repository) snapshot(ctx context.Context, root *os.Root, base plumbing.Hash) (plumbing.Hash, error) {
	s := &reader{Repository: r, ctx: ctx, root: root, cone: r.record.Sparse, left: newBudget()}
	return s.dir(place{at: ".", base: base})
}

// place is a directory, what the commit below has there, and which rules hold.
type place struct {
	at      string
	base    plumbing.Hash
	rules   rules
	ignored bool
}

// dir reads a directory; one without files is a zero hash, but for the uppermost.
func (s *reader) dir(p place) (plumbing.Hash, error) {
	if s.ctx.Err() != nil {
		return plumbing.ZeroHash, context.Cause(s.ctx)
	}
	before, err := s.entries(p.base)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	known := make(map[string]object.TreeEntry, len(before))
	for _, entry := range before {
		known[entry.Name] = entry
	}
	there, err := s.list(p.at, known)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if p.rules, err = p.rules.below(s.root, p.at); err != nil {
		return plumbing.ZeroHash, err
	}
	tree := &object.Tree{}
	kept := map[string]string{}
	for _, entry := range before {
		if entry.Mode == filemode.Dir && !s.cone.has(path.Join(p.at, entry.Name)) {
			tree.Entries = append(tree.Entries, entry)
			kept[folded(entry.Name)] = entry.Name
		}
	}
	for name, found := range there {
		entry, err := s.entry(p, name, found, known[name])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if entry.Hash.IsZero() {
			continue
		}
		if other, clash := kept[folded(name)]; clash {
			return plumbing.ZeroHash, fmt.Errorf("%w: %q is, or is on other file systems, %q, which sparse leaves out of the checkout", ErrRefused, path.Join(p.at, name), path.Join(p.at, other))
		}
		tree.Entries = append(tree.Entries, entry)
	}
	if len(tree.Entries) == 0 && p.at != "." {
		return plumbing.ZeroHash, nil
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return strings.Compare(sortedAs(a), sortedAs(b)) })
	if !p.base.IsZero() && slices.Equal(before, tree.Entries) {
		return p.base, nil
	}
	return s.keepObject(tree)
}

// sortedAs is what Git sorts an entry by: directories as if their names ended in a slash.
func sortedAs(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

// list are the entries of a directory. Those that a commit has under another name, which is the same on this file system, have that of the commit.
func (s *reader) list(at string, known map[string]object.TreeEntry) (map[string]fs.FileInfo, error) {
	dir, err := s.root.Open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	there := make(map[string]fs.FileInfo, len(names))
	for _, name := range names {
		if there[name], err = s.root.Lstat(path.Join(at, name)); err != nil {
			return nil, err
		}
	}
	for name := range known {
		if _, has := there[name]; has {
			continue
		}
		same, err := s.root.Lstat(path.Join(at, name))
		if err != nil {
			continue
		}
		for other, info := range there {
			if _, taken := known[other]; !taken && os.SameFile(same, info) {
				delete(there, other)
				there[name] = same
				break
			}
		}
	}
	return there, nil
}

// entry is what a commit has of a file or a directory; nothing has a zero hash.
func (s *reader) entry(p place, name string, found fs.FileInfo, old object.TreeEntry) (none object.TreeEntry, err error) {
	at := path.Join(p.at, name)
	if err := valid(name, at); err != nil {
		return none, err
	}
	if err := s.left.entry(); err != nil {
		return none, err
	}
	if found.IsDir() {
		return s.directory(p, at, old)
	}
	tracked := !old.Hash.IsZero() && old.Mode != filemode.Dir
	if !tracked && (p.ignored || p.rules.ignore(at, false)) {
		return none, nil
	}
	entry := object.TreeEntry{Name: name}
	switch {
	case found.Mode()&fs.ModeSymlink != 0:
		target, err := s.root.Readlink(at)
		if err != nil {
			return none, err
		}
		entry.Mode = filemode.Symlink
		entry.Hash, err = s.keepBlob([]byte(target))
		return entry, err
	case !found.Mode().IsRegular():
		return none, nil
	}
	entry.Mode = filemode.Regular
	if found.Mode().Perm()&0o100 != 0 {
		entry.Mode = filemode.Executable
	}
	if old.Mode == filemode.Deprecated && entry.Mode == filemode.Regular {
		entry.Mode = filemode.Deprecated
	}
	entry.Hash, err = s.file(at, found)
	return entry, err
}

// directory is an entry for what is below a directory. That of a nested repository stays as it is, and has no files.
func (s *reader) directory(p place, at string, old object.TreeEntry) (none object.TreeEntry, err error) {
	ignored := p.ignored || p.rules.ignore(at, true)
	switch {
	case old.Mode == filemode.Submodule:
		below, err := s.list(at, nil)
		if err == nil && len(below) > 0 {
			err = fmt.Errorf("%w: %q is a nested repository, and no files are committed below it", ErrRefused, at)
		}
		return old, err
	case !s.cone.has(at) && ignored && old.Hash.IsZero():
		return none, nil
	case !s.cone.has(at):
		return none, fmt.Errorf("%w: %q is outside the directories of sparse, and nothing is committed there", ErrRefused, at)
	}
	inner := place{at: at, rules: p.rules, ignored: ignored}
	if old.Mode == filemode.Dir {
		inner.base = old.Hash
	}
	entry := object.TreeEntry{Name: path.Base(at), Mode: filemode.Dir}
	entry.Hash, err = s.dir(inner)
	return entry, err
}

func (s *reader) file(at string, found fs.FileInfo) (plumbing.Hash, error) {
	file, err := s.root.Open(at)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !os.SameFile(info, found) {
		return plumbing.ZeroHash, fmt.Errorf("reading %q: it changed meanwhile", at)
	}
	if err := s.left.take(at, info.Size()); err != nil {
		return plumbing.ZeroHash, err
	}
	var data bytes.Buffer
	if _, err := io.Copy(&data, io.LimitReader(file, info.Size())); err != nil {
		return plumbing.ZeroHash, err
	}
	return s.keepBlob(data.Bytes())
}
