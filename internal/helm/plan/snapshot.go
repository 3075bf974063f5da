// Package plan decides what a release of Helm needs next: from what is declared, what the storage of
// Helm holds and what was recorded, one step and the reason for it. It has no client and no clock, and
// does not know where a declaration comes from.
package plan

import (
	"slices"
	"time"
)

// Statuses of a release, by the names of Helm, which is their source.
const (
	Deployed        = "deployed"
	Superseded      = "superseded"
	Failed          = "failed"
	Uninstalled     = "uninstalled"
	Uninstalling    = "uninstalling"
	PendingInstall  = "pending-install"
	PendingUpgrade  = "pending-upgrade"
	PendingRollback = "pending-rollback"
)

// TestFailed is the phase of a test that failed, by its name in Helm.
const TestFailed = "Failed"

// Snapshot is what is known of one revision of a release.
type Snapshot struct {
	// Digest is that of the release as Flux's helm-controller digests it.
	Digest string
	// Name and Namespace are those of the release; Version is its revision, from 1.
	Name, Namespace string
	Version         int
	Status          string
	// Description is Helm's word on how it came about.
	Description                          string
	ChartName, ChartVersion, AppVersion  string
	ConfigDigest                         string
	FirstDeployed, LastDeployed, Deleted time.Time
	// TestHooks are the tests by name, nil while the revision was not tested.
	TestHooks map[string]TestHook
	// OCIDigest is that of the artifact that the chart came from, where it is known. Helm does not.
	OCIDigest string
}

// TestHook is the last run of a test.
type TestHook struct {
	// Phase is Unknown, Running, Succeeded or Failed; empty when the test did not run.
	Phase              string
	Started, Completed time.Time
}

// Tested reports whether the tests of the revision ran.
func (s Snapshot) Tested() bool { return s.TestHooks != nil }

// TestsFailed reports whether a test failed.
func (s Snapshot) TestsFailed() bool {
	for _, h := range s.TestHooks {
		if h.Phase == TestFailed {
			return true
		}
	}
	return false
}

// good reports whether one could go back to the revision.
func (s Snapshot) good(ignoreTests bool) bool {
	return (s.Status == Deployed || s.Status == Superseded) && (ignoreTests || !s.TestsFailed())
}

// same reports whether two snapshots are of the same state of the same revision. Digests may differ
// where the same release was written by another version of Helm, or holds numbers that JSON rounds;
// the time of deployment and the status tell it then, to the second, which is what statuses keep.
func (s Snapshot) same(o Snapshot) bool {
	if s.Digest != "" && s.Digest == o.Digest {
		return true
	}
	return s.Name == o.Name && s.Namespace == o.Namespace && s.Version == o.Version && s.Status == o.Status &&
		s.ChartName == o.ChartName && s.ChartVersion == o.ChartVersion &&
		!s.LastDeployed.IsZero() && s.LastDeployed.Unix() == o.LastDeployed.Unix()
}

// mostKept is how many snapshots are kept, or more when the one to go back to is older.
const mostKept = 5

// Observe brings recorded snapshots to what the storage holds, and adds one of an action that just
// ended. What Helm does not know, or not exactly, is kept of a revision: the digest of the values that
// were given, that its tests ran, where its chart came from. The newest revision is first.
func Observe(recorded, storage []Snapshot, latest *Snapshot) []Snapshot {
	out := slices.Clone(recorded)
	if latest != nil && latest.Version > 0 {
		at := slices.IndexFunc(out, func(s Snapshot) bool { return s.Version == latest.Version && s.Name == latest.Name })
		switch {
		case at < 0:
			out = append(out, *latest)
		case out[at].revisionOf(*latest):
			out[at] = out[at].refreshed(*latest)
		default:
			out[at] = *latest
		}
	}
	for i, s := range out {
		for _, stored := range storage {
			if s.revisionOf(stored) {
				out[i] = s.refreshed(stored)
			}
		}
	}
	slices.SortFunc(out, func(a, b Snapshot) int { return b.Version - a.Version })
	return out
}

// revisionOf reports whether two snapshots are of the same revision, in whatever state: numbers start
// over after an uninstall.
func (s Snapshot) revisionOf(o Snapshot) bool {
	return s.Name == o.Name && s.Namespace == o.Namespace && s.Version == o.Version && s.LastDeployed.Unix() == o.LastDeployed.Unix()
}

func (s Snapshot) refreshed(stored Snapshot) Snapshot {
	stored.ConfigDigest, stored.OCIDigest = s.ConfigDigest, s.OCIDigest
	if s.Tested() && !stored.Tested() {
		stored.TestHooks = s.TestHooks
	}
	if s.Status == Failed && stored.Status == Superseded {
		// Helm says so of every revision that another one followed. One that failed never becomes one
		// to go back to.
		stored.Status = Failed
	}
	return stored
}

// Truncate keeps the last five revisions, whatever the strategy of remediation, and all up to the one that one could go back to. The newest
// revision is first.
func Truncate(history []Snapshot, ignoreTests bool) []Snapshot {
	kept := min(len(history), mostKept)
	for i := 1; i < len(history); i++ {
		if history[i].good(ignoreTests) {
			kept = max(kept, i+1)
			break
		}
	}
	return slices.Clone(history[:kept])
}

// Previous is the revision to go back to from the first of the history.
func Previous(history []Snapshot, ignoreTests bool) (Snapshot, bool) {
	for i := 1; i < len(history); i++ {
		if history[i].good(ignoreTests) {
			return history[i], true
		}
	}
	return Snapshot{}, false
}
