package release

import (
	"errors"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/helm/plan"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// release installs or upgrades.
func (a *act) release(step plan.Step) (runner.Acted, bool) {
	status, p, was := a.work.status, a.work.prepared, a.work.status.DeepCopy()
	status.LastAttemptedReleaseAction = helmv2.ReleaseAction(step.Action)
	status.LastAttemptedGeneration, status.LastAttemptedConfigDigest = a.hr.Generation, p.values.Digest()
	status.LastAttemptedRevision, status.LastAttemptedRevisionDigest = p.chart.Version(), p.ociDigest
	status.StorageNamespace = a.hr.GetStorageNamespace()
	a.unset(helmv2.ReleasedCondition, helmv2.TestSuccessCondition, helmv2.RemediatedCondition)
	began, before := time.Now(), 0
	a.guard.patient = true
	defer func() { a.guard.patient = false }()
	if latest := status.History.Latest(); latest != nil {
		before = latest.Version
	}
	var made plan.Snapshot
	var err error
	if step.Action == plan.Install {
		a.changed = engine.Create
		o := InstallOptions(a.hr, p)
		o.Sandbox, o.Egress = a.sandbox(), a.set.Egress.Fetches
		made, err = a.client.Install(a.ctx, o)
	} else {
		a.changed = engine.Configure
		o := UpgradeOptions(a.hr, p)
		o.Sandbox, o.Egress = a.sandbox(), a.set.Egress.Fetches
		made, err = a.client.Upgrade(a.ctx, o)
	}
	if errors.Is(err, helm.ErrClaimed) {
		*status, a.changed = *was, ""
		return a.guard.waiting(), true
	}
	status.LastAttemptedReleaseActionDuration = &metav1.Duration{Duration: time.Since(began).Round(time.Millisecond)}
	a.record(made, helmv2.ReleaseAction(step.Action))
	if err == nil {
		// What was requested has been done; the next check finds a release that needs nothing.
		return a.done(), true
	}
	// The next pass remediates.
	if cause := errors.Unwrap(err); cause != nil {
		// What is around it says which release it is, as the condition does.
		err = cause
	}
	// What made no revision needs no remediation, and does not count as a try.
	return a.failedRelease(step.Action, err.Error(), made.Version > before), true
}

// sandbox is where the templates of the release are executed.
func (a *act) sandbox() *sandbox.Client {
	return a.set.Sandbox.For(a.hr.Namespace, toolkit.ReleaseID(a.hr.Namespace, a.hr.Name).String())
}

// failedRelease notes that an install or an upgrade failed, and whether that counts towards its retries.
func (a *act) failedRelease(action plan.Action, message string, counts bool) runner.Acted {
	status := a.work.status
	status.Failures++
	a.work.failed = time.Now()
	reason := helmv2.InstallFailedReason
	if action == plan.Upgrade {
		reason = helmv2.UpgradeFailedReason
	}
	switch {
	case counts && action == plan.Upgrade:
		status.UpgradeFailures++
	case counts:
		status.InstallFailures++
	}
	text := fmt.Sprintf("Helm %s failed for release %s/%s with chart %s@%s: %s", action, a.hr.GetReleaseNamespace(),
		releaseNameOf(a.hr), a.work.prepared.chart.Name(), a.work.prepared.chart.Version(), apply.Brief(message))
	a.condition(helmv2.ReleasedCondition, metav1.ConditionFalse, reason, text)
	out := Failed(reason, text, true)
	if counts {
		out.Failure.After = a.nextTry()
	}
	return out
}

// nextTry is how long a release rests before what follows on a failed action: remediation, or the next
// try. How often that is comes from what is declared.
func (a *act) nextTry() time.Duration {
	declared := upgradeRemediation(a.hr, false)
	if a.work.status.LastAttemptedReleaseAction == helmv2.ReleaseActionInstall {
		declared = installRemediation(a.hr, false)
	}
	if declared.RetryOnFailure {
		return declared.RetryInterval
	}
	return rounds.Backoff{Min: firstTry, Max: min(lastTry, a.hr.Spec.Interval.Duration)}.After(int(a.work.status.Failures))
}

// move uninstalls the release that was declared before.
func (a *act) move(step plan.Step) (runner.Acted, bool) {
	client := a.client.In(step.OldStorage)
	if _, err := client.Uninstall(a.ctx, uninstallOptions(a.hr, step.Old.Name, step.Old.Namespace)); err != nil {
		return Failed(helmv2.UninstallFailedReason, err.Error(), true), true
	}
	a.work.status.ClearHistory()
	a.work.status.StorageNamespace = ""
	return runner.Acted{}, false
}

// record enters a revision into the history.
func (a *act) record(made plan.Snapshot, action helmv2.ReleaseAction) {
	if made.Version == 0 {
		return
	}
	made.OCIDigest = a.work.prepared.ociDigest
	status := a.work.status
	history := plan.Observe(snapshotsOf(status.History), nil, &made)
	if stored, err := a.client.History(a.ctx, releaseNameOf(a.hr), history...); err == nil {
		history = plan.Observe(history, stored, nil)
	}
	history = plan.Truncate(history, a.hr.GetTest().IgnoreFailures)
	actions := map[int]helmv2.ReleaseAction{made.Version: action}
	for _, s := range status.History {
		if _, set := actions[s.Version]; !set {
			actions[s.Version] = s.Action
		}
	}
	status.History = historyOf(history, actions)
}

// noteReleased says that an action succeeded, as Flux words it.
func (a *act) noteReleased(latest *helmv2.Snapshot) {
	verb, reason := "install", helmv2.InstallSucceededReason
	if latest.Action == helmv2.ReleaseActionUpgrade || latest.Version > 1 && latest.Action != helmv2.ReleaseActionInstall {
		verb, reason = "upgrade", helmv2.UpgradeSucceededReason
	}
	a.condition(helmv2.ReleasedCondition, metav1.ConditionTrue, reason,
		fmt.Sprintf("Helm %s succeeded for release %s with chart %s", verb, latest.FullReleaseName(), latest.VersionedChartName()))
}
