package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/helm/plan"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
)

// mostSteps bounds the steps of one pass: unlocking, remediating, trying again.
const mostSteps = 8

// act is one pass over a release.
type act struct {
	ctx    context.Context
	set    *Keeper
	hr     *helmv2.HelmRelease
	work   *releaseWork
	client *helm.Client
	guard  *releaseGuard
	// versions are those of objects, as the runner's watches have them.
	versions func([]engine.Entry) (string, bool)
	force    bool
	reset    bool
	changed  engine.Action
	// drift is what the last check found, and corrected is set when it was reverted in this pass.
	drift     []helm.Difference
	corrected bool
	// seen are the versions of the objects before they were checked.
	seen string
}

func (s *Keeper) begin(ctx context.Context, w runner.Work) (*act, error) {
	hr, work, err := s.job(w.Unit)
	if err != nil {
		return nil, err
	}
	if work.prepared == nil {
		return nil, errors.New("its chart has not been read")
	}
	client, err := s.helm(w, hr.GetStorageNamespace())
	if err != nil {
		return nil, err
	}
	guard := newReleaseGuard(w, hr)
	return &act{ctx: ctx, set: s, hr: hr, work: work, client: client.Guarded(guard), guard: guard, versions: w.Versions}, nil
}

// take takes what a user requested. It counts for one pass, however that ends.
func (a *act) take() {
	requested, status := a.hr.Annotations[toolkit.RequestedAt], a.work.status
	if requested == "" {
		return
	}
	if a.hr.Annotations[helmv2.ForceRequestAnnotation] == requested && status.LastHandledForceAt != requested {
		a.force, status.LastHandledForceAt = true, requested
	}
	if a.hr.Annotations[helmv2.ResetRequestAnnotation] == requested && status.LastHandledResetAt != requested {
		a.reset, status.LastHandledResetAt = true, requested
	}
}

// Act brings a release as far as it can be without waiting for its objects.
func (s *Keeper) Act(ctx context.Context, w runner.Work) runner.Acted {
	a, err := s.begin(ctx, w)
	if err != nil {
		return Failed("FactoryError", err.Error(), true)
	}
	a.take()
	if !w.Fresh && a.rests() {
		return runner.Acted{Entries: a.work.rest.entries}
	}
	defer s.publish(w.Unit, a.work)
	mark, known := a.client.Mark(releaseNameOf(a.hr))
	for i := range mostSteps {
		step, err := a.decide()
		if err != nil {
			return Failed("StateError", err.Error(), true)
		}
		acted, over := a.carry(step)
		if !over {
			continue
		}
		if i == 0 && known && step.Action == plan.Done && acted.Failure == nil && !acted.Waits {
			a.noteRest(mark, acted.Entries)
		}
		return acted
	}
	return Failed("StateError", fmt.Sprintf("the release did not settle after %d steps", mostSteps), true)
}

// rests tells that everything is as it was when the release was found to need nothing. That costs no
// request.
func (a *act) rests() bool {
	rest := a.work.rest
	if rest == nil || a.force || a.reset || rest.inputs != a.work.prepared.digest || !a.released() {
		return false
	}
	mark, known := a.client.Mark(releaseNameOf(a.hr))
	if !known || mark != rest.mark {
		return false
	}
	if !a.hr.GetDriftDetection().MustDetectChanges() {
		return true
	}
	objects, known := a.versions(rest.entries)
	return known && objects == rest.objects
}

// noteRest notes that the release needs nothing. The mark is from before that was found out.
func (a *act) noteRest(mark string, entries []engine.Entry) {
	a.work.rest = nil
	objects, known := a.versions(entries)
	if a.hr.GetDriftDetection().MustDetectChanges() && (!known || len(a.drift) > 0 || objects != a.seen) {
		return
	}
	a.work.rest = &restingRelease{inputs: a.work.prepared.digest, mark: mark, objects: objects, entries: entries}
}

func Failed(reason, message string, transient bool) runner.Acted {
	return runner.Acted{Failure: &engine.Failure{Reason: engine.Reason(reason), Message: message, Transient: transient}}
}

// decide asks the plan for the next step.
func (a *act) decide() (plan.Step, error) {
	status := a.work.status
	recorded := snapshotsOf(status.History)
	stored, err := a.client.History(a.ctx, releaseNameOf(a.hr), recorded...)
	if err != nil && !errors.Is(err, helm.ErrNotFound) {
		return plan.Step{}, err
	}
	declared := declaredRelease(a.hr, a.work.prepared)
	declared.Force, declared.Reset = a.force, a.reset
	state := plan.State{
		Declared: declared, Storage: stored,
		Recorded: plan.Recorded{
			History: recorded, StorageNamespace: status.StorageNamespace,
			Failures: status.Failures, InstallFailures: status.InstallFailures, UpgradeFailures: status.UpgradeFailures,
			LastAction: plan.Action(status.LastAttemptedReleaseAction), Generation: status.LastAttemptedGeneration,
			ChartVersion: status.LastAttemptedRevision, ConfigDigest: status.LastAttemptedConfigDigest,
			OCIDigest: status.LastAttemptedRevisionDigest, PostRenderDigest: status.ObservedPostRenderersDigest,
			SinceFailure: a.sinceFailure(), Cause: failureCause(status),
		},
	}
	if !plan.NeedsDrift(state) {
		return plan.Decide(state), nil
	}
	a.seen, _ = a.versions(a.held())
	if err := a.lookForDrift(); err != nil {
		return plan.Step{}, err
	}
	state.Drifted = len(a.drift) > 0
	return plan.Decide(state), nil
}

// held is what the status says that the release holds.
func (a *act) held() []engine.Entry {
	var entries []engine.Entry
	if inventory := a.hr.Status.Inventory; inventory != nil {
		for _, e := range inventory.Entries {
			entries = toolkit.AppendEntry(entries, e.ID, e.Version, kustomize.Target(a.hr.Namespace, a.hr.Spec.KubeConfig, "").Cluster)
		}
	}
	return entries
}

// lookForDrift compares the release with the cluster, and notes what differs.
func (a *act) lookForDrift() error {
	rules, err := kustomize.IgnoredDrift(a.hr)
	if err != nil {
		return err
	}
	a.drift, err = a.client.Drift(a.ctx, releaseNameOf(a.hr), helm.DriftOptions{
		Ignore: rules, Exclude: map[string]string{helmv2.DriftDetectionMetadataKey: helmv2.DriftDetectionDisabledValue},
	})
	if err != nil {
		return err
	}
	if len(a.drift) == 0 {
		a.condition(driftedCondition, metav1.ConditionFalse, helmv2.NoDriftDetectedReason, "No drift detected in the objects of the release")
		return nil
	}
	text := driftText(a.drift)
	a.condition(driftedCondition, metav1.ConditionTrue, helmv2.DriftDetectedReason, text)
	a.set.Events.Record(a.hr, corev1.EventTypeWarning, helmv2.DriftDetectedReason, text, nil)
	return nil
}

// driftedCondition is the condition of Flux for drift.
const driftedCondition = "Drifted"

func driftText(differences []helm.Difference) string {
	lines := make([]string, len(differences))
	for i, d := range differences {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// correct brings drifted objects back. The next look finds what is left.
func (a *act) correct() (runner.Acted, bool) {
	if a.corrected {
		return Failed(helmv2.DriftDetectedReason, "reverted objects differ again at once: "+driftText(a.drift), false), true
	}
	a.corrected, a.changed = true, engine.Configure
	if _, err := a.client.Correct(a.ctx, a.drift); err != nil {
		return Failed(helmv2.DriftDetectedReason, err.Error(), true), true
	}
	return runner.Acted{}, false
}

func (a *act) sinceFailure() time.Duration {
	if a.work.failed.IsZero() {
		return 0
	}
	return time.Since(a.work.failed)
}

// carry carries a step out, and tells whether the pass goes on to wait or ends with it.
func (a *act) carry(step plan.Step) (runner.Acted, bool) {
	status := a.work.status
	if step.Reset != "" {
		status.ClearFailures()
	}
	if step.Forget {
		status.ClearHistory()
	}
	switch step.Action {
	case plan.Done:
		return a.done(), true
	case plan.Wait:
		failure := Failed(helmv2.UpgradeFailedReason, step.Reason, false)
		failure.Failure.After = step.After
		return failure, true
	case plan.Stalled:
		failure := Failed(step.Stalled, step.Reason, false)
		failure.Terminal = true
		return failure, true
	case plan.Unlock:
		if _, _, err := a.client.Unlock(a.ctx, releaseNameOf(a.hr)); err != nil {
			return Failed("StateError", err.Error(), true), true
		}
		return runner.Acted{}, false
	case plan.Move:
		return a.move(step)
	case plan.CorrectDrift:
		return a.correct()
	case plan.RollBack, plan.Remediate:
		return a.remediate(step)
	case plan.Test:
		return a.done(), true
	default:
		return a.release(step)
	}
}

// done returns what a release holds that needs nothing.
func (a *act) done() runner.Acted {
	rendered, err := a.client.Manifest(a.ctx, releaseNameOf(a.hr), 0)
	if err != nil {
		return Failed("StateError", err.Error(), true)
	}
	entries := entriesOf(rendered, kustomize.Target(a.hr.Namespace, a.hr.Spec.KubeConfig, "").Cluster)
	out := runner.Acted{Entries: entries, Deferred: a.guard.deferred, Written: a.client.Written(), Waits: a.waits() && (a.changed != "" || !a.released())}
	if a.changed != "" {
		out.Changes = changesOf(entries, a.changed)
	}
	return out
}

// waits tells whether the objects are to be waited for after the last action.
func (a *act) waits() bool {
	if a.work.status.LastAttemptedReleaseAction == helmv2.ReleaseActionInstall {
		return !a.hr.GetInstall().DisableWait
	}
	return !a.hr.GetUpgrade().DisableWait
}

// released tells whether the revision that is there has been seen healthy.
func (a *act) released() bool {
	c := &toolkit.Conditions{List: a.work.status.Conditions}
	return c.Is(helmv2.ReleasedCondition, metav1.ConditionTrue)
}

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
		made, err = a.client.Install(a.ctx, InstallOptions(a.hr, p))
	} else {
		a.changed = engine.Configure
		made, err = a.client.Upgrade(a.ctx, UpgradeOptions(a.hr, p))
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

// A release rests after the first action that failed for firstTry, and after many for lastTry.
const (
	firstTry = 250 * time.Millisecond
	lastTry  = firstTry << 12
)

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

// noteReleased says that an action succeeded, as Flux words it.
func (a *act) noteReleased(latest *helmv2.Snapshot) {
	verb, reason := "install", helmv2.InstallSucceededReason
	if latest.Action == helmv2.ReleaseActionUpgrade || latest.Version > 1 && latest.Action != helmv2.ReleaseActionInstall {
		verb, reason = "upgrade", helmv2.UpgradeSucceededReason
	}
	a.condition(helmv2.ReleasedCondition, metav1.ConditionTrue, reason,
		fmt.Sprintf("Helm %s succeeded for release %s with chart %s", verb, latest.FullReleaseName(), latest.VersionedChartName()))
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

func (a *act) condition(kind string, is metav1.ConditionStatus, reason, message string) {
	c := &toolkit.Conditions{List: a.work.status.Conditions, Generation: a.hr.Generation, Now: metav1.NewTime(time.Now().Truncate(time.Second))}
	c.Set(kind, is, reason, strings.TrimSpace(message))
	a.work.status.Conditions = c.Sorted()
}

func (a *act) unset(kinds ...string) {
	c := &toolkit.Conditions{List: a.work.status.Conditions}
	c.Drop(kinds...)
	a.work.status.Conditions = c.Sorted()
}
