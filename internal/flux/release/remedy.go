package release

import (
	"context"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/helm/plan"
	"github.com/headgate-dev/headgate/internal/runner"
)

// remediate rolls back or uninstalls a release that failed.
func (a *act) remediate(step plan.Step) (runner.Acted, bool) {
	verb, succeeded, failed := "rollback", helmv2.RollbackSucceededReason, helmv2.RollbackFailedReason
	var made plan.Snapshot
	var err error
	if step.Action == plan.RollBack {
		made, err = a.client.Rollback(a.ctx, rollbackOptions(a.hr, step.Version))
		a.record(made, helmv2.ReleaseActionRollback)
	} else {
		verb, succeeded, failed = "uninstall", helmv2.UninstallSucceededReason, helmv2.UninstallFailedReason
		_, err = a.client.Uninstall(a.ctx, uninstallOptions(a.hr, releaseNameOf(a.hr), a.hr.GetReleaseNamespace()))
		if err == nil {
			a.work.status.ClearHistory()
		}
	}
	where := a.hr.GetReleaseNamespace() + "/" + releaseNameOf(a.hr)
	if err != nil {
		text := fmt.Sprintf("Helm %s remediation failed for release %s: %s", verb, where, err)
		a.condition(helmv2.RemediatedCondition, metav1.ConditionFalse, failed, text)
		return Failed(failed, text, true), true
	}
	text := fmt.Sprintf("Helm %s remediation for release %s succeeded: %s", verb, where, step.Reason)
	a.condition(helmv2.RemediatedCondition, metav1.ConditionTrue, succeeded, text)
	out := Failed(succeeded, text, true)
	out.Failure.After = a.nextTry()
	if step.Action == plan.Remediate {
		out.Held, out.Entries = true, []engine.Entry{}
	}
	return out, true
}

// Verify runs the tests of a release whose objects are healthy, and notes that it is released.
func (s *Keeper) Verify(ctx context.Context, w runner.Work) runner.Acted {
	a, err := s.begin(ctx, w)
	if err != nil {
		return Failed("FactoryError", err.Error(), true)
	}
	defer s.publish(w.Unit, a.work)
	latest := a.work.status.History.Latest()
	if latest == nil {
		return Failed("StateError", "the release has no revision", true)
	}
	if !a.released() {
		a.noteReleased(latest)
	}
	if a.hr.GetTest().Enable && !latest.HasBeenTested() {
		if failure := a.test(latest); failure != nil {
			return *failure
		}
	}
	a.work.status.ClearFailures()
	a.work.failed = time.Time{}
	a.work.status.ObservedPostRenderersDigest = postRenderDigest(a.hr)
	return runner.Acted{}
}

// test runs the tests, and returns how they failed.
func (a *act) test(latest *helmv2.Snapshot) *runner.Acted {
	made, err := a.client.Test(a.ctx, testOptions(a.hr))
	a.record(made, latest.Action)
	if err == nil {
		text := fmt.Sprintf("Helm test succeeded for release %s with chart %s: %s", latest.FullReleaseName(), latest.VersionedChartName(),
			testsRun(made))
		a.condition(helmv2.TestSuccessCondition, metav1.ConditionTrue, helmv2.TestSucceededReason, text)
		return nil
	}
	text := fmt.Sprintf("Helm test failed for release %s with chart %s: %s", latest.FullReleaseName(), latest.VersionedChartName(), err)
	a.condition(helmv2.TestSuccessCondition, metav1.ConditionFalse, helmv2.TestFailedReason, text)
	remediation := installRemediation(a.hr, a.hr.GetTest().IgnoreFailures)
	if latest.Action == helmv2.ReleaseActionUpgrade {
		remediation = upgradeRemediation(a.hr, a.hr.GetTest().IgnoreFailures)
	}
	if remediation.IgnoreTests {
		return nil
	}
	a.countFailure(latest)
	out := Failed(helmv2.TestFailedReason, text, true)
	out.Failure.After = a.nextTry()
	return &out
}

// testsRun says how many tests succeeded, as Flux words it. Those that were left out did not run.
func testsRun(made plan.Snapshot) string {
	n := 0
	for _, hook := range made.TestHooks {
		if !hook.Started.IsZero() {
			n++
		}
	}
	switch n {
	case 0:
		return "no test hooks"
	case 1:
		return "1 test hook completed successfully"
	}
	return fmt.Sprintf("%d test hooks completed successfully", n)
}

func (a *act) countFailure(latest *helmv2.Snapshot) {
	status := a.work.status
	status.Failures++
	a.work.failed = time.Now()
	if latest.Action == helmv2.ReleaseActionUpgrade {
		status.UpgradeFailures++
		return
	}
	status.InstallFailures++
}

// Remedy marks a release as failed whose objects did not become healthy; the next pass remediates it.
func (s *Keeper) Remedy(ctx context.Context, w runner.Work, message string) runner.Acted {
	a, err := s.begin(ctx, w)
	if err != nil {
		return Failed("FactoryError", err.Error(), true)
	}
	defer s.publish(w.Unit, a.work)
	latest := a.work.status.History.Latest()
	if latest == nil {
		return Failed("StateError", message, true)
	}
	made, marked, err := a.client.Fail(ctx, releaseNameOf(a.hr), message)
	if err != nil {
		return Failed("StateError", err.Error(), true)
	}
	if marked {
		made.ConfigDigest = latest.ConfigDigest
		a.record(made, latest.Action)
	}
	action := plan.Install
	if latest.Action == helmv2.ReleaseActionUpgrade {
		action = plan.Upgrade
	}
	return a.failedRelease(action, message, true)
}
