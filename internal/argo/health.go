package argo

import (
	"cmp"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// liveObjects tells an operation what is known of objects, from the records of the watches.
//
// A Job that has completed, and that its time to live has deleted, counts as one that is there and well, unless it is about
// to be deleted itself.
func (d *driver) liveObjects(a *app, w runner.Work, finished bool) func(engine.ObjectID) operation.Live {
	return func(id engine.ObjectID) operation.Live {
		rec, there := w.Cluster.Objects.Get(id)
		if !there && finished && a.hasFinished(id) {
			return operation.Live{Exists: true, Health: live.Healthy, Message: "it has completed"}
		}
		if !there {
			return operation.Live{}
		}
		h := d.healthOf(rec)
		if h.Status == live.Healthy && rec.ID.Kind == "Job" {
			a.complete(id)
		}
		return operation.Live{Exists: true, Health: h.Status, Message: h.Message}
	}
}

// healthOf is the health of an object: that of an Application which is served here is known before it is written.
func (e *Engine) healthOf(rec cluster.Record) live.Health {
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationKind && !rec.Deleting {
		return e.children.Health(UnitID(rec.ID.Namespace, rec.ID.Name), rec)
	}
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationSetKind && !rec.Deleting {
		h := e.sets.Health(rec)
		return live.Health{Status: h.Status, Message: h.Message}
	}
	return live.Health{Status: rec.Health.Status, Message: rec.Health.Message}
}

// unsettled is the health of an Application of which the health of its objects says nothing yet.
func (a *app) unsettled(fact engine.SourceFact) (h live.Health, decided bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	switch {
	case a.obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true":
		return live.Health{Status: string(a.obj.Status.Health.Status), Message: a.obj.Status.Health.Message}, true
	case len(a.invalid) > 0:
		return live.Health{Status: live.Degraded, Message: messages(a.invalid)}, true
	case fact.Revision == "" && !fact.Pending:
		return live.Health{Status: live.Progressing, Message: fact.Message}, true
	case v.broken != nil:
		return live.Health{Status: live.Progressing, Message: v.broken.Message}, true
	case v.generation != a.generation || v.content != fact.Digest:
		return live.Health{Status: live.Progressing, Message: "it has not been compared with what it declares now"}, true
	case v.operation != nil && v.operation.Phase == v1alpha1.OperationRunning:
		return live.Health{Status: live.Progressing, Message: cmp.Or(v.operation.Message, "its sync is running")}, true
	case v.sync.Status != v1alpha1.SyncStatusCodeSynced && automated(a.obj):
		why := cmp.Or(v.why, "its sync has not started")
		if v.decided != nil {
			why = v.decided.Message
		}
		return live.Health{Status: live.Progressing, Message: "it is " + string(v.sync.Status) + ": " + why}, true
	}
	return live.Health{}, false
}

func automated(obj *v1alpha1.Application) bool {
	p := obj.Spec.SyncPolicy
	return p != nil && p.Automated != nil && (p.Automated.Enabled == nil || *p.Automated.Enabled)
}

// standings are how Applications stand, for their health.
type standings struct{ e *Engine }

// Standing is how an Application stands: its own health where that of its objects says nothing yet.
func (s standings) Standing(id engine.UnitID) (live.Standing, bool) {
	a := s.e.apps.get(id)
	if a == nil {
		return live.Standing{}, false
	}
	fact, _ := sources(s).Source(a.source())
	if h, decided := a.unsettled(fact); decided {
		return live.Standing{Unsettled: &h}, true
	}
	return a.standing(), true
}

// standing is what the health of an Application goes by that is settled.
func (a *app) standing() live.Standing {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := live.Standing{Counted: a.view.counted}
	if at := a.view.at; at != nil {
		s.Records = at.Objects
	}
	return s
}
