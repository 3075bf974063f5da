package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"
)

// Key names the object that declares a source.
type Key struct{ Kind, Namespace, Name string }

func (k Key) dir() string {
	return filepath.Join(strings.ToLower(k.Kind), k.Namespace, k.Name)
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

// keepFiles is how many archives of a source are kept, for downloads that are under way.
const keepFiles = 2

// Store keeps the artifacts of sources, in memory and as archives on disk. It is safe for
// concurrent use.
type Store struct {
	dir, base string

	mu        sync.RWMutex
	artifacts map[Key]*Artifact
}

// NewStore returns a store in dir whose archives can be downloaded below the URL base.
func NewStore(dir, base string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, "large"), 0o700); err != nil {
		return nil, fmt.Errorf("making the artifact store: %w", err)
	}
	return &Store{dir: dir, base: strings.TrimSuffix(base, "/"), artifacts: map[Key]*Artifact{}}, nil
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

// Put stores a new artifact.
func (s *Store) Put(key Key, revision string, tree *Tree, now time.Time) (*Artifact, error) {
	var archive bytes.Buffer
	digest, size, err := Pack(tree, &archive)
	if err != nil {
		return nil, err
	}
	a := s.artifact(key, revision)
	a.Digest, a.Size, a.Tree, a.LastUpdate = digest, size, tree, now
	file := filepath.Join(s.dir, filepath.FromSlash(a.Path))
	if err := writeFile(file, archive.Bytes()); err != nil {
		return nil, fmt.Errorf("storing %s: %w", a.Path, err)
	}
	s.mu.Lock()
	s.artifacts[key] = a
	s.mu.Unlock()
	s.tidy(filepath.Dir(file))
	return a, nil
}

func (s *Store) artifact(key Key, revision string) *Artifact {
	sum := sha256.Sum256([]byte(revision))
	p := filepath.ToSlash(filepath.Join(key.dir(), hex.EncodeToString(sum[:16])+".tar.gz"))
	return &Artifact{Revision: revision, Path: p, URL: s.base + "/" + p}
}

// writeFile writes a file so that a reader sees all of it or nothing.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// tidy deletes the oldest archives of a source.
func (s *Store) tidy(dir string) {
	entries, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err != nil || len(entries) <= keepFiles {
		return
	}
	sort.Slice(entries, func(i, j int) bool { return modified(entries[i]).After(modified(entries[j])) })
	for _, old := range entries[keepFiles:] {
		_ = os.Remove(old)
	}
}

func modified(name string) time.Time {
	info, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Load reads an archive back that an earlier process stored; one that does not have the digest is
// an error.
func (s *Store) Load(key Key, revision, digest string) (*Artifact, error) {
	a := s.artifact(key, revision)
	file := filepath.Join(s.dir, filepath.FromSlash(a.Path))
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", a.Path, err)
	}
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != digest {
		return nil, fmt.Errorf("loading %s: its digest is %s, want %s", a.Path, got, digest)
	}
	tree, err := Unpack(bytes.NewReader(data), DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", a.Path, err)
	}
	a.Digest, a.Size, a.Tree, a.LastUpdate = digest, int64(len(data)), tree, modified(file)
	s.mu.Lock()
	s.artifacts[key] = a
	s.mu.Unlock()
	return a, nil
}

// Delete forgets a source and deletes its archives.
func (s *Store) Delete(key Key) error {
	s.mu.Lock()
	delete(s.artifacts, key)
	s.mu.Unlock()
	if err := os.RemoveAll(filepath.Join(s.dir, key.dir())); err != nil {
		return fmt.Errorf("deleting the artifacts of %s/%s: %w", key.Namespace, key.Name, err)
	}
	return nil
}

// archivePath is what ServeHTTP serves, and nothing else.
var archivePath = regexp.MustCompile(`^/[a-z]+/[a-z0-9.-]+/[a-z0-9.-]+/[0-9a-f]{32}\.tar\.gz$`)

// ServeHTTP serves the archives at the paths that artifacts name.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "only GET and HEAD are served", http.StatusMethodNotAllowed)
		return
	}
	if !archivePath.MatchString(r.URL.Path) || strings.Contains(r.URL.Path, "..") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	http.ServeFile(w, r, filepath.Join(s.dir, filepath.FromSlash(r.URL.Path)))
}
