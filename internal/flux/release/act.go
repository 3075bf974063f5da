package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/helm/plan"
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
	// drift is what the last check found, and corrected how often each object was reverted in this pass.
	drift     []helm.Difference
	corrected map[engine.ObjectID]int
	reverted  []apply.Result
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

// rests reports whether everything is as it was when the release was found to need nothing. That costs no
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

// Failed is a step that failed with a reason.
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

// driftedCondition is the condition of Flux for drift.
const driftedCondition = "Drifted"

func (a *act) sinceFailure() time.Duration {
	if a.work.failed.IsZero() {
		return 0
	}
	return time.Since(a.work.failed)
}

// carry carries a step out, and reports whether the pass goes on to wait or ends with it.
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
	// Reverted drift is not waited for, as upstream: what changes next is then seen at once, and no action on the release fails for it.
	out := runner.Acted{Entries: entries, Deferred: a.guard.deferred, Written: a.client.Written(), Waits: a.waits() && (a.changed != "" || !a.released())}
	if a.changed != "" {
		out.Changes = changesOf(entries, a.changed)
	}
	out.Changes = append(out.Changes, a.reverted...)
	return out
}

// waits reports whether the objects are to be waited for after the last action.
func (a *act) waits() bool {
	if a.work.status.LastAttemptedReleaseAction == helmv2.ReleaseActionInstall {
		return !a.hr.GetInstall().DisableWait
	}
	return !a.hr.GetUpgrade().DisableWait
}

// released reports whether the revision that is there has been seen healthy.
func (a *act) released() bool {
	c := &toolkit.Conditions{List: a.work.status.Conditions}
	return c.Is(helmv2.ReleasedCondition, metav1.ConditionTrue)
}

// A release rests after the first action that failed for firstTry, and after many for lastTry.
const (
	firstTry = 250 * time.Millisecond
	lastTry  = firstTry << 12
)

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
