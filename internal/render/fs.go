package render

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/headgate-dev/headgate/internal/source"
)

// root is where the tree stands in the file system that kustomize sees. Nothing else is there,
// but for what kustomize itself fetches into temporary directories.
const root = "/repository"

// maxManifest is the largest file that is read as a manifest.
const maxManifest = 16 << 20

// treeFS shows a tree to kustomize. What is read is recorded; what is written lies over the tree,
// which itself never changes.
type treeFS struct {
	tree    *source.Tree
	overlay map[string][]byte
	reads   ReadSet
	// remote is set once a kustomization names a base that lies elsewhere, and volatile when one was read.
	remote, volatile bool
	// opened hands over the content of each file that is read, to be decrypted where it has to be.
	opened func(path string, data []byte) ([]byte, error)
	disk   filesys.FileSystem
	// inflater makes manifests of charts; nil means that they are refused.
	inflater *inflater
	// sieve takes out patches; nil takes none.
	sieve *sieve
	// failure is the first refusal: kustomize hides the errors of its file system behind its own.
	failure error
}

func newTreeFS(tree *source.Tree) *treeFS {
	return &treeFS{
		tree: tree, overlay: map[string][]byte{}, reads: ReadSet{seen: map[string]string{}},
		opened: func(_ string, data []byte) ([]byte, error) { return data, nil },
		disk:   filesys.MakeFsOnDisk(),
	}
}

// fetched reports whether a path lies, with its links followed, in a directory into which kustomize has
// cloned a remote base. It never does while no kustomization has named one.
func (f *treeFS) fetched(p string) bool {
	if !f.remote {
		return false
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return false
	}
	clones := filepath.Join(temp, "kustomize-")
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	} else if rest, in := strings.CutPrefix(p, os.TempDir()); in {
		p = temp + rest
	}
	is := strings.HasPrefix(filepath.Clean(p), clones)
	f.volatile = f.volatile || is
	return is
}

// within returns the path in the tree, or an error when the path leaves it.
func (f *treeFS) within(p string) (string, error) {
	clean := path.Clean(p)
	if !path.IsAbs(clean) {
		clean = path.Join(root, clean)
	}
	rel, ok := strings.CutPrefix(clean, root)
	if !ok || (rel != "" && rel[0] != '/') {
		return "", f.refuse(fmt.Errorf("path %q is outside the source", p))
	}
	return strings.TrimPrefix(rel, "/"), nil
}

func (f *treeFS) refuse(err error) error {
	if f.failure == nil {
		f.failure = err
	}
	return err
}

func (f *treeFS) ask(question string) string {
	answer := ask(f.tree, question)
	f.reads.seen[question] = answer
	return answer
}

// lookup finds a path in the tree and records the lookup.
func (f *treeFS) lookup(p string) (resolved string, file *source.File, dir bool, err error) {
	rel, err := f.within(p)
	if err != nil {
		return "", nil, false, err
	}
	f.ask(askPath + rel)
	if resolved, err = f.tree.Resolve(rel); err != nil {
		return "", nil, false, f.refuse(err)
	}
	file, _ = f.tree.File(resolved)
	_, dir = f.tree.Entries(resolved)
	return resolved, file, dir, nil
}

// ReadFile returns the content of a file.
func (f *treeFS) ReadFile(p string) ([]byte, error) {
	if f.fetched(p) {
		return f.disk.ReadFile(p)
	}
	rel, err := f.within(p)
	if err != nil {
		return nil, err
	}
	if data, ok := f.overlay[rel]; ok {
		return data, nil
	}
	_, file, _, err := f.lookup(p)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrNotExist}
	}
	if file.Size > maxManifest {
		return nil, f.refuse(&Error{File: rel, Err: fmt.Errorf(
			"it has %d bytes; the limit for a manifest is %d", file.Size, maxManifest)})
	}
	data, err := file.Read()
	if err != nil {
		return nil, f.refuse(err)
	}
	if data, err = f.opened(rel, data); err != nil {
		var located *Error
		if errors.As(err, &located) && located.File != "" {
			return nil, f.refuse(err)
		}
		return nil, f.refuse(&Error{File: rel, Err: err})
	}
	return data, nil
}

// IsDir reports whether there is a directory.
func (f *treeFS) IsDir(p string) bool {
	if f.fetched(p) {
		return f.disk.IsDir(p)
	}
	_, _, dir, err := f.lookup(p)
	return err == nil && dir
}

// Exists reports whether there is a file or a directory.
func (f *treeFS) Exists(p string) bool {
	if f.fetched(p) {
		return f.disk.Exists(p)
	}
	rel, err := f.within(p)
	if err != nil {
		return false
	}
	if _, ok := f.overlay[rel]; ok {
		return true
	}
	_, file, dir, err := f.lookup(p)
	return err == nil && (file != nil || dir)
}

// ReadDir lists a directory.
func (f *treeFS) ReadDir(p string) ([]string, error) {
	if f.fetched(p) {
		return f.disk.ReadDir(p)
	}
	resolved, _, dir, err := f.lookup(p)
	if err != nil {
		return nil, err
	}
	if !dir {
		return nil, &fs.PathError{Op: "readdir", Path: p, Err: fs.ErrNotExist}
	}
	f.ask(askList + resolved)
	names, _ := f.tree.Entries(resolved)
	return names, nil
}

// CleanedAbs splits a path into its directory and, when it is a file, its name.
func (f *treeFS) CleanedAbs(p string) (filesys.ConfirmedDir, string, error) {
	if f.fetched(p) {
		return f.disk.CleanedAbs(p)
	}
	resolved, file, dir, err := f.lookup(p)
	if err != nil {
		return "", "", err
	}
	abs := path.Join(root, resolved)
	switch {
	case dir:
		return filesys.ConfirmedDir(abs), "", nil
	case file != nil:
		return filesys.ConfirmedDir(path.Dir(abs)), path.Base(abs), nil
	default:
		return "", "", &fs.PathError{Op: "stat", Path: p, Err: fs.ErrNotExist}
	}
}

// Glob lists what matches a pattern.
func (f *treeFS) Glob(pattern string) ([]string, error) {
	rel, err := f.within(pattern)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(rel)
	if dir == "." {
		dir = ""
	}
	names, err := f.ReadDir(path.Join(root, dir))
	if err != nil {
		return nil, nil
	}
	var matches []string
	for _, name := range names {
		ok, err := path.Match(path.Base(rel), name)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if ok {
			matches = append(matches, path.Join(root, dir, name))
		}
	}
	return matches, nil
}

// Walk visits a directory and everything in it.
func (f *treeFS) Walk(p string, visit filepath.WalkFunc) error {
	if f.fetched(p) {
		return f.disk.Walk(p, visit)
	}
	dir := f.IsDir(p)
	if err := visit(p, info{name: path.Base(p), dir: dir}, nil); err != nil || !dir {
		if errors.Is(err, filepath.SkipDir) {
			return nil
		}
		return err
	}
	names, err := f.ReadDir(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.Walk(path.Join(p, name), visit); err != nil {
			return err
		}
	}
	return nil
}

// Open opens a file for reading.
func (f *treeFS) Open(p string) (filesys.File, error) {
	data, err := f.ReadFile(p)
	if err != nil {
		return nil, err
	}
	return &file{Reader: bytes.NewReader(data), info: info{name: path.Base(p), size: int64(len(data))}}, nil
}

// errReadOnly is the answer to every change: a source never changes.
var errReadOnly = errors.New("the source is read-only")

// Create is refused.
func (f *treeFS) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir is refused outside what kustomize fetches.
func (f *treeFS) Mkdir(p string) error { return f.onDisk(p, f.disk.Mkdir) }

// MkdirAll is refused outside what kustomize fetches.
func (f *treeFS) MkdirAll(p string) error { return f.onDisk(p, f.disk.MkdirAll) }

// RemoveAll is refused outside what kustomize fetches.
func (f *treeFS) RemoveAll(p string) error { return f.onDisk(p, f.disk.RemoveAll) }

func (f *treeFS) onDisk(p string, do func(string) error) error {
	if f.fetched(p) {
		return do(p)
	}
	return errReadOnly
}

// WriteFile lays a file over the tree.
func (f *treeFS) WriteFile(p string, data []byte) error {
	rel, err := f.within(p)
	if err != nil {
		return err
	}
	f.overlay[rel] = data
	return nil
}

type file struct {
	*bytes.Reader
	info info
}

func (f *file) Write([]byte) (int, error)  { return 0, errReadOnly }
func (f *file) Close() error               { return nil }
func (f *file) Stat() (os.FileInfo, error) { return f.info, nil }

type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string           { return i.name }
func (i info) Size() int64            { return i.size }
func (i info) ModTime() (t time.Time) { return t }
func (i info) IsDir() bool            { return i.dir }
func (i info) Sys() any               { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
