package idp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// The limits of a directory that becomes a repository.
const (
	maxEntries = 20_000
	maxBytes   = 256 << 20
	maxDepth   = 64
)

// Entry is a file of a repository.
type Entry struct {
	// Path is relative to the directory of the repository, Source relative to the file system: both with slashes.
	Path, Source string
	// Executable reports whether its owner may execute it.
	Executable bool
	// Size in bytes.
	Size int64
}

// Skipped is something in a directory that is not part of the repository: a link that is broken, leaves the root or leads to a directory that
// it is in, or something that is neither a directory nor a regular file.
type Skipped struct {
	Path string
	Err  error
}

// Walk lists the files of a directory, for a repository with exactly these: in the order of directories, links followed as
// idpbuilder does, without what is called .git. The file system is that of os.OpenRoot(Repository.Root), which refuses links
// that lead out of it. It is an error if there is no such directory, or if there is more in it than a repository may have: 20,000 files and
// directories, 256 MiB, or 64 levels.
func Walk(fsys fs.FS, dir string) ([]Entry, []Skipped, error) {
	w := walk{fsys: fsys}
	info, err := fs.Stat(fsys, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("listing the directory: %w", err)
	}
	if err := w.directory(dir, "", []fs.FileInfo{info}); err != nil {
		return nil, nil, fmt.Errorf("listing the directory %q: %w", dir, err)
	}
	return w.entries, w.skipped, nil
}

type walk struct {
	fsys    fs.FS
	entries []Entry
	skipped []Skipped
	seen    int
	bytes   int64
}

// directory lists one directory. The path is that below the start; ancestors are the directories that lead to it, with itself.
func (w *walk) directory(source, at string, ancestors []fs.FileInfo) error {
	if len(ancestors) > maxDepth {
		return fmt.Errorf("%q: there are more than %d levels", at, maxDepth)
	}
	entries, err := fs.ReadDir(w.fsys, source)
	if err != nil {
		return fmt.Errorf("%q: %w", at, cause(err))
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), ".git") {
			continue
		}
		if w.seen++; w.seen > maxEntries {
			return fmt.Errorf("there are more than %d files and directories", maxEntries)
		}
		if err := w.entry(path.Join(source, e.Name()), path.Join(at, e.Name()), ancestors); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(source, at string, ancestors []fs.FileInfo) error {
	info, err := fs.Stat(w.fsys, source)
	switch {
	case err != nil:
		w.skip(at, cause(err))
	case info.IsDir():
		for _, above := range ancestors {
			if os.SameFile(above, info) {
				w.skip(at, errors.New("it is a link to a directory that it is in"))
				return nil
			}
		}
		return w.directory(source, at, append(ancestors[:len(ancestors):len(ancestors)], info))
	case !info.Mode().IsRegular():
		w.skip(at, errors.New("it is neither a directory nor a regular file"))
	default:
		if w.bytes += info.Size(); w.bytes > maxBytes {
			return fmt.Errorf("there are more than %d MiB", maxBytes>>20)
		}
		w.entries = append(w.entries, Entry{at, source, info.Mode()&0o100 != 0, info.Size()})
	}
	return nil
}

func (w *walk) skip(at string, err error) { w.skipped = append(w.skipped, Skipped{at, err}) }
