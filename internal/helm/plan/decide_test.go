package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// revision is a snapshot of the release that inSync declares.
func revision(n int, status string) Snapshot {
	return Snapshot{
		Digest: "sha256:" + status + string(rune('0'+n)), Name: "web", Namespace: "apps", Version: n, Status: status,
		ChartName: "podinfo", ChartVersion: "1.0.0", ConfigDigest: "c1", LastDeployed: noon.Add(time.Duration(n) * time.Minute),
	}
}

func tested(s Snapshot, phase string) Snapshot {
	s.TestHooks = map[string]TestHook{"smoke": {Phase: phase, Started: noon}}
	return s
}

// inSync is a state in which nothing is to be done.
func inSync() State {
	return State{
		Declared: Declared{
			Name: "web", Namespace: "apps", StorageNamespace: "apps", ChartName: "podinfo", ChartVersion: "1.0.0",
			ConfigDigest: "c1", PostRenderDigest: "p1", Generation: 3,
			HowToReset: "annotate it to reset", HowToAllow: "annotate it to allow",
		},
		Recorded: Recorded{
			History: []Snapshot{revision(1, Deployed)}, StorageNamespace: "apps", LastAction: Install,
			Generation: 3, ChartVersion: "1.0.0", ConfigDigest: "c1", PostRenderDigest: "p1",
		},
		Storage: []Snapshot{revision(1, Deployed)},
	}
}

// failedInstall and failedUpgrade are states after one failure.
func failedInstall(s *State) {
	s.Recorded.History, s.Storage = []Snapshot{revision(1, Failed)}, []Snapshot{revision(1, Failed)}
	s.Recorded.Failures, s.Recorded.InstallFailures = 1, 1
}

func failedUpgrade(s *State) {
	s.Recorded.History = []Snapshot{revision(2, Failed), revision(1, Superseded)}
	s.Storage = []Snapshot{revision(2, Failed), revision(1, Superseded)}
	s.Recorded.LastAction, s.Recorded.Failures, s.Recorded.UpgradeFailures = Upgrade, 1, 1
}

func TestDecide(t *testing.T) {
	for name, tt := range map[string]struct {
		reason string
		change func(*State)
		want   Step
		says   string
	}{
		"in sync": {
			change: func(*State) {},
			want:   Step{Action: Done, Status: InSync}, says: "revision 1 is as declared",
		},
		"in sync, forced": {
			change: func(s *State) { s.Declared.Force = true },
			want:   Step{Action: Upgrade, Status: InSync}, says: "requested",
		},
		"absent": {
			change: func(s *State) { *s = State{Declared: s.Declared} },
			want:   Step{Action: Install, Status: Absent}, says: "no release",
		},
		"absent, uninstalled with its history kept": {
			change: func(s *State) {
				s.Recorded = Recorded{}
				s.Storage = []Snapshot{revision(1, Uninstalled)}
			},
			want: Step{Action: Install, Status: Absent}, says: "uninstalled",
		},
		"absent, uninstalled by remediation": {
			change: func(s *State) {
				failedInstall(s)
				s.Storage = nil
				s.Declared.Install.Retries = 1
			},
			want: Step{Action: Install, Status: Absent, Forget: true}, says: "no release",
		},
		"absent, out of retries": {
			reason: "the last remediation uninstalled it, and there is no retry left",
			change: func(s *State) {
				failedInstall(s)
				s.Storage = nil
			},
			want: Step{Action: Stalled, Status: Absent, Stalled: RetriesExceeded},
			says: "Failed to install after 1 attempt(s); annotate it to reset",
		},
		"absent, out of retries, with why": {
			reason: "what failed is what a person has to mend",
			change: func(s *State) {
				failedInstall(s)
				s.Storage, s.Recorded.Cause = nil, "Deployment/web: it is not ready"
			},
			want: Step{Action: Stalled, Status: Absent, Stalled: RetriesExceeded},
			says: "Failed to install after 1 attempt(s): Deployment/web: it is not ready; annotate it to reset",
		},
		"absent, out of retries, forced": {
			change: func(s *State) {
				failedInstall(s)
				s.Storage, s.Declared.Force = nil, true
			},
			want: Step{Action: Install, Status: Absent, Forget: true}, says: "requested",
		},
		"absent, retried for ever": {
			change: func(s *State) {
				failedInstall(s)
				s.Storage, s.Declared.Install.Retries, s.Recorded.InstallFailures = nil, -1, 900
			},
			want: Step{Action: Install, Status: Absent, Forget: true}, says: "no release",
		},
		"absent, retry on failure, too early": {
			change: func(s *State) {
				failedInstall(s)
				s.Storage = nil
				s.Declared.Install = Remediation{RetryOnFailure: true, RetryInterval: 5 * time.Minute}
				s.Recorded.SinceFailure = 2 * time.Minute
			},
			want: Step{Action: Wait, Status: Absent, After: 3 * time.Minute}, says: "retrying 5m0s after",
		},
		"locked by an install":  {change: locked(PendingInstall), want: Step{Action: Unlock, Status: Locked}, says: "pending-install"},
		"locked by an upgrade":  {change: locked(PendingUpgrade), want: Step{Action: Unlock, Status: Locked}, says: "pending-upgrade"},
		"locked by a rollback":  {change: locked(PendingRollback), want: Step{Action: Unlock, Status: Locked}, says: "pending-rollback"},
		"locked by a uninstall": {change: locked(Uninstalling), want: Step{Action: Unlock, Status: Locked}, says: "uninstalling"},
		"unmanaged, nothing recorded": {
			change: func(s *State) { s.Recorded = Recorded{} },
			want:   Step{Action: Upgrade, Status: Unmanaged, Forget: true}, says: "was not created by this HelmRelease",
		},
		"unmanaged, upgraded by hand": {
			change: func(s *State) { s.Storage = []Snapshot{revision(2, Deployed), revision(1, Superseded)} },
			want:   Step{Action: Upgrade, Status: Unmanaged, Forget: true}, says: "revision 2 in the storage differs from the recorded revision 1",
		},
		"managed, with the digest of another version of Helm": {
			change: func(s *State) { s.Recorded.History[0].Digest = "sha256:old" },
			want:   Step{Action: Done, Status: InSync}, says: "as declared",
		},
		"out of sync by version": {
			change: func(s *State) { s.Declared.ChartVersion = "1.1.0" },
			want:   Step{Action: Upgrade, Status: OutOfSync, Reset: "the chart version changed from 1.0.0 to 1.1.0"}, says: "podinfo@1.1.0 and not podinfo@1.0.0",
		},
		"out of sync by values": {
			change: func(s *State) { s.Declared.ConfigDigest = "c2" },
			want:   Step{Action: Upgrade, Status: OutOfSync, Reset: "the values changed"}, says: "the values changed",
		},
		"out of sync by post-renderers": {
			change: func(s *State) { s.Declared.PostRenderDigest, s.Declared.Generation = "p2", 4 },
			want:   Step{Action: Upgrade, Status: OutOfSync, Reset: "the declaration changed"}, says: "the post-renderers changed",
		},
		"post-renderers that were tried": {
			reason: "the release was rolled back: its post-renderers differ until an upgrade succeeds",
			change: func(s *State) { s.Declared.PostRenderDigest = "p2" },
			want:   Step{Action: Done, Status: InSync}, says: "as declared",
		},
		"out of sync by chart name, in place": {
			change: func(s *State) { s.Declared.ChartName, s.Declared.ChartNameInPlace = "other", true },
			want:   Step{Action: Upgrade, Status: OutOfSync}, says: "other@1.0.0",
		},
		"out of sync, rolled back, with a retry left": {
			change: func(s *State) { rolledBack(s, 1); s.Declared.Upgrade.Retries = 1 },
			want:   Step{Action: Upgrade, Status: OutOfSync}, says: "values changed",
		},
		"out of sync, rolled back, out of retries": {
			change: func(s *State) { rolledBack(s, 2); s.Declared.Upgrade.Retries = 1 },
			want:   Step{Action: Stalled, Status: OutOfSync, Stalled: RetriesExceeded},
			says:   "Failed to upgrade after 2 attempt(s); annotate it to reset",
		},
		"out of sync, rolled back, reset": {
			change: func(s *State) { rolledBack(s, 2); s.Declared.Reset = true },
			want:   Step{Action: Upgrade, Status: OutOfSync, Reset: "a reset was requested"}, says: "values changed",
		},
		"out of sync, rolled back, forced": {
			change: func(s *State) { rolledBack(s, 2); s.Declared.Force = true },
			want:   Step{Action: Upgrade, Status: OutOfSync}, says: "requested",
		},
		"untested": {
			change: func(s *State) { s.Declared.Test = true },
			want:   Step{Action: Test, Status: Untested}, says: "revision 1 was not tested",
		},
		"tested, without any tests": {
			change: func(s *State) {
				s.Declared.Test = true
				s.Recorded.History[0].TestHooks = map[string]TestHook{}
			},
			want: Step{Action: Done, Status: InSync}, says: "as declared",
		},
		"a test failed": {
			change: func(s *State) {
				s.Declared.Test = true
				s.Recorded.History[0] = tested(s.Recorded.History[0], TestFailed)
				s.Recorded.InstallFailures = 1
				s.Declared.Install.Retries = 1
			},
			want: Step{Action: Remediate, Status: Broken}, says: "a test of revision 1 failed",
		},
		"a test failed, ignored": {
			change: func(s *State) {
				s.Declared.Test, s.Declared.Install.IgnoreTests = true, true
				s.Recorded.History[0] = tested(s.Recorded.History[0], TestFailed)
			},
			want: Step{Action: Done, Status: InSync}, says: "as declared",
		},
		"drifted": {
			change: func(s *State) { s.Drifted, s.Declared.Drift = true, DriftEnabled },
			want:   Step{Action: CorrectDrift, Status: Drifted}, says: "differ from the manifest",
		},
		"drifted, warn only": {
			change: func(s *State) { s.Drifted, s.Declared.Drift = true, DriftWarn },
			want:   Step{Action: Done, Status: Drifted}, says: "differ from the manifest",
		},
		"drifted, not looked for": {
			change: func(s *State) { s.Drifted = true },
			want:   Step{Action: Done, Status: InSync}, says: "as declared",
		},
		"failed install, no retries": {
			change: failedInstall,
			want:   Step{Action: Stalled, Status: Broken, Stalled: RetriesExceeded},
			says:   "Failed to install after 1 attempt(s); annotate it to reset",
		},
		"failed install, with a retry": {
			change: func(s *State) { failedInstall(s); s.Declared.Install.Retries = 1 },
			want:   Step{Action: Remediate, Status: Broken}, says: "revision 1 failed",
		},
		"failed install, last one remediated": {
			change: func(s *State) { failedInstall(s); s.Declared.Install.RemediateLast = true },
			want:   Step{Action: Remediate, Status: Broken}, says: "revision 1 failed",
		},
		"failed install, new declaration": {
			change: func(s *State) { failedInstall(s); s.Declared.Generation = 4 },
			want:   Step{Action: Upgrade, Status: Broken, Reset: "the declaration changed"}, says: "under other conditions",
		},
		"failed, no action recorded": {
			change: func(s *State) { failedInstall(s); s.Recorded.LastAction = "" },
			want:   Step{Action: Upgrade, Status: Broken}, says: "no remediation is configured",
		},
		"failed upgrade, no retries": {
			change: failedUpgrade,
			want:   Step{Action: Stalled, Status: Broken, Stalled: RetriesExceeded},
			says:   "Failed to upgrade after 1 attempt(s); annotate it to reset",
		},
		"failed upgrade, forced": {
			change: func(s *State) { failedUpgrade(s); s.Declared.Force = true },
			want:   Step{Action: Upgrade, Status: Broken}, says: "requested",
		},
		"failed upgrade, rolled back": {
			change: func(s *State) { failedUpgrade(s); s.Declared.Upgrade.Retries = 1 },
			want:   Step{Action: RollBack, Status: Broken, Version: 1}, says: "revision 2 failed; revision 1 succeeded",
		},
		"failed upgrade, last one rolled back": {
			change: func(s *State) { failedUpgrade(s); s.Declared.Upgrade.RemediateLast = true },
			want:   Step{Action: RollBack, Status: Broken, Version: 1}, says: "revision 1 succeeded",
		},
		"failed upgrade, uninstalled": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade = Remediation{Retries: 1, Strategy: ByUninstall}
			},
			want: Step{Action: Remediate, Status: Broken}, says: "revision 2 failed",
		},
		"failed upgrade, no target": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade.Retries = 1
				s.Recorded.History = s.Recorded.History[:1]
			},
			want: Step{Action: Stalled, Status: Broken, Stalled: MissingRollbackTarget},
			says: "no previous revision to roll back to; annotate it to reset",
		},
		"failed upgrade, target whose tests failed": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade.Retries = 1
				s.Recorded.History[1] = tested(s.Recorded.History[1], TestFailed)
			},
			want: Step{Action: Stalled, Status: Broken, Stalled: MissingRollbackTarget}, says: "no previous revision",
		},
		"failed upgrade, target gone": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade.Retries = 1
				s.Storage = s.Storage[:1]
			},
			want: Step{Action: Upgrade, Status: Broken}, says: "revision 1 in the storage is missing or was changed",
		},
		"failed upgrade, target changed": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade.Retries = 1
				s.Storage[1].Digest, s.Storage[1].LastDeployed = "sha256:other", noon
			},
			want: Step{Action: Upgrade, Status: Broken}, says: "in the storage is missing or was changed",
		},
		"failed upgrade, retry on failure, due": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade = Remediation{RetryOnFailure: true, RetryInterval: time.Minute}
				s.Recorded.SinceFailure, s.Recorded.UpgradeFailures = time.Minute, 900
			},
			want: Step{Action: Upgrade, Status: Broken}, says: "is retried",
		},
		"failed upgrade, retry on failure, too early": {
			change: func(s *State) {
				failedUpgrade(s)
				s.Declared.Upgrade = Remediation{RetryOnFailure: true, RetryInterval: time.Minute}
			},
			want: Step{Action: Wait, Status: Broken, After: time.Minute}, says: "1m0s after the last failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inSync()
			tt.change(&s)
			got := Decide(s)
			if !strings.Contains(got.Reason, tt.says) {
				t.Errorf("the reason is %q, which does not say %q", got.Reason, tt.says)
			}
			got.Reason = ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n%s", tt.reason, diff)
			}
		})
	}
}

func locked(status string) func(*State) {
	return func(s *State) { s.Storage = []Snapshot{revision(2, status), revision(1, Deployed)} }
}

// rolledBack is the state after upgrades that failed and were rolled back.
func rolledBack(s *State, failures int64) {
	s.Recorded.LastAction, s.Recorded.Failures, s.Recorded.UpgradeFailures = Upgrade, failures, failures
	s.Declared.ConfigDigest, s.Recorded.ConfigDigest = "c2", "c2"
	back := revision(3, Deployed)
	s.Recorded.History = []Snapshot{back, revision(2, Failed), revision(1, Superseded)}
	s.Storage = s.Recorded.History
}

func TestMove(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Declared)
		says   string
	}{
		"storage namespace": {func(d *Declared) { d.StorageNamespace = "other" }, `the storage namespace of the release changed from "apps" to "other"`},
		"namespace":         {func(d *Declared) { d.Namespace = "other" }, `the namespace of the release changed from "apps" to "other"`},
		"name":              {func(d *Declared) { d.Name = "other" }, `the name of the release changed from "web" to "other"`},
		"chart":             {func(d *Declared) { d.ChartName = "other" }, `the chart of the release changed from "podinfo" to "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := inSync()
			tt.change(&s.Declared)
			got := Decide(s)
			if got.Action != Stalled || got.Stalled != ReinstallRefused {
				t.Errorf("it is %s %s, not refused", got.Action, got.Stalled)
			}
			if !strings.HasPrefix(got.Reason, tt.says) || !strings.HasSuffix(got.Reason, "; annotate it to allow") {
				t.Errorf("it says %q", got.Reason)
			}
			s.Declared.AllowReinstall = true
			got = Decide(s)
			if diff := cmp.Diff([]any{Move, Moved, "apps", s.Recorded.History[0]}, []any{got.Action, got.Status, got.OldStorage, got.Old}); diff != "" {
				t.Error(diff)
			}
			// Nothing was ever made: there is nothing to uninstall.
			s.Recorded, s.Storage = Recorded{}, nil
			if got := Decide(s); got.Action != Install {
				t.Errorf("it is %s where nothing was installed", got.Action)
			}
		})
	}
}

func TestNeedsDrift(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*State)
		want   bool
	}{
		"enabled":            {func(s *State) { s.Declared.Drift = DriftEnabled }, true},
		"warn":               {func(s *State) { s.Declared.Drift = DriftWarn }, true},
		"disabled":           {func(*State) {}, false},
		"not in sync anyway": {func(s *State) { s.Declared.Drift, s.Declared.ConfigDigest = DriftEnabled, "c2" }, false},
		"failed":             {func(s *State) { s.Declared.Drift = DriftEnabled; failedUpgrade(s) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := inSync()
			tt.change(&s)
			if got := NeedsDrift(s); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestPaths walks through whole stories: what a step leads to is the state of the next one.
func TestPaths(t *testing.T) {
	s := State{Declared: inSync().Declared}
	s.Declared.Test = true
	s.Declared.Upgrade = Remediation{Retries: 1, RemediateLast: true}
	var did []Action
	step := func(want Action) Step {
		t.Helper()
		got := Decide(s)
		did = append(did, got.Action)
		if got.Action != want {
			t.Fatalf("after %v it is %s (%s), not %s", did, got.Action, got.Reason, want)
		}
		return got
	}
	attempt := func(a Action, n int, status string, chart string) {
		d := s.Declared
		s.Recorded.LastAction, s.Recorded.StorageNamespace = a, d.StorageNamespace
		s.Recorded.Generation, s.Recorded.ChartVersion, s.Recorded.ConfigDigest = d.Generation, d.ChartVersion, d.ConfigDigest
		made := revision(n, status)
		made.ChartVersion = chart
		for i := range s.Storage {
			if s.Storage[i].Status == Deployed && status == Deployed {
				s.Storage[i].Status, s.Storage[i].Digest = Superseded, s.Storage[i].Digest+"+"
			}
		}
		s.Storage = append([]Snapshot{made}, s.Storage...)
		s.Recorded.History = Observe(s.Recorded.History, s.Storage, &made)
	}
	test := func() {
		latest := tested(s.Storage[0], "Succeeded")
		s.Recorded.History = Observe(s.Recorded.History, s.Storage, &latest)
	}

	step(Install)
	attempt(Install, 1, Deployed, "1.0.0")
	step(Test)
	test()
	step(Done)

	s.Declared.ChartVersion, s.Declared.Generation = "2.0.0", 4
	if got := step(Upgrade); got.Reset == "" {
		t.Error("a new declaration does not forget failures")
	}
	for failure := int64(1); failure <= 2; failure++ {
		n := int(failure) * 2
		attempt(Upgrade, n, Failed, "2.0.0")
		s.Recorded.UpgradeFailures = failure
		back := step(RollBack)
		attempt(Upgrade, n+1, Deployed, "1.0.0")
		if back.Version >= n || back.Version%2 == 0 {
			t.Errorf("revision %d goes back to %d", n, back.Version)
		}
		if failure == 1 {
			step(Upgrade)
		}
	}
	if got := step(Stalled); got.Stalled != RetriesExceeded {
		t.Errorf("it is stalled by %s", got.Stalled)
	}

	s.Declared.Reset = true
	step(Upgrade)
	s.Declared.Reset, s.Recorded.UpgradeFailures = false, 0
	attempt(Upgrade, 6, Deployed, "2.0.0")
	step(Test)
	test()
	step(Done)
	kept := Truncate(s.Recorded.History, false)
	if len(kept) != 5 || kept[0].Version != 6 || kept[1].Version != 5 {
		t.Errorf("of the history are kept %v", kept)
	}
}
