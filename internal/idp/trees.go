package idp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile is the size of the largest file of Applications that is read, in bytes.
const maxFile = 4 << 20

// tree is a directory that nothing read from it may leave.
type tree struct {
	path string // absolute
	root *os.Root
}

// trees are the directories that packages are read from, the widest first.
type trees []tree

// openTrees opens directories. Those that cannot be opened are left out; what is in them is then outside all.
func openTrees(dirs []string) trees {
	var all trees
	for _, dir := range dirs {
		dir = filepath.Clean(dir)
		if slices.ContainsFunc(all, func(t tree) bool { return t.path == dir }) {
			continue
		}
		if root, err := os.OpenRoot(dir); err == nil {
			all = append(all, tree{dir, root})
		}
	}
	slices.SortStableFunc(all, func(a, b tree) int { return len(a.path) - len(b.path) })
	return all
}

func (t trees) close() {
	for _, one := range t {
		_ = one.root.Close() // it was only read
	}
}

// within is the path of a directory or a file below the widest tree that has it, with slashes.
func (t trees) within(at string) (tree, string, bool) {
	for _, one := range t {
		if rel, err := filepath.Rel(one.path, at); err == nil && filepath.IsLocal(rel) {
			return one, filepath.ToSlash(rel), true
		}
	}
	return tree{}, "", false
}

// errOutside is that of an address that leads out of all trees.
var errOutside = errors.New("it leaves the directories that --package names; name the one that it leads to as well")

// stat finds out what there is, following symbolic links that stay in the tree.
func (t trees) stat(at string) (fs.FileInfo, error) {
	one, rel, is := t.within(at)
	if !is {
		return nil, errOutside
	}
	return one.root.Stat(filepath.FromSlash(rel))
}

// readFile reads a file of a limited size.
func (t trees) readFile(at string) ([]byte, error) {
	one, rel, is := t.within(at)
	if !is {
		return nil, errOutside
	}
	file, err := one.root.Open(filepath.FromSlash(rel))
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, nil
}

// files are the names of the regular files *.yaml and *.yml at the top of a directory, in order.
func (t trees) files(at string) ([]string, error) {
	one, rel, is := t.within(at)
	if !is {
		return nil, errOutside
	}
	entries, err := fs.ReadDir(one.root.FS(), rel)
	if err != nil {
		return nil, cause(err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && (strings.HasSuffix(e.Name(), ".yaml") || strings.HasSuffix(e.Name(), ".yml")) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// cause is an error without the path in it, which messages have already.
func cause(err error) error {
	if inPath := (*fs.PathError)(nil); errors.As(err, &inPath) {
		return inPath.Err
	}
	return err
}
