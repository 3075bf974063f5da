package render

import (
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/source"
)

// Reader reads single files and directories of a tree, and records what it read as a render does. Paths begin
// at the root of the tree; links are followed inside of it, and a path that leaves it is an error. It is not
// safe for concurrent use.
type Reader struct{ fs *treeFS }

// NewReader returns a Reader of a tree.
func NewReader(tree *source.Tree) *Reader { return &Reader{fs: newTreeFS(tree)} }

// File returns the content of a file, and whether there is one. A file of more than 16 MiB is an error.
func (r *Reader) File(p string) (data []byte, found bool, err error) {
	_, file, _, err := r.fs.lookup(inside(p))
	if err != nil || file == nil {
		return nil, false, err
	}
	data, err = r.fs.ReadFile(inside(p))
	return data, err == nil, err
}

// Size is the size of a file in bytes, and whether there is one.
func (r *Reader) Size(p string) (size int64, found bool, err error) {
	_, file, _, err := r.fs.lookup(inside(p))
	if err != nil || file == nil {
		return 0, false, err
	}
	return file.Size, true, nil
}

// Dir returns the sorted names in a directory, and whether there is one.
func (r *Reader) Dir(p string) (names []string, found bool, err error) {
	_, _, dir, err := r.fs.lookup(inside(p))
	if err != nil || !dir {
		return nil, false, err
	}
	names, err = r.fs.ReadDir(inside(p))
	return names, err == nil, err
}

// Resolve follows the links in a path.
func (r *Reader) Resolve(p string) (string, error) {
	resolved, _, _, err := r.fs.lookup(inside(p))
	return resolved, err
}

// Add adds what another reader has read of the same tree.
func (r *Reader) Add(reads ReadSet) {
	for question, answer := range reads.seen {
		r.fs.reads.seen[question] = answer
	}
}

// Reads is what was read until now.
func (r *Reader) Reads() ReadSet { return r.fs.reads.clone() }

// inside is a path below our stand-in for the root, unless it climbs out.
func inside(p string) string { return path.Join(root, strings.TrimPrefix(p, "/")) }
