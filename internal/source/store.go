package source

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Key names the object that declares a source.
type Key struct{ Kind, Namespace, Name string }

// keyPart is what a part of a key may be, so that it is one element of a path.
var keyPart = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// dir is the directory of a source within the store, separated by slashes.
func (k Key) dir() (string, error) {
	kind := strings.ToLower(k.Kind)
	for _, part := range []string{kind, k.Namespace, k.Name} {
		if !keyPart.MatchString(part) {
			return "", fmt.Errorf("storing %s %q: %q is no name of an object", k.Kind, k.Namespace+"/"+k.Name, part)
		}
	}
	return path.Join(kind, k.Namespace, k.Name), nil
}

// Artifact is what a source gave last.
type Artifact struct {
	Revision string
	// Digest is "sha256:" and the digest of the tar.gz, Size its number of bytes.
	Digest string
	Size   int64
	// Path is that of the tar.gz within the store, URL where it can be downloaded.
	Path, URL  string
	LastUpdate time.Time
	Tree       *Tree
}

// Store keeps the artifacts of sources, in memory and as archives on disk. It is safe for
// concurrent use.
type Store struct {
	dir, base string
	// secret makes the names of archives: who may not read an artifact's URL cannot guess it.
	secret []byte

	mu        sync.RWMutex
	artifacts map[Key]*Artifact
	listeners []func(Key)
}

// NewStore returns a store in dir whose archives can be downloaded below the URL base.
func NewStore(dir, base string) (*Store, error) {
	s := &Store{dir: dir, base: strings.TrimSuffix(base, "/"), artifacts: map[Key]*Artifact{}}
	if err := os.MkdirAll(s.SpillDir(), 0o700); err != nil {
		return nil, fmt.Errorf("making the artifact store: %w", err)
	}
	var err error
	if s.secret, err = readSecret(filepath.Join(dir, "secret")); err != nil {
		return nil, fmt.Errorf("making the artifact store: %w", err)
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

// Put stores a new artifact. The archive of the one before stays for downloads that are under way.
func (s *Store) Put(key Key, revision string, tree *Tree, now time.Time) (*Artifact, error) {
	dir, err := key.dir()
	if err != nil {
		return nil, err
	}
	a := &Artifact{Revision: revision, Tree: tree, LastUpdate: now}
	if err := s.write(a, dir); err != nil {
		return nil, fmt.Errorf("storing an artifact of %s: %w", dir, err)
	}
	s.set(key, a)
	s.tidy(a)
	return a, nil
}

// Load reads an archive back that an earlier process stored; one that does not have the digest is
// an error.
func (s *Store) Load(key Key, revision, digest string) (*Artifact, error) {
	dir, err := key.dir()
	if err != nil {
		return nil, err
	}
	a := &Artifact{Revision: revision, Digest: digest}
	s.name(a, dir)
	if err := s.read(a); err != nil {
		return nil, fmt.Errorf("loading %s: %w", a.Path, err)
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
