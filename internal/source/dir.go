package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Directory is one of this machine, as a source of trees.
type Directory struct {
	Path string
	// Only are the paths of the files that count; nil is all of them.
	Only map[string]bool
}

// Selection says what of a directory is wanted, as a source says it of a commit.
type Selection struct {
	// Ignore are rules beside those of the files that hold some.
	Ignore *string
	// Sparse are the directories that are wanted; none means all.
	Sparse  []string
	Include []Inclusion
}

// Tree reads the directory into a tree, without what Flux leaves out. Symbolic links are kept as links. Large files are
// read when they are needed; one that changes meanwhile is an error then.
func (d Directory) Tree(s Selection) (*Tree, error) {
	t, err := d.read(s)
	if err != nil {
		return nil, fmt.Errorf("reading directory %q: %w", d.Path, err)
	}
	return t, nil
}

func (d Directory) read(s Selection) (*Tree, error) {
	root, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		return nil, err
	}
	entries, err := listDir(root)
	if err != nil {
		return nil, err
	}
	if d.Only != nil {
		entries = slices.DeleteFunc(entries, func(e dirEntry) bool { return !d.Only[e.path] })
	}
	if entries, err = sparse(entries, s.Sparse); err != nil {
		return nil, err
	}
	included, err := copies(s.Include)
	if err != nil {
		return nil, err
	}
	rules, err := d.rules(root, entries, included, s.Ignore)
	if err != nil {
		return nil, err
	}
	taken := budget{limits: DefaultLimits()}
	var files []*File
	for _, e := range entries {
		if rules.leaveOut(e.path) {
			continue
		}
		f, err := readEntry(filepath.Join(root, filepath.FromSlash(e.path)), e, &taken)
		if errors.Is(err, fs.ErrNotExist) {
			// An editor's temporary file, gone since the directory was listed.
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if files, err = include(files, included, rules, &taken); err != nil {
		return nil, err
	}
	return NewTree(files)
}

// rules reads those of the directory, and of what is included.
func (d Directory) rules(root string, entries []dirEntry, included []inclusion, spec *string) (*rules, error) {
	others := map[string]*File{}
	paths := ignoreFiles(entries)
	for _, i := range included {
		if path.Base(i.file.Path) == ignoreFile && i.file.Link == "" {
			others[i.file.Path] = i.file
			paths = append(paths, i.file.Path)
		}
	}
	return readRules(paths, spec, func(p string) ([]byte, error) {
		if f, ok := others[p]; ok {
			return f.Read()
		}
		return os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
	})
}

// dirEntry is a file or a symbolic link of a directory.
type dirEntry struct {
	path string
	mode fs.FileMode
}

func (e dirEntry) at() string { return e.path }

func listDir(root string) ([]dirEntry, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("not a directory")
	}
	var entries []dirEntry
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.Name() == ".git" && entry.IsDir():
			return filepath.SkipDir
		case entry.Name() == ".git" || entry.Type()&^fs.ModeSymlink != 0:
			return nil
		}
		rel, err := filepath.Rel(root, name)
		entries = append(entries, dirEntry{path: filepath.ToSlash(rel), mode: entry.Type()})
		return err
	})
	return entries, err
}

func ignoreFiles(entries []dirEntry) []string {
	var found []string
	for _, e := range entries {
		if filepath.Base(e.path) == ignoreFile && e.mode.IsRegular() {
			found = append(found, e.path)
		}
	}
	return found
}

func readEntry(name string, e dirEntry, taken *budget) (*File, error) {
	if e.mode&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		if err != nil {
			return nil, err
		}
		return NewLink(e.path, target), taken.take(e.path, 0)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := taken.take(e.path, info.Size()); err != nil {
		return nil, err
	}
	if info.Size() > inMemory {
		sum := sha256.New()
		size, err := io.Copy(sum, f)
		if err != nil {
			return nil, err
		}
		digest := hex.EncodeToString(sum.Sum(nil))
		return NewLazyFile(e.path, info.Mode(), size, digest, verified(name, digest)), nil
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return NewFile(e.path, info.Mode(), data), nil
}
