package source

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Key names the object that declares a source.
type Key struct{ Group, Kind, Namespace, Name string }

// sourceGroup is the API group whose artifacts have the paths that source-controller gives them.
const sourceGroup = "source.toolkit.fluxcd.io"

// keyPart is what a part of a key may be, so that it is one element of a path.
var keyPart = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// dir is the directory of a source within the store, separated by slashes: the kind, the namespace and the name. The kind
// of another group than Flux's has its group, as in the name of its definition.
func (k Key) dir() (string, error) {
	kind := strings.ToLower(k.Kind)
	if k.Group != "" && k.Group != sourceGroup {
		kind += "." + k.Group
	}
	for _, part := range []string{kind, k.Namespace, k.Name} {
		if !keyPart.MatchString(part) {
			return "", fmt.Errorf("storing %s %q: %q is not an object name", k.Kind, k.Namespace+"/"+k.Name, part)
		}
	}
	return path.Join(kind, k.Namespace, k.Name), nil
}

// Artifact is what a source gave last.
type Artifact struct {
	Revision string
	// Digest is "sha256:" and the digest of what is served, Size its number of bytes.
	Digest string
	Size   int64
	// Path is that of what is served within the store, URL where it can be downloaded.
	Path, URL  string
	LastUpdate time.Time
	// Metadata is what the source says of the revision, such as the annotations of an OCI manifest. The
	// store does not keep it: callers have it from the status of the object.
	Metadata map[string]string
	// Tree is what was stored as a tree, and nil when File is set.
	Tree *Tree
	// File is what was stored as one file that is served as it came: a chart, a layer. Its path is the
	// name of the file.
	File *File

	open func() (*Tree, error)
}

// Open returns the files of an artifact: its tree, or what its one file holds when that is a tar.gz.
// Files are unpacked within DefaultLimits, once.
func (a *Artifact) Open() (*Tree, error) {
	if a.Tree != nil {
		return a.Tree, nil
	}
	return a.open()
}

// setFile makes an artifact of one file.
func (a *Artifact) setFile(f *File, keep keeper) {
	a.File = f
	a.open = sync.OnceValues(func() (*Tree, error) {
		data, err := f.Read()
		if err != nil {
			return nil, err
		}
		tree, err := unpack(bytes.NewReader(data), DefaultLimits(), keep)
		if err != nil {
			return nil, fmt.Errorf("opening %q: %w", f.Path, err)
		}
		return tree, nil
	})
}

// Store keeps the artifacts of sources, in memory and as archives on disk. It is safe for
// concurrent use.
type Store struct {
	dir, base string
	// secret makes the names of archives: without access to an artifact's URL it cannot be guessed.
	secret []byte

	mu        sync.RWMutex
	artifacts map[Key]*Artifact
	listeners []func(Key)
}

// NewStore returns a store in dir whose archives can be downloaded below the URL base.
func NewStore(dir, base string) (*Store, error) {
	s := &Store{dir: dir, base: strings.TrimSuffix(base, "/"), artifacts: map[Key]*Artifact{}}
	if err := os.MkdirAll(s.SpillDir(), 0o700); err != nil {
		return nil, fmt.Errorf("creating the artifact store: %w", err)
	}
	var err error
	if s.secret, err = readSecret(filepath.Join(dir, "secret")); err != nil {
		return nil, fmt.Errorf("creating the artifact store: %w", err)
	}
	s.sweep()
	return s, nil
}

// SpillDir is where files are kept that are too large for memory.
func (s *Store) SpillDir() string { return filepath.Join(s.dir, "large") }

// Get returns the last artifact of a source.
func (s *Store) Get(key Key) (*Artifact, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, ok := s.artifacts[key]
	return a, ok
}

// Subscribe has f called after each change of a source's artifact.
func (s *Store) Subscribe(f func(Key)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

// Put stores a new artifact. The previous one stays for downloads in progress.
func (s *Store) Put(key Key, revision string, tree *Tree, now time.Time) (*Artifact, error) {
	return s.PutTree(key, revision, tree, nil, now)
}

// PutTree stores a new artifact with metadata, which is served as a tar.gz.
func (s *Store) PutTree(key Key, revision string, tree *Tree, metadata map[string]string, now time.Time) (*Artifact, error) {
	return s.put(key, &Artifact{Revision: revision, Tree: tree, Metadata: maps.Clone(metadata), LastUpdate: now})
}

// Describe gives the artifact of a source other metadata; what is served stays as it is.
func (s *Store) Describe(key Key, metadata map[string]string) (*Artifact, error) {
	before, stored := s.Get(key)
	if !stored {
		return nil, fmt.Errorf("describing the artifact of %s %q: there is none", key.Kind, key.Namespace+"/"+key.Name)
	}
	a := *before
	a.Metadata = maps.Clone(metadata)
	s.set(key, &a)
	return &a, nil
}

// fileName is what the name of a stored file may be, so that it can stand in a path and in a URL.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$`)

// PutFile stores one file as it is, such as a chart or a copied layer; name is its name for clients
// downloads it: letters, digits and "._+-". The store keeps data; the caller must not change it.
func (s *Store) PutFile(key Key, revision, name string, data []byte, metadata map[string]string, now time.Time) (*Artifact, error) {
	if !fileName.MatchString(name) {
		return nil, fmt.Errorf("storing a file of %s %q: %q is not a file name", key.Kind, key.Namespace+"/"+key.Name, name)
	}
	keep := keeper{dir: s.SpillDir()}
	f, err := keep.file(name, 0o644, int64(len(data)), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	a := &Artifact{Revision: revision, Metadata: maps.Clone(metadata), LastUpdate: now}
	a.setFile(f, keep)
	return s.put(key, a)
}

func (s *Store) put(key Key, a *Artifact) (*Artifact, error) {
	dir, err := key.dir()
	if err != nil {
		return nil, err
	}
	if err := s.write(a, dir); err != nil {
		return nil, fmt.Errorf("storing an artifact of %s: %w", dir, err)
	}
	s.set(key, a)
	s.tidy(a)
	return a, nil
}

// Load reads back what an earlier process stored, a tree or a file; one that does not have the digest
// is an error.
func (s *Store) Load(key Key, revision, digest string) (*Artifact, error) {
	return s.LoadWith(key, revision, digest, nil)
}

// LoadWith is Load for an artifact with metadata.
func (s *Store) LoadWith(key Key, revision, digest string, metadata map[string]string) (*Artifact, error) {
	dir, err := key.dir()
	if err != nil {
		return nil, err
	}
	a := &Artifact{Revision: revision, Digest: digest, Metadata: maps.Clone(metadata)}
	if err := s.read(a, dir); err != nil {
		return nil, fmt.Errorf("loading revision %q of %s: %w", revision, dir, err)
	}
	s.set(key, a)
	return a, nil
}

// Delete forgets a source and deletes its archives.
func (s *Store) Delete(key Key) error {
	dir, err := key.dir()
	if err != nil {
		return err
	}
	s.set(key, nil)
	if err := os.RemoveAll(filepath.Join(s.dir, filepath.FromSlash(dir))); err != nil {
		return fmt.Errorf("deleting the artifacts of %s: %w", dir, err)
	}
	return nil
}

// set makes a the artifact of a source, or none, and tells those who listen.
func (s *Store) set(key Key, a *Artifact) {
	s.mu.Lock()
	s.artifacts[key] = a
	if a == nil {
		delete(s.artifacts, key)
	}
	listeners := s.listeners
	s.mu.Unlock()
	for _, f := range listeners {
		f(key)
	}
}
