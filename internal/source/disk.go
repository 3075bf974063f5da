package source

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// keepFiles is how many archives of a source are kept, for downloads in progress.
	keepFiles = 2
	// tempPrefix begins the names of what is being written.
	tempPrefix = ".new-"
	// grace is how long what is being written is left alone: another process may be at it.
	grace = time.Hour
	// secretBytes is the length of the store's secret.
	secretBytes = 32
)

// readSecret returns what an earlier process put into a file, or puts a new secret there.
func readSecret(name string) ([]byte, error) {
	fresh := make([]byte, secretBytes)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), tempPrefix)
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(fresh)
	if err = errors.Join(err, temp.Close()); err != nil {
		return nil, err
	}
	// A link does not replace the secret that another process made first.
	if err := os.Link(temp.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	secret, err := os.ReadFile(name)
	if err == nil && len(secret) != secretBytes {
		err = fmt.Errorf("file %q is damaged; delete it", name)
	}
	return secret, err
}

// treeSuffix ends the names of archives of trees. What follows the digits in the name of a file is its
// own name, and begins with another character.
const treeSuffix = ".tar.gz"

// name gives an artifact the names that belong to its revision and its digest: what is at a name never
// changes, also when the content does at the same revision.
func (s *Store) name(a *Artifact, dir string) {
	suffix := treeSuffix
	if a.File != nil {
		suffix = "-" + a.File.Path
	}
	a.Path = dir + "/" + s.stem(a, dir) + suffix
	a.URL = s.base + "/" + a.Path
}

// stem is the start of an artifact's name, which cannot be guessed.
func (s *Store) stem(a *Artifact, dir string) string {
	mac := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(mac, "%s\x00%s\x00%s", dir, a.Revision, a.Digest)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func (s *Store) file(a *Artifact) string { return filepath.Join(s.dir, filepath.FromSlash(a.Path)) }

// write writes what is served so that a reader sees all of it or nothing.
func (s *Store) write(a *Artifact, dir string) error {
	place := filepath.Join(s.dir, filepath.FromSlash(dir))
	if err := os.MkdirAll(place, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(place, tempPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if a.File != nil {
		err = copyFile(a, temp)
	} else {
		a.Digest, a.Size, err = Pack(a.Tree, temp)
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// The time tells a later process when the artifact was made, and tidy which one is the oldest.
	if err := os.Chtimes(temp.Name(), a.LastUpdate, a.LastUpdate); err != nil {
		return err
	}
	s.name(a, dir)
	return os.Rename(temp.Name(), s.file(a))
}

func copyFile(a *Artifact, w io.Writer) error {
	data, err := a.File.Read()
	if err != nil {
		return err
	}
	a.Digest, a.Size = "sha256:"+a.File.Digest, a.File.Size
	_, err = w.Write(data)
	return err
}

// read reads what is served of an artifact, which must have its digest, and names it.
func (s *Store) read(a *Artifact, dir string) error {
	place := filepath.Join(s.dir, filepath.FromSlash(dir))
	stem := s.stem(a, dir)
	name := filepath.Join(place, stem+treeSuffix)
	// The digits of a stem mean nothing in a pattern.
	if named, err := filepath.Glob(filepath.Join(escapeGlob(place), stem+"-*")); err == nil && len(named) > 0 {
		name = named[0]
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	if got := "sha256:" + hex.EncodeToString(sum[:]); got != a.Digest {
		return fmt.Errorf("its digest is %s, want %s", got, a.Digest)
	}
	keep := keeper{dir: s.SpillDir()}
	own, isFile := strings.CutPrefix(filepath.Base(name), stem+"-")
	if isFile {
		var f *File
		if f, err = keep.file(own, 0o644, int64(len(data)), bytes.NewReader(data)); err == nil {
			a.setFile(f, keep)
		}
	} else {
		a.Tree, err = unpack(bytes.NewReader(data), DefaultLimits(), keep)
	}
	if err != nil {
		return err
	}
	s.name(a, dir)
	a.Size, a.LastUpdate = int64(len(data)), modified(name)
	return nil
}

// escapeGlob is a path as a pattern that only it matches.
func escapeGlob(name string) string {
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(name)
}

// tidy deletes the oldest archives of a source, but never that of its artifact.
func (s *Store) tidy(a *Artifact) {
	current := s.file(a)
	entries, err := filepath.Glob(filepath.Join(escapeGlob(filepath.Dir(current)), "*"))
	if err != nil {
		return
	}
	entries = slices.DeleteFunc(entries, func(name string) bool {
		return name == current || strings.HasPrefix(filepath.Base(name), tempPrefix)
	})
	slices.SortFunc(entries, func(a, b string) int { return modified(b).Compare(modified(a)) })
	for _, old := range entries[min(keepFiles-1, len(entries)):] {
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

// sweep deletes what a process that was killed has left behind.
func (s *Store) sweep() {
	left, err := filepath.Glob(filepath.Join(s.SpillDir(), tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, name := range left {
		if time.Since(modified(name)) > grace {
			_ = os.RemoveAll(name)
		}
	}
}

// archivePath is what ServeHTTP serves, and nothing else.
var archivePath = regexp.MustCompile(`^/[a-z0-9]+/[a-z0-9.-]+/[a-z0-9.-]+/[0-9a-f]{32}(\.tar\.gz|-[A-Za-z0-9][A-Za-z0-9._+-]{0,199})$`)

// ServeHTTP serves the archives at the paths that artifacts name.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are served", http.StatusMethodNotAllowed)
		return
	}
	if !archivePath.MatchString(r.URL.Path) || strings.Contains(r.URL.Path, "..") {
		http.NotFound(w, r)
		return
	}
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(r.URL.Path)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", contentType(r.URL.Path))
	http.ServeContent(w, r, "", modified(f.Name()), io.ReadSeeker(f))
}

func contentType(name string) string {
	switch {
	case strings.HasSuffix(name, treeSuffix), strings.HasSuffix(name, ".tgz"):
		return "application/gzip"
	case strings.HasSuffix(name, ".json"):
		return "application/json"
	default:
		return "application/octet-stream"
	}
}
