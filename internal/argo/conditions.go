package argo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/runner"
)

// conditionsOf are what is wrong now: with the declaration, with the comparison, with what was compared, and with the
// operation. Times of those that were there before stay. The caller holds the lock.
func (e *Engine) conditionsOf(a *app, r *runner.Report, before []v1alpha1.ApplicationCondition) []v1alpha1.ApplicationCondition {
	v := &a.view
	now := slices.Clone(a.invalid)
	if r != nil && !r.Observed {
		v.broken = v.brokenBy(r)
	}
	if v.broken != nil && (len(a.invalid) == 0 || v.broken.Type == v1alpha1.ApplicationConditionDeletionError) {
		now = append(now, *v.broken)
	}
	if v.held != "" {
		now = append(now, a.heldCondition(r))
	}
	if late := e.lateSource(a); late != nil && v.broken == nil {
		now = append(now, *late)
	}
	if v.unconfirmed != "" && a.obj.DeletionTimestamp != nil {
		now = append(now, v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionDeletionError, Message: v.unconfirmed})
	}
	now = append(now, v.conditions...)
	if v.decided != nil && v.sync.Status != v1alpha1.SyncStatusCodeSynced {
		now = append(now, *v.decided)
	}
	for i, c := range now {
		c.Message = redaction.Text(c.Message)
		now[i].Message = c.Message
		now[i].LastTransitionTime = since(time.Now())
		for _, old := range before {
			if old.Type == c.Type && old.Message == c.Message && old.LastTransitionTime != nil {
				now[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	slices.SortStableFunc(now, func(x, y v1alpha1.ApplicationCondition) int { return strings.Compare(x.Type, y.Type) })
	return now
}

// brokenBy is the condition by which a report says that an Application could not be compared.
func (v *view) brokenBy(r *runner.Report) *v1alpha1.ApplicationCondition {
	switch r.Reason {
	case engine.ReasonArtifactFailed, engine.ReasonBuildFailed, v1alpha1.ApplicationConditionComparisonError:
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionComparisonError, Message: r.Message}
	case engine.ReasonFailed:
		if v.operation != nil && v.operation.Message == r.Message || v.failed != "" && v.failed == r.Message {
			// The operation says so itself, or did before it was tried again.
			return nil
		}
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionComparisonError, Message: r.Message}
	case v1alpha1.ApplicationConditionSyncError:
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionSyncError, Message: r.Message}
	case engine.ReasonPruneFailed:
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionDeletionError, Message: r.Message}
	case engine.ReasonDependencyNotReady, engine.ReasonCycle:
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionSyncError, Message: "waiting: " + r.Message}
	case v1alpha1.ApplicationConditionInvalidSpecError:
		return &v1alpha1.ApplicationCondition{Type: v1alpha1.ApplicationConditionInvalidSpecError, Message: r.Message}
	default:
		return nil
	}
}

// lateSource is the condition of an Application whose repository has not answered for a while. The caller holds the lock.
func (e *Engine) lateSource(a *app) *v1alpha1.ApplicationCondition {
	grace := e.settings.Now().Controller.SourceErrorGrace
	for i, k := range a.keys {
		if state := e.feeds.Get(k); state.Err != nil && time.Since(state.Since) > grace {
			return &v1alpha1.ApplicationCondition{
				Type: v1alpha1.ApplicationConditionComparisonError, Message: fmt.Sprintf("%s: %s", sourceName(a.keys, i), state.Err),
			}
		}
	}
	return nil
}

// unknown writes a status that says what is unknown, as the upstream does. Of an Application that cannot be followed that is
// everything. Of one that could not be compared it is the sync of it and of its objects; its health is that of what it has,
// and Healthy when it has nothing. The caller holds the lock.
func (a *app) unknown(status *v1alpha1.ApplicationStatus) {
	invalid := len(a.invalid) > 0 || a.view.broken != nil && a.view.broken.Type == v1alpha1.ApplicationConditionInvalidSpecError
	failed := slices.ContainsFunc(status.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ApplicationConditionComparisonError || c.Type == v1alpha1.ApplicationConditionUnknownError
	})
	switch {
	case invalid:
		// What it was before it was called Unknown reports whether that is news.
		status.Health = a.obj.Status.Health
		enterHealth(live.Health{Status: string(v1alpha1.HealthStatusUnknown)}, status)
	case failed:
		if status.Health.Status == "" {
			enterHealth(live.Health{Status: live.Healthy}, status)
		}
		if len(a.view.types) > 0 {
			a.sourceTypes(status)
		}
		for i := range status.Resources {
			status.Resources[i].Status = v1alpha1.SyncStatusCodeUnknown
		}
	default:
		return
	}
	status.Sync.Status = v1alpha1.SyncStatusCodeUnknown
}
