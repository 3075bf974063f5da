// Package artifacts has the artifacts of workflows: a store of contents by their digests in a directory of this machine, contents from elsewhere, and
// how files and directories are packed and unpacked.
//
// A content belongs to the workflows that put it there, and only they get it: a digest that another one wrote into its spec opens nothing.
// It is deleted with the last of them. Contents are what programs wrote, as they wrote it: the files are readable by the user of this
// process alone, and are not encrypted. The package refuses archives that leave their directory, and more than its limits.
package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Limits bound one artifact.
type Limits struct {
	// Bytes is how large it is at most, packed and unpacked; Files is how many files it has at most.
	Bytes int64
	Files int
}

// DefaultLimits leave room for images of machines.
func DefaultLimits() Limits { return Limits{Bytes: 16 << 30, Files: 200_000} }

// ErrNone is returned for a content that the store does not have for a workflow.
var ErrNone = errors.New("the store of artifacts does not have it for this workflow")

const (
	// contents has the files, by their digests; holders has, for each workflow, empty files of the same names.
	contents = "contents"
	holders  = "holders"
	// fresh begins the names of what is being written.
	fresh     = ".new-"
	algorithm = "sha256:"
)

// Store is a directory with contents. It is safe for concurrent use, by one process at a time.
type Store struct {
	dir    string
	limits Limits
	// mu keeps a content from being deleted while another workflow is about to hold it.
	mu sync.Mutex
}

// OpenStore opens the store in a directory, and deletes what a killed process left in it.
func OpenStore(dir string, limits Limits) (*Store, error) {
	s := &Store{dir: dir, limits: limits}
	for _, part := range []string{contents, holders} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o700); err != nil {
			return nil, fmt.Errorf("opening the store of artifacts: %w", err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, contents))
	if err != nil {
		return nil, fmt.Errorf("opening the store of artifacts: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), fresh) || !s.held(entry.Name()) {
			os.Remove(filepath.Join(dir, contents, entry.Name()))
		}
	}
	return s, nil
}

// Put stores a content for a workflow.
func (s *Store) Put(owner types.UID, content io.Reader) (*v1alpha1.LocalArtifact, error) {
	place, err := s.placeOf(owner)
	if err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Join(s.dir, contents), fresh)
	if err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	defer os.Remove(temp.Name())
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(temp, sum), &bounded{from: content, left: s.limits.Bytes})
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	// The holder comes first: a content without one is deleted.
	if err := os.MkdirAll(place, 0o700); err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	if err := os.WriteFile(filepath.Join(place, digest), nil, 0o600); err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	if err := os.Rename(temp.Name(), filepath.Join(s.dir, contents, digest)); err != nil {
		return nil, fmt.Errorf("storing an artifact: %w", err)
	}
	return &v1alpha1.LocalArtifact{Digest: algorithm + digest, Size: size}, nil
}

// Get opens a content that a workflow has put there. A reader that comes to its end has read what the digest says, or gets an error.
func (s *Store) Get(owner types.UID, content v1alpha1.LocalArtifact) (io.ReadCloser, error) {
	place, err := s.placeOf(owner)
	if err != nil {
		return nil, err
	}
	digest, is := strings.CutPrefix(content.Digest, algorithm)
	if !is || !digits.MatchString(digest) {
		return nil, fmt.Errorf("reading an artifact: %q is not a digest", content.Digest)
	}
	if _, err := os.Stat(filepath.Join(place, digest)); err != nil {
		return nil, fmt.Errorf("reading artifact %s: %w", content.Digest, ErrNone)
	}
	f, err := os.Open(filepath.Join(s.dir, contents, digest))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("reading artifact %s: %w", content.Digest, err)
	}
	return &verified{File: f, sum: sha256.New(), want: digest}, nil
}

// Forget deletes what only a workflow holds that is gone.
func (s *Store) Forget(owner types.UID) error {
	place, err := s.placeOf(owner)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held, err := os.ReadDir(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.RemoveAll(place)
	}
	if err != nil {
		return fmt.Errorf("deleting artifacts: %w", err)
	}
	for _, entry := range held {
		if !s.held(entry.Name()) {
			os.Remove(filepath.Join(s.dir, contents, entry.Name()))
		}
	}
	return nil
}

// digits are those of a digest; identifier is what a UID looks like.
var (
	digits     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
)

// placeOf is where the names are of what a workflow holds.
func (s *Store) placeOf(owner types.UID) (string, error) {
	if !identifier.MatchString(string(owner)) {
		return "", fmt.Errorf("artifacts of a workflow: %q is not a UID", owner)
	}
	return filepath.Join(s.dir, holders, string(owner)), nil
}

// held reports whether any workflow holds a content.
func (s *Store) held(digest string) bool {
	found, err := fs.Glob(os.DirFS(filepath.Join(s.dir, holders)), "*/"+digest)
	return err != nil || len(found) > 0
}

// errLarge is a content that is larger than it may be.
var errLarge = errors.New("it is larger than an artifact may be")

// bounded reads so much and fails then.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, errLarge
	}
	return n, err
}

// verified fails at the end if what was read is something else.
type verified struct {
	*os.File
	sum  hash.Hash
	want string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.File.Read(p)
	v.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		return n, fmt.Errorf("artifact %s%s: the file has another content by now", algorithm, v.want)
	}
	return n, err
}

// SpillDir is where large files are kept while they are fetched.
func (s *Store) SpillDir() string { return filepath.Join(s.dir, contents) }
