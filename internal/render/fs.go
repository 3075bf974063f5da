package render

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/headgate-dev/headgate/internal/source"
)

// root is where the tree stands in the file system that kustomize sees. Beside it is what was fetched from elsewhere.
const root = "/repository"

// maxManifest is the largest file that is read as a manifest.
const maxManifest = 16 << 20

// treeFS shows a tree to kustomize. What is read is recorded; what is written lies over the tree,
// which itself never changes.
type treeFS struct {
	tree    *source.Tree
	overlay map[string][]byte
	reads   ReadSet
	// elsewhere is what kustomizations may name outside the tree, nil where nothing is fetched; mounted is what they do name.
	elsewhere *Elsewhere
	mounted   map[string]*mount
	// plugins are the configurations that directories make, and unbuilt the directories of which these are unknown yet.
	plugins map[string][]byte
	unbuilt []string
	// preparing is set while the kustomization of the unit is read, which is rewritten when it is complete.
	preparing bool
	// opened hands over the content of each file that is read, to be decrypted where it has to be.
	opened func(path string, data []byte) ([]byte, error)
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
		opened:  func(_ string, data []byte) ([]byte, error) { return data, nil },
		mounted: map[string]*mount{}, plugins: map[string][]byte{},
	}
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
	m, rel, err := f.place(p)
	if err != nil {
		return "", nil, false, err
	}
	tree := f.tree
	if m != nil {
		// What was fetched is known by its digest.
		tree = m.tree
	} else {
		f.ask(askPath + rel)
	}
	if resolved, err = tree.Resolve(rel); err != nil {
		return "", nil, false, f.refuse(err)
	}
	file, _ = tree.File(resolved)
	_, dir = tree.Entries(resolved)
	return resolved, file, dir, nil
}

// ReadFile returns the content of a file.
func (f *treeFS) ReadFile(p string) ([]byte, error) {
	m, rel, err := f.place(p)
	if err != nil {
		return nil, err
	}
	rel = m.key(rel)
	if data, ok := f.overlay[rel]; ok {
		return f.bounded(rel, data)
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
	return f.bounded(rel, data)
}

// bounded refuses a file that would explode.
func (f *treeFS) bounded(rel string, data []byte) ([]byte, error) {
	if err := expandable(data); err != nil {
		return nil, f.refuse(&Error{File: rel, Err: err})
	}
	return data, nil
}

// IsDir reports whether there is a directory.
func (f *treeFS) IsDir(p string) bool {
	_, _, dir, err := f.lookup(p)
	return err == nil && dir
}

// Exists reports whether there is a file or a directory.
func (f *treeFS) Exists(p string) bool {
	m, rel, err := f.place(p)
	if err != nil {
		return false
	}
	if _, ok := f.overlay[m.key(rel)]; ok {
		return true
	}
	_, file, dir, err := f.lookup(p)
	return err == nil && (file != nil || dir)
}

// ReadDir lists a directory.
func (f *treeFS) ReadDir(p string) ([]string, error) {
	resolved, _, dir, err := f.lookup(p)
	if err != nil {
		return nil, err
	}
	if !dir {
		return nil, &fs.PathError{Op: "readdir", Path: p, Err: fs.ErrNotExist}
	}
	if m, _, _ := f.place(p); m != nil {
		names, _ := m.tree.Entries(resolved)
		return names, nil
	}
	f.ask(askList + resolved)
	names, _ := f.tree.Entries(resolved)
	return names, nil
}

// CleanedAbs splits a path into its directory and, when it is a file, its name.
func (f *treeFS) CleanedAbs(p string) (filesys.ConfirmedDir, string, error) {
	resolved, file, dir, err := f.lookup(p)
	if err != nil {
		return "", "", err
	}
	m, _, _ := f.place(p)
	abs := path.Join(m.top(), resolved)
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
	m, rel, err := f.place(pattern)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(rel)
	if dir == "." {
		dir = ""
	}
	names, err := f.ReadDir(path.Join(m.top(), dir))
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
			matches = append(matches, path.Join(m.top(), dir, name))
		}
	}
	return matches, nil
}

// Walk visits a directory and everything in it.
func (f *treeFS) Walk(p string, visit filepath.WalkFunc) error {
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

// Mkdir is refused.
func (f *treeFS) Mkdir(string) error { return errReadOnly }

// MkdirAll is refused.
func (f *treeFS) MkdirAll(string) error { return errReadOnly }

// RemoveAll is refused.
func (f *treeFS) RemoveAll(string) error { return errReadOnly }

// WriteFile lays a file over the tree.
func (f *treeFS) WriteFile(p string, data []byte) error {
	m, rel, err := f.place(p)
	if err != nil {
		return err
	}
	f.overlay[m.key(rel)] = data
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
