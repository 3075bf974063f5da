// Package source turns places that hold manifests (Git, directories, OCI registries, buckets) into
// immutable, content-addressed trees, and gets Helm charts from where they are kept.
//
// A Tree is a value: it never changes, two trees with the same content have the same digest, and
// every file carries the digest of its own content, so that a reader can prove that what it read
// has not changed between two trees. The package refuses paths that leave the tree; symbolic links
// are kept as links and resolved inside the tree only.
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
)

// File is one file of a Tree. It is immutable.
type File struct {
	// Path is slash-separated and relative to the root of the tree, without "./".
	Path string
	// Mode holds the permission bits and, for a symbolic link, fs.ModeSymlink.
	Mode fs.FileMode
	// Size is the number of bytes of the content.
	Size int64
	// Digest is the hex SHA-256 of the content, or of the target of a symbolic link.
	Digest string
	// Link is the target of a symbolic link as it is stored, otherwise empty.
	Link string

	read func() ([]byte, error)
}

// Read returns the content. The caller must not change it.
func (f *File) Read() ([]byte, error) {
	if f.read == nil {
		return nil, fmt.Errorf("reading %q: it is a symbolic link", f.Path)
	}
	data, err := f.read()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", f.Path, err)
	}
	return data, nil
}

// at returns the same file at another path.
func (f *File) at(name string) *File {
	moved := *f
	moved.Path = name
	return &moved
}

// NewFile returns a file with its content in memory.
func NewFile(name string, mode fs.FileMode, data []byte) *File {
	sum := sha256.Sum256(data)
	return &File{
		Path: name, Mode: mode.Perm(), Size: int64(len(data)), Digest: hex.EncodeToString(sum[:]),
		read: func() ([]byte, error) { return data, nil },
	}
}

// NewLazyFile returns a file whose content is read on demand; digest is its hex SHA-256.
func NewLazyFile(name string, mode fs.FileMode, size int64, digest string, read func() ([]byte, error)) *File {
	return &File{Path: name, Mode: mode.Perm(), Size: size, Digest: digest, read: read}
}

// NewLink returns a symbolic link.
func NewLink(name, target string) *File {
	sum := sha256.Sum256([]byte("link:" + target))
	return &File{
		Path: name, Mode: fs.ModeSymlink | 0o777, Size: int64(len(target)),
		Digest: hex.EncodeToString(sum[:]), Link: target,
	}
}

// Tree is an immutable set of files.
type Tree struct {
	files  map[string]*File
	dirs   map[string][]string
	digest string
	bytes  int64
}

// NewTree returns the tree of the given files. A path that leaves the tree, is not clean, or is
// given twice is an error.
func NewTree(files []*File) (*Tree, error) {
	t := &Tree{files: make(map[string]*File, len(files)), dirs: map[string][]string{"": nil}}
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." {
			return nil, fmt.Errorf("invalid path %q in the source", f.Path)
		}
		if _, dup := t.files[f.Path]; dup {
			return nil, fmt.Errorf("path %q occurs twice in the source", f.Path)
		}
		t.files[f.Path] = f
		t.bytes += f.Size
		t.link(f.Path)
	}
	for dir, names := range t.dirs {
		if _, clash := t.files[dir]; clash {
			return nil, fmt.Errorf("path %q is a file and a directory in the source", dir)
		}
		sort.Strings(names)
	}
	t.digest = t.sum()
	return t, nil
}

// link enters p into its parent directory, and the parents into theirs.
func (t *Tree) link(p string) {
	for {
		dir, base := path.Split(p)
		dir = strings.TrimSuffix(dir, "/")
		_, known := t.dirs[dir]
		t.dirs[dir] = append(t.dirs[dir], base)
		if known || dir == "" {
			return
		}
		p = dir
	}
}

func (t *Tree) sum() string {
	h := sha256.New()
	for _, p := range t.Paths() {
		f := t.files[p]
		fmt.Fprintf(h, "%s\x00%o\x00%s\n", p, f.Mode, f.Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest is the hex SHA-256 over paths, modes and contents.
func (t *Tree) Digest() string { return t.digest }

// Bytes is the sum of the sizes of all files.
func (t *Tree) Bytes() int64 { return t.bytes }

// Len is the number of files.
func (t *Tree) Len() int { return len(t.files) }

// Paths returns the paths of all files, sorted.
func (t *Tree) Paths() []string {
	paths := make([]string, 0, len(t.files))
	for p := range t.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}

// File returns the file or symbolic link at p, not following a link.
func (t *Tree) File(p string) (*File, bool) {
	f, ok := t.files[p]
	return f, ok
}

// Sub is the tree of a directory; "." is the whole. A link that leads out of the directory leads nowhere there.
func (t *Tree) Sub(dir string) (*Tree, error) {
	if dir = path.Clean(dir); dir == "." {
		return t, nil
	}
	var files []*File
	for _, p := range t.Paths() {
		if rest, is := strings.CutPrefix(p, dir+"/"); is {
			files = append(files, t.files[p].at(rest))
		}
	}
	return NewTree(files)
}

// Entries returns the sorted base names in directory dir ("" is the root), and whether there is
// such a directory.
func (t *Tree) Entries(dir string) ([]string, bool) {
	names, ok := t.dirs[dir]
	return names, ok
}

// maxLinks bounds the symbolic links followed for one path.
const maxLinks = 16

// Resolve follows the symbolic links in p and returns the path that it names. It fails with an
// error that names the link when a link is absolute, leaves the tree or goes in circles. The path
// that it returns need not exist.
func (t *Tree) Resolve(p string) (string, error) {
	rest, done := path.Clean("/" + p)[1:], ""
	for hops := 0; rest != ""; {
		head, tail, _ := strings.Cut(rest, "/")
		next := path.Join(done, head)
		f, ok := t.files[next]
		if !ok || f.Link == "" {
			done, rest = next, tail
			continue
		}
		if hops++; hops > maxLinks {
			return "", fmt.Errorf("symbolic link %q: too many links", next)
		}
		target := path.Join(done, f.Link)
		if path.IsAbs(f.Link) || target == ".." || strings.HasPrefix(target, "../") {
			return "", fmt.Errorf("symbolic link %q points to %q, outside the source", next, f.Link)
		}
		if target == "." {
			target = ""
		}
		done, rest = "", path.Join(target, tail)
	}
	return done, nil
}
