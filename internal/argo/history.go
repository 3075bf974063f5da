package argo

import (
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
)

// gave takes that the Application has been given a history: from there on it is the Application's, so that what others do to
// it counts. A longer one that came meanwhile waits for the next write.
func (a *app) gave(history []v1alpha1.RevisionHistory) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.EqualFunc(history, a.view.history, func(x, y v1alpha1.RevisionHistory) bool {
		return x.ID == y.ID && x.DeployedAt.Equal(&y.DeployedAt)
	}) {
		a.view.history = nil
	}
}

// historyWith is the history with one deployment more. The caller holds the lock.
func (a *app) historyWith(op *running, now time.Time) []v1alpha1.RevisionHistory {
	history := a.view.history
	if history == nil {
		history = a.obj.Status.History
	}
	entry := v1alpha1.RevisionHistory{
		Revision: op.state.SyncResult.Revision, Revisions: op.state.SyncResult.Revisions, Source: op.state.SyncResult.Source,
		Sources: op.state.SyncResult.Sources, DeployedAt: *since(now), DeployStartedAt: op.state.StartedAt.DeepCopy(), InitiatedBy: op.request.InitiatedBy,
	}
	if n := len(history); n > 0 {
		entry.ID = history[n-1].ID + 1
	}
	limit := int64(10)
	if a.obj.Spec.RevisionHistoryLimit != nil {
		limit = *a.obj.Spec.RevisionHistoryLimit
	}
	history = append(append([]v1alpha1.RevisionHistory{}, history...), entry)
	return history[max(0, len(history)-int(limit)):]
}

// pinOf is the revision that an Application is held at: "ID until TIME".
func pinOf(obj *v1alpha1.Application) policy.Pin {
	id, until, found := strings.Cut(obj.Annotations[AnnotationPin], " until ")
	if !found {
		return policy.Pin{}
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(until))
	if err != nil {
		return policy.Pin{}
	}
	return policy.Pin{Revision: strings.TrimSpace(id), Until: at}
}
