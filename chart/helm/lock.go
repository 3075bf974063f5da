package helm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"sigs.k8s.io/yaml"
)

const (
	lockName = "charts.lock"
	lockHead = "# The Helm charts of this module with their digests. Written by headgate; commit it. HEADGATE_CHARTS=update resolves versions again.\n"
)

// lock is the lock file.
type lock struct {
	Charts []entry `json:"charts"`
}

// entry is what a reference led to.
type entry struct {
	reference `json:",inline"`
	Version   string `json:"version"`
	Digest    string `json:"digest"`
}

func entryOf(ref reference, version string, data []byte) entry {
	ref.login = nil
	return entry{reference: ref, Version: version, Digest: digestOf(data)}
}

var isDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// readLock reads a lock file; one that does not exist is empty.
func readLock(name string) (lock, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the description says which file
	if errors.Is(err, os.ErrNotExist) {
		return lock{}, nil
	}
	var l lock
	if err == nil {
		err = yaml.UnmarshalStrict(data, &l)
	}
	if err != nil {
		return lock{}, fmt.Errorf("reading %s: %w; restore it from Git, or remove it", name, err)
	}
	for _, e := range l.Charts {
		if !isDigest.MatchString(e.Digest) {
			return lock{}, fmt.Errorf("reading %s: %s has the digest %q, which is none; restore the file from Git", name, e.reference, e.Digest)
		}
	}
	return l, nil
}

// find is the entry of a reference.
func (l lock) find(ref reference) (entry, bool) {
	for _, e := range l.Charts {
		if e.same(ref) && e.Requested == ref.Requested {
			return e, true
		}
	}
	return entry{}, false
}

// version is an entry of a version of a chart, whatever was requested.
func (l lock) version(ref reference, version string) (entry, bool) {
	for _, e := range l.Charts {
		if e.same(ref) && e.Version == version {
			return e, true
		}
	}
	return entry{}, false
}

func (r reference) same(other reference) bool {
	return r.Repository == other.Repository && r.Chart == other.Chart
}

// with is the lock file with an entry more, or another one instead.
func (l lock) with(e entry) lock {
	all := slices.DeleteFunc(slices.Clone(l.Charts), func(old entry) bool { return old.same(e.reference) && old.Requested == e.Requested })
	all = append(all, e)
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Chart, b.Chart), cmp.Compare(a.Requested, b.Requested))
	})
	return lock{all}
}

// write writes the lock file, unless it says the same.
func (l lock) write(name string) error {
	data, err := yaml.Marshal(l)
	if err != nil {
		return err
	}
	data = append([]byte(lockHead), data...)
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) { //nolint:gosec // see above
		return nil
	}
	if err := replace(name, data); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	return nil
}
