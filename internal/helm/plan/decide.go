package plan

import (
	"fmt"
	"time"
)

// Action is what is to be done.
type Action string

// The actions.
const (
	// Done does nothing: the release is as declared.
	Done Action = "done"
	// Wait does nothing before Step.After.
	Wait Action = "wait"
	// Stalled does nothing until a user acts: Step.Stalled is why.
	Stalled Action = "stalled"
	// Install installs the release.
	Install Action = "install"
	// Upgrade upgrades the release.
	Upgrade Action = "upgrade"
	// Unlock marks the last revision as failed, whose action never ended.
	Unlock Action = "unlock"
	// Test runs the tests.
	Test Action = "test"
	// RollBack goes back to revision Step.Version.
	RollBack Action = "rollback"
	// Remediate uninstalls a release that failed.
	Remediate Action = "uninstall"
	// Move uninstalls the release that was recorded, Step.Old, since another one is declared now.
	Move Action = "move"
	// CorrectDrift brings objects back to the manifest.
	CorrectDrift Action = "correct-drift"
)

// Status is the state in which a release is found.
type Status string

// The states, by the names of Flux's helm-controller and in its sense; Moved is ours.
const (
	Absent    Status = "Absent"
	Locked    Status = "Locked"
	Unmanaged Status = "Unmanaged"
	OutOfSync Status = "OutOfSync"
	Untested  Status = "Untested"
	Broken    Status = "Failed"
	Drifted   Status = "Drifted"
	InSync    Status = "InSync"
	Moved     Status = "Moved"
)

// Reasons of a release that is stalled.
const (
	RetriesExceeded       = "RetriesExceeded"
	MissingRollbackTarget = "MissingRollbackTarget"
	ReinstallRefused      = "ReinstallRefused"
)

// Step is what is to be done next, and why.
type Step struct {
	Action Action
	// Status is the state that was found.
	Status Status
	// Reason is why, for a person, in one line.
	Reason string
	// Stalled is the reason of a stalled release.
	Stalled string
	// Version is the revision to go back to.
	Version int
	// Old is the release to uninstall, and OldStorage where its records are.
	Old        Snapshot
	OldStorage string
	// After is how long to wait.
	After time.Duration
	// Reset is why failures are to be forgotten before the action; empty when they are not.
	Reset string
	// Forget has the recorded history dropped before the action: it is not of this release.
	Forget bool
}

// Decide returns the next step of a release.
func Decide(s State) Step {
	reset := s.mustReset()
	if reset != "" {
		s.Recorded.Failures, s.Recorded.InstallFailures, s.Recorded.UpgradeFailures = 0, 0, 0
		s.Recorded.SinceFailure = 0
	}
	step, moved := s.move()
	if !moved {
		status, reason := s.observe(reset)
		step = s.act(status, reason)
		step.Status = status
	}
	step.Reset = reset
	return step
}

// NeedsDrift reports whether the decision depends on whether the release drifted, which costs requests
// to find out.
func NeedsDrift(s State) bool {
	if s.Declared.Drift != DriftEnabled && s.Declared.Drift != DriftWarn {
		return false
	}
	s.Drifted = true
	return Decide(s).Status == Drifted
}

// mustReset reports why earlier failures no longer count: what is declared is not what failed.
func (s *State) mustReset() string {
	d, r := s.Declared, s.Recorded
	switch {
	case d.Reset:
		return "a reset was requested"
	case r.LastAction == "":
		return ""
	case r.Generation != d.Generation:
		return "the declaration changed"
	case r.ChartVersion != d.ChartVersion:
		return fmt.Sprintf("the chart version changed from %s to %s", r.ChartVersion, d.ChartVersion)
	case r.OCIDigest != d.OCIDigest:
		return "the digest of the chart changed"
	case r.ConfigDigest != d.ConfigDigest:
		return "the values changed"
	}
	return ""
}

// move is the step for a release that is declared elsewhere, under another name or from another chart
// than the one that was recorded.
func (s *State) move() (Step, bool) {
	if s.Recorded.StorageNamespace == "" || len(s.Recorded.History) == 0 {
		return Step{}, false
	}
	d, old := s.Declared, s.Recorded.History[0]
	var what, from, to string
	switch {
	case d.StorageNamespace != s.Recorded.StorageNamespace:
		what, from, to = "storage namespace", s.Recorded.StorageNamespace, d.StorageNamespace
	case d.Namespace != old.Namespace:
		what, from, to = "namespace", old.Namespace, d.Namespace
	case d.Name != old.Name:
		what, from, to = "name", old.Name, d.Name
	case d.ChartName != old.ChartName && !d.ChartNameInPlace:
		what, from, to = "chart", old.ChartName, d.ChartName
	default:
		return Step{}, false
	}
	changed := fmt.Sprintf("the %s of the release changed from %q to %q", what, from, to)
	step := Step{
		Action: Move, Status: Moved, Old: old, OldStorage: s.Recorded.StorageNamespace,
		Reason: fmt.Sprintf("%s: %s/%s is uninstalled and reinstalled", changed, old.Namespace, old.Name),
	}
	if !d.AllowReinstall {
		step.Action, step.Stalled = Stalled, ReinstallRefused
		step.Reason = hinted(fmt.Sprintf("%s, which would uninstall %s/%s with all its objects", changed, old.Namespace, old.Name), d.HowToAllow)
	}
	return step, true
}

// observe names the state of a release.
func (s *State) observe(reset string) (Status, string) {
	if len(s.Storage) == 0 {
		return Absent, "no release in the storage"
	}
	last := s.Storage[0]
	switch last.Status {
	case PendingInstall, PendingUpgrade, PendingRollback, Uninstalling, "unknown":
		return Locked, fmt.Sprintf("revision %d is %s, and no action is in progress", last.Version, last.Status)
	case Uninstalled:
		return Absent, "the release in the storage is uninstalled"
	}
	if len(s.Recorded.History) == 0 {
		return Unmanaged, fmt.Sprintf("revision %d in the storage was not created by this HelmRelease", last.Version)
	}
	recorded := s.Recorded.History[0]
	if !recorded.same(last) {
		return Unmanaged, fmt.Sprintf("revision %d in the storage differs from the recorded revision %d", last.Version, recorded.Version)
	}
	if last.Status == Failed {
		return Broken, fmt.Sprintf("revision %d failed", last.Version)
	}
	return s.deployed(recorded, reset)
}

// deployed names the state of a release that was deployed.
func (s *State) deployed(cur Snapshot, reset string) (Status, string) {
	d := s.Declared
	switch {
	case cur.ChartName != d.ChartName || cur.ChartVersion != d.ChartVersion:
		return OutOfSync, fmt.Sprintf("the chart is %s@%s and not %s@%s", d.ChartName, d.ChartVersion, cur.ChartName, cur.ChartVersion)
	case cur.ConfigDigest != d.ConfigDigest:
		return OutOfSync, "the values changed"
	case reset != "" && d.PostRenderDigest != s.Recorded.PostRenderDigest:
		// After an attempt the digest is recorded when it succeeds only; before that it would differ
		// for ever from a release that was rolled back to.
		return OutOfSync, "the post-renderers changed"
	case d.Test && !cur.Tested():
		return Untested, fmt.Sprintf("revision %d was not tested", cur.Version)
	case d.Test && cur.TestsFailed() && s.active() != nil && !s.ignoreTests():
		return Broken, fmt.Sprintf("a test of revision %d failed", cur.Version)
	case s.Drifted && (d.Drift == DriftEnabled || d.Drift == DriftWarn):
		return Drifted, "objects differ from the manifest of the release"
	}
	return InSync, fmt.Sprintf("revision %d is as declared", cur.Version)
}

// act returns what is to be done in a state.
func (s *State) act(status Status, reason string) Step {
	force := s.Declared.Force
	switch status {
	case Locked:
		return Step{Action: Unlock, Reason: reason}
	case Absent:
		step := s.unlessExhausted(Install, s.Declared.Install, s.Recorded.InstallFailures, reason)
		// Revisions start over.
		step.Forget = step.Action == Install && len(s.Recorded.History) > 0
		return step
	case Unmanaged:
		return Step{Action: Upgrade, Reason: reason, Forget: true}
	case OutOfSync:
		return s.unlessExhausted(Upgrade, s.Declared.Upgrade, s.Recorded.UpgradeFailures, reason)
	case Untested:
		return Step{Action: Test, Reason: reason}
	case Broken:
		return s.remediate(reason)
	case Drifted:
		if s.Declared.Drift == DriftEnabled {
			return Step{Action: CorrectDrift, Reason: reason}
		}
	case InSync:
		if force {
			return Step{Action: Upgrade, Reason: "an upgrade was requested"}
		}
	}
	return Step{Action: Done, Reason: reason}
}

// unlessExhausted is the step for an action that may have been tried too often.
func (s *State) unlessExhausted(a Action, r Remediation, failures int64, reason string) Step {
	switch {
	case s.Declared.Force:
		return Step{Action: a, Reason: reason + ", and it was requested"}
	case r.exhausted(failures):
		return s.exceeded(a, failures)
	case r.RetryOnFailure && failures > 0 && s.Recorded.SinceFailure < r.RetryInterval:
		return s.wait(r, reason)
	}
	return Step{Action: a, Reason: reason}
}

func (s *State) wait(r Remediation, reason string) Step {
	return Step{
		Action: Wait, After: r.RetryInterval - s.Recorded.SinceFailure,
		Reason: fmt.Sprintf("%s; retrying %s after the last failure", reason, r.RetryInterval),
	}
}

func (s *State) exceeded(a Action, failures int64) Step {
	reason := fmt.Sprintf("Failed to %s after %d attempt(s)", a, failures)
	if s.Recorded.Cause != "" {
		reason += ": " + s.Recorded.Cause
	}
	return Step{Action: Stalled, Stalled: RetriesExceeded, Reason: hinted(reason, s.Declared.HowToReset)}
}

// remediate is the step for a release that failed.
func (s *State) remediate(reason string) Step {
	r := s.active()
	switch {
	case r == nil:
		return Step{Action: Upgrade, Reason: reason + ", and no remediation is configured"}
	case s.failures() <= 0:
		return Step{Action: Upgrade, Reason: reason + " under other conditions"}
	case s.Declared.Force:
		return Step{Action: Upgrade, Reason: reason + ", and an upgrade was requested"}
	case r.RetryOnFailure && s.Recorded.SinceFailure < r.RetryInterval:
		return s.wait(*r, reason)
	case r.RetryOnFailure:
		return Step{Action: Upgrade, Reason: reason + " and is retried"}
	case r.exhausted(s.failures()) && !r.RemediateLast:
		return s.exceeded(s.Recorded.LastAction, s.failures())
	case r.Strategy == ByUninstall:
		return Step{Action: Remediate, Reason: reason}
	}
	return s.rollBack(reason, r.IgnoreTests)
}

// rollBack is the step for a release that is to go back to an earlier revision.
func (s *State) rollBack(reason string, ignoreTests bool) Step {
	previous, ok := Previous(Truncate(s.Recorded.History, ignoreTests), ignoreTests)
	if !ok {
		return Step{
			Action: Stalled, Stalled: MissingRollbackTarget,
			Reason: hinted(reason+", and there is no previous revision to roll back to", s.Declared.HowToReset),
		}
	}
	for _, stored := range s.Storage {
		if stored.Version == previous.Version && stored.Name == previous.Name && previous.same(stored) {
			return Step{Action: RollBack, Version: previous.Version, Reason: fmt.Sprintf("%s; revision %d succeeded", reason, previous.Version)}
		}
	}
	return Step{Action: Upgrade, Reason: fmt.Sprintf("%s, and revision %d in the storage is missing or was changed", reason, previous.Version)}
}

// hinted adds what a person can do.
func hinted(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}
