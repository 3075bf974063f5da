package release

import (
	"context"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm/plan"
	"github.com/headgate-dev/headgate/internal/runner"
)

// releaseReasons are the reasons of Flux for HelmReleases where those of Kustomizations are others.
var releaseReasons = map[engine.Reason]engine.Reason{
	engine.ReasonBuildFailed: engine.Reason(helmv2.ArtifactFailedReason), engine.ReasonFailed: "RESTClientError",
}

// Report writes the state of a HelmRelease, and records an event.
func (s *Keeper) Report(ctx context.Context, r runner.Report) error {
	hr, w, err := s.job(r.Unit)
	if err != nil {
		return nil
	}
	if r.Final {
		s.Metrics.Pass(r.Unit.Kind, r.Unit.Namespace, r.Unit.Name, r.Took, r.OK)
	}
	after := releaseStatus(hr.Status, w, r, time.Now())
	s.Idle.Words(hr, &after, r)
	s.tell(hr, after, r)
	u, err := declared.Writer{Client: s.Home.Dynamic.Resource(toolkit.HelmReleases), Manager: toolkit.ReleaseField}.Status(ctx, hr, hr.Status, after)
	if err != nil || u == nil {
		return err
	}
	_, err = s.Put(u)
	return err
}

// releaseStatus is the status of a HelmRelease after a report.
func releaseStatus(before helmv2.HelmReleaseStatus, w *releaseWork, r runner.Report, now time.Time) helmv2.HelmReleaseStatus {
	after := *w.status.DeepCopy()
	// What the driver does not set is what it was.
	after.ObservedGeneration, after.LastHandledReconcileAt = before.ObservedGeneration, before.LastHandledReconcileAt
	after.HelmChart = before.HelmChart
	c := &toolkit.Conditions{List: after.Conditions, Generation: r.Generation, Now: metav1.NewTime(now.Truncate(time.Second))}
	was := &toolkit.Conditions{List: before.Conditions}
	for _, kind := range []string{toolkit.ConditionReady, toolkit.ConditionReconciling, toolkit.ConditionStalled} {
		c.Drop(kind)
		if old := was.Get(kind); old != nil {
			c.List = append(c.List, *old)
		}
	}
	reason := r.Reason
	if mapped, ok := releaseReasons[reason]; ok {
		reason = mapped
	}
	if !r.Final && reason == engine.ReasonArtifactFailed {
		reason = "SourceNotReady"
	}
	switch {
	case !r.Final && reason == engine.ReasonProgressing:
		c.Set(toolkit.ConditionReady, metav1.ConditionUnknown, string(reason), r.Message)
		c.Drop(toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingReason, r.Message)
	case !r.Final:
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(reason), r.Message)
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingReason, r.Message)
	case r.OK:
		c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
		readyReason, message := releasedWords(c)
		c.Set(toolkit.ConditionReady, metav1.ConditionTrue, readyReason, message)
	default:
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, string(reason), r.Message)
		c.Unsettled(r, string(reason), meta.ProgressingWithRetryReason)
	}
	after.Conditions = c.Sorted()
	if !r.Final {
		return after
	}
	after.Inventory = &helmv2.ResourceInventory{Entries: []helmv2.ResourceRef{}}
	for _, e := range r.Inventory {
		after.Inventory.Entries = append(after.Inventory.Entries, helmv2.ResourceRef{ID: e.ID.Encode(), Version: e.Version})
	}
	if r.Handled != "" {
		after.LastHandledReconcileAt = r.Handled
	}
	if r.OK || r.Terminal {
		after.ObservedGeneration = r.Generation
	}
	return after
}

// releasedWords are what the Ready condition says of a release that is well: the tests have the last
// word.
func releasedWords(c *toolkit.Conditions) (reason, message string) {
	for _, kind := range []string{helmv2.TestSuccessCondition, helmv2.ReleasedCondition} {
		if got := c.Get(kind); got != nil && got.Status == metav1.ConditionTrue {
			return got.Reason, got.Message
		}
	}
	return meta.SucceededReason, "the release is as declared"
}

// tell emits an event when a pass did something, failed, or found that all is well again.
func (s *Keeper) tell(hr *helmv2.HelmRelease, after helmv2.HelmReleaseStatus, r runner.Report) {
	annotations := map[string]string{}
	if w := after.History.Latest(); w != nil {
		annotations[toolkit.ReleasePrefix+"revision"] = w.ChartVersion
		annotations[toolkit.ReleasePrefix+"app-version"] = w.AppVersion
	}
	ready := (&toolkit.Conditions{List: after.Conditions}).Get(toolkit.ConditionReady)
	switch {
	case ready == nil || !r.Final && r.Reason != engine.ReasonDependencyNotReady:
	case !r.Final:
		s.Events.Record(hr, corev1.EventTypeNormal, ready.Reason, ready.Message, annotations)
	case !r.OK:
		s.Events.Record(hr, corev1.EventTypeWarning, ready.Reason, ready.Message, annotations)
	case len(r.Changes) > 0 || !(&toolkit.Conditions{List: hr.Status.Conditions}).Is(toolkit.ConditionReady, metav1.ConditionTrue):
		s.Events.Record(hr, corev1.EventTypeNormal, ready.Reason, ready.Message, annotations)
	}
}

// snapshotsOf reads a history.
func snapshotsOf(history helmv2.Snapshots) []plan.Snapshot {
	out := make([]plan.Snapshot, 0, len(history))
	for _, s := range history {
		one := plan.Snapshot{
			Digest: s.Digest, Name: s.Name, Namespace: s.Namespace, Version: s.Version, Status: s.Status,
			ChartName: s.ChartName, ChartVersion: s.ChartVersion, AppVersion: s.AppVersion, ConfigDigest: s.ConfigDigest,
			FirstDeployed: s.FirstDeployed.Time, LastDeployed: s.LastDeployed.Time, Deleted: s.Deleted.Time, OCIDigest: s.OCIDigest,
		}
		if s.TestHooks != nil {
			one.TestHooks = map[string]plan.TestHook{}
			for name, hook := range *s.TestHooks {
				one.TestHooks[name] = plan.TestHook{Phase: hook.Phase, Started: hook.LastStarted.Time, Completed: hook.LastCompleted.Time}
			}
		}
		out = append(out, one)
	}
	return out
}

// historyOf writes a history, with the action that made each revision.
func historyOf(snapshots []plan.Snapshot, actions map[int]helmv2.ReleaseAction) helmv2.Snapshots {
	var out helmv2.Snapshots
	for _, s := range snapshots {
		one := &helmv2.Snapshot{
			APIVersion: "v2", Digest: s.Digest, Name: s.Name, Namespace: s.Namespace, Version: s.Version, Status: s.Status,
			Action: actions[s.Version], ChartName: s.ChartName, ChartVersion: s.ChartVersion, AppVersion: s.AppVersion,
			ConfigDigest: s.ConfigDigest, FirstDeployed: toSecond(s.FirstDeployed), LastDeployed: toSecond(s.LastDeployed),
			Deleted: toSecond(s.Deleted), OCIDigest: s.OCIDigest,
		}
		if s.TestHooks != nil {
			hooks := map[string]*helmv2.TestHookStatus{}
			for name, hook := range s.TestHooks {
				hooks[name] = &helmv2.TestHookStatus{Phase: hook.Phase, LastStarted: toSecond(hook.Started), LastCompleted: toSecond(hook.Completed)}
			}
			one.SetTestHooks(hooks)
		}
		out = append(out, one)
	}
	return out
}

func toSecond(t time.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Time{}
	}
	return metav1.NewTime(t.Truncate(time.Second))
}
