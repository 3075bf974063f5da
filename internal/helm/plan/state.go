package plan

import "time"

// State is the input of Decide.
type State struct {
	Declared Declared
	Recorded Recorded
	// Storage are the revisions that Helm's storage holds under the declared name in the declared
	// storage namespace, the newest first.
	Storage []Snapshot
	// Drifted reports that objects of the release differ from its manifest. It is computed when
	// everything else is in order only, see NeedsDrift.
	Drifted bool
}

// Declared is what the owner of a release wants.
type Declared struct {
	// Name is the name of the release, Namespace where its objects go, StorageNamespace where its
	// records are.
	Name, Namespace, StorageNamespace string
	ChartName, ChartVersion           string
	// ConfigDigest is that of the composed values.
	ConfigDigest string
	// OCIDigest is that of the artifact of the chart, empty when it is not one.
	OCIDigest string
	// PostRenderDigest is that of everything that changes rendered objects: post-renderers, common
	// labels and annotations.
	PostRenderDigest string
	// Generation is that of the declaration.
	Generation int64
	// Install and Upgrade say what happens after a failure.
	Install, Upgrade Remediation
	// Test has the tests run after an install and an upgrade.
	Test bool
	// Drift says what happens when the cluster differs.
	Drift DriftMode
	// Force upgrades the release once, whatever its state, on request.
	Force bool
	// Reset resets failures, on request.
	Reset bool
	// ChartNameInPlace has a chart of another name upgrade the release, not replace it.
	ChartNameInPlace bool
	// AllowReinstall lets a release be uninstalled because its name, a namespace or its chart became
	// another one.
	AllowReinstall bool
	// HowToReset and HowToAllow tell a person what to do, at the end of a reason: "annotate it
	// with ...".
	HowToReset, HowToAllow string
}

// DriftMode says what happens when the cluster differs from the manifest.
type DriftMode string

// The modes. The zero value is DriftDisabled.
const (
	DriftDisabled DriftMode = "disabled"
	DriftWarn     DriftMode = "warn"
	DriftEnabled  DriftMode = "enabled"
)

// Strategy says how a failed release is remediated.
type Strategy string

// The strategies.
const (
	ByRollback  Strategy = "rollback"
	ByUninstall Strategy = "uninstall"
)

// Remediation says what happens after an action failed.
type Remediation struct {
	// Strategy is how a failed release is remediated; installs are always uninstalled.
	Strategy Strategy
	// Retries is how many times an action is tried again, for ever when it is negative.
	Retries int
	// RemediateLast remediates after the last retry too.
	RemediateLast bool
	// IgnoreTests lets a release be whose tests failed.
	IgnoreTests bool
	// RetryOnFailure tries again every RetryInterval, without end and without remediation. Nothing
	// above counts then, but IgnoreTests.
	RetryOnFailure bool
	RetryInterval  time.Duration
}

// exhausted reports whether there is no retry left after a number of failures.
func (r Remediation) exhausted(failures int64) bool {
	return !r.RetryOnFailure && r.Retries >= 0 && failures > int64(r.Retries)
}

// Recorded is what was recorded of the release before.
type Recorded struct {
	// History are the revisions that were made for this declaration, the newest first.
	History          []Snapshot
	StorageNamespace string
	// Failures are all failures since the last success; InstallFailures and UpgradeFailures those
	// that count towards retries.
	Failures, InstallFailures, UpgradeFailures int64
	// LastAction is the last action that was attempted, Install or Upgrade.
	LastAction Action
	// Generation, ChartVersion, ConfigDigest and OCIDigest are those of the last attempt.
	Generation   int64
	ChartVersion string
	ConfigDigest string
	OCIDigest    string
	// PostRenderDigest is that of the last success.
	PostRenderDigest string
	// SinceFailure is how long ago the last action failed, and Cause why; it may be empty.
	SinceFailure time.Duration
	Cause        string
}

// active is the remediation after the last action, nil when none was attempted.
func (s *State) active() *Remediation {
	switch s.Recorded.LastAction {
	case Install:
		r := s.Declared.Install
		r.Strategy = ByUninstall
		return &r
	case Upgrade:
		r := s.Declared.Upgrade
		if r.Strategy == "" {
			r.Strategy = ByRollback
		}
		return &r
	}
	return nil
}

// failures are those that count towards the retries of the last action.
func (s *State) failures() int64 {
	if s.Recorded.LastAction == Install {
		return s.Recorded.InstallFailures
	}
	return s.Recorded.UpgradeFailures
}

// ignoreTests reports whether failed tests count for nothing.
func (s *State) ignoreTests() bool {
	r := s.active()
	return r != nil && r.IgnoreTests
}
