package helm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mode says what is done about charts that are not locked, or not in the cache.
type Mode string

const (
	// Missing fetches and locks what is not locked, and fetches what is locked and not in the cache.
	Missing Mode = "missing"
	// Update resolves versions again, and replaces what the lock file says.
	Update Mode = "update"
	// Locked refuses what is not locked: for continuous integration.
	Locked Mode = "locked"
	// Offline refuses what is not locked, or not in the cache.
	Offline Mode = "offline"
)

// The environment variables of a Store whose fields are empty.
const (
	modeVariable  = "HEADGATE_CHARTS"
	cacheVariable = "HEADGATE_CHARTS_CACHE"
)

// Store is where archives of charts are kept. The zero value is the cache of the user, and charts.lock beside the go.mod of the working
// directory.
type Store struct {
	// Cache is a directory; $HEADGATE_CHARTS_CACHE, else headgate/charts in that of the user. Its files have the names of their digests.
	Cache string
	// Lock is the path of the lock file.
	Lock string
	// Mode is $HEADGATE_CHARTS, else Missing.
	Mode Mode
}

// reference is a chart of a repository or a registry.
type reference struct {
	Repository string `json:"repository"`
	Chart      string `json:"chart"`
	Requested  string `json:"requested,omitempty"`

	login *Login
}

func (r reference) String() string { return r.Repository + "/" + r.Chart }

// settled is a Store whose fields say everything.
func (s Store) settled() (Store, error) {
	s.Mode = cmp.Or(s.Mode, Mode(os.Getenv(modeVariable)), Missing)
	switch s.Mode {
	case Missing, Update, Locked, Offline:
	default:
		return s, fmt.Errorf("%s is %q; use missing, update, locked or offline", modeVariable, s.Mode)
	}
	if s.Cache = cmp.Or(s.Cache, os.Getenv(cacheVariable)); s.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return s, fmt.Errorf("searching for the cache of charts: %w; set %s", err, cacheVariable)
		}
		s.Cache = filepath.Join(dir, "headgate", "charts")
	}
	if s.Lock == "" {
		dir, err := os.Getwd()
		if err != nil {
			return s, err
		}
		s.Lock = filepath.Join(moduleOf(dir), lockName)
	}
	return s, nil
}

// moduleOf is the directory with the go.mod around a directory, and the directory itself if there is none.
func moduleOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// resolve is the archive of a chart.
func (s Store) resolve(ref reference) ([]byte, error) {
	s, err := s.settled()
	if err != nil {
		return nil, err
	}
	locked, err := readLock(s.Lock)
	if err != nil {
		return nil, err
	}
	entry, known := locked.find(ref)
	switch {
	case known && s.Mode != Update:
		return s.known(ref, entry)
	case s.Mode == Locked || s.Mode == Offline:
		return nil, fmt.Errorf("version %q is not in %s, and %s is %s; run once with %s=missing, and commit the file", ref.Requested, s.Lock, modeVariable, s.Mode, modeVariable)
	}
	version, data, err := fetch(ref)
	if err != nil {
		return nil, err
	}
	entry = entryOf(ref, version, data)
	if other, same := locked.version(ref, version); same && other.Digest != entry.Digest && s.Mode != Update {
		return nil, s.changed(other, entry.Digest)
	}
	if err := s.keep(entry.Digest, data); err != nil {
		return nil, err
	}
	return data, locked.with(entry).write(s.Lock)
}

// known is the archive of a chart that is locked.
func (s Store) known(ref reference, e entry) ([]byte, error) {
	data, err := os.ReadFile(s.path(e.Digest))
	switch {
	case err == nil && digestOf(data) == e.Digest:
		return data, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("reading the cache of charts: %w", err)
	case s.Mode == Offline:
		return nil, fmt.Errorf("version %s is not in the cache %s, and %s is offline; run once with %s=locked", e.Version, s.Cache, modeVariable, modeVariable)
	}
	ref.Requested = e.Version
	_, data, err = fetch(ref)
	if err != nil {
		return nil, err
	}
	if got := digestOf(data); got != e.Digest {
		return nil, s.changed(e, got)
	}
	return data, s.keep(e.Digest, data)
}

// changed says that a version has another archive than it had.
func (s Store) changed(e entry, got string) error {
	return fmt.Errorf("version %s has the digest %s, and %s says %s: the archive was replaced; if that is meant, run with %s=update", e.Version, got, s.Lock, e.Digest, modeVariable)
}

// path is the file of an archive in the cache.
func (s Store) path(digest string) string {
	return filepath.Join(s.Cache, strings.ReplaceAll(filepath.Base(digest), ":", "-")+".tgz")
}

// keep puts an archive into the cache.
func (s Store) keep(digest string, data []byte) error {
	if err := replace(s.path(digest), data); err != nil {
		return fmt.Errorf("writing the cache of charts: %w; set %s", err, cacheVariable)
	}
	return nil
}

// replace writes a file so that readers see all of it, or none.
func replace(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = cmp.Or(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
