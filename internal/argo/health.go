package argo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health/argocd"
	"github.com/headgate-dev/headgate/internal/runner"
)

// The statuses that decide something here.
const (
	healthy     = string(argocd.Healthy)
	progressing = string(argocd.Progressing)
	missing     = string(argocd.Missing)
	degraded    = string(argocd.Degraded)
)

// shown is the health of an object or of an Application.
type shown struct{ Status, Message string }

// live tells an operation what is known of objects, from the records of the watches.
//
// A Job that has completed, and that its time to live has deleted, counts as one that is there and well, unless it is about
// to be deleted itself.
func live(d *driver, a *app, w runner.Work, finished bool) func(engine.ObjectID) operation.Live {
	return func(id engine.ObjectID) operation.Live {
		rec, there := w.Cluster.Objects.Get(id)
		if !there && finished && a.hasFinished(id) {
			return operation.Live{Exists: true, Health: healthy, Message: "it has completed"}
		}
		if !there {
			return operation.Live{}
		}
		h := d.healthOf(rec)
		if h.Status == healthy && rec.ID.Kind == "Job" {
			a.complete(id)
		}
		return operation.Live{Exists: true, Deleting: rec.Deleting, Health: h.Status, Message: h.Message}
	}
}

// healthOf is the health of an object: that of an Application which is served here is known before it is written.
func (e *Engine) healthOf(rec cluster.Record) shown {
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationKind && !rec.Deleting {
		return e.childHealth(UnitID(rec.ID.Namespace, rec.ID.Name), rec)
	}
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationSetKind && !rec.Deleting {
		h := e.sets.Health(rec)
		return shown{h.Status, h.Message}
	}
	return shown{rec.Health.Status, rec.Health.Message}
}

// childHealth is the health of an Application as an object of another one. It counts when the Application was compared as it is
// declared, and with what its sources have now.
func (e *Engine) childHealth(id engine.UnitID, rec cluster.Record) shown {
	return e.childHealthBelow(id, rec, maxDepth)
}

// maxDepth bounds how far down a family of Applications is looked: one may be among its own descendants.
const maxDepth = 16

func (e *Engine) childHealthBelow(id engine.UnitID, rec cluster.Record, depth int) shown {
	a := e.apps.get(id)
	if a == nil {
		return shown{progressing, "it has not been read yet"}
	}
	fact, _ := (sources{e}).Source(a.source())
	if h, decided := a.unsettled(fact); decided {
		return h
	}
	h := e.healthBelow(a, depth)
	if override := rec.Health; override.Status != "" && h.Status == healthy {
		// A script of the settings reads the status, which is written a moment later.
		return shown{override.Status, override.Message}
	}
	return h
}

// unsettled is the health of an Application of which the health of its objects says nothing yet.
func (a *app) unsettled(fact engine.SourceFact) (h shown, decided bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	switch {
	case a.obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true":
		return shown{string(a.obj.Status.Health.Status), a.obj.Status.Health.Message}, true
	case len(a.invalid) > 0:
		return shown{degraded, messages(a.invalid)}, true
	case fact.Revision == "" && !fact.Pending:
		return shown{progressing, fact.Message}, true
	case v.broken != nil:
		return shown{progressing, v.broken.Message}, true
	case v.generation != a.generation || v.content != fact.Digest:
		return shown{progressing, "it has not been compared with what it declares now"}, true
	case v.operation != nil && v.operation.Phase == v1alpha1.OperationRunning:
		return shown{progressing, cmp.Or(v.operation.Message, "its sync is running")}, true
	case v.sync.Status != v1alpha1.SyncStatusCodeSynced && automated(a.obj):
		why := cmp.Or(v.why, "its sync has not started")
		if v.decided != nil {
			why = v.decided.Message
		}
		return shown{progressing, "it is " + string(v.sync.Status) + ": " + why}, true
	}
	return shown{}, false
}

func automated(obj *v1alpha1.Application) bool {
	p := obj.Spec.SyncPolicy
	return p != nil && p.Automated != nil && (p.Automated.Enabled == nil || *p.Automated.Enabled)
}

// ranks order statuses from the best to the worst.
var ranks = []string{healthy, string(argocd.Suspended), progressing, missing, degraded, string(argocd.Unknown)}

// health is the health of an Application: that of the worst of its objects. The caller does not hold its lock.
func (e *Engine) health(a *app) shown { return e.healthBelow(a, maxDepth) }

func (e *Engine) healthBelow(a *app, depth int) shown {
	a.mu.Lock()
	at, counted := a.view.at, a.view.counted
	a.mu.Unlock()
	worst, found := shown{Status: healthy}, false
	if at == nil {
		return shown{Status: missing}
	}
	for _, id := range counted {
		rec, there := at.Objects.Get(id)
		if !there {
			continue
		}
		found = true
		h := shown{rec.Health.Status, rec.Health.Message}
		if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationKind {
			h = e.childShown(rec, depth)
		}
		if h.Status != "" && slices.Index(ranks, h.Status) > slices.Index(ranks, worst.Status) {
			worst = shown{h.Status, strings.TrimSuffix(fmt.Sprintf("%s: %s", id, h.Message), ": ")}
		}
	}
	if !found && len(counted) > 0 {
		return shown{missing, "none of its objects exists"}
	}
	return worst
}

// childShown is the health of a child for the status of its parent; empty if the health is unknown.
func (e *Engine) childShown(rec cluster.Record, depth int) shown {
	if depth == 0 {
		return shown{}
	}
	h := e.childHealthBelow(UnitID(rec.ID.Namespace, rec.ID.Name), rec, depth-1)
	if h.Status == missing || h.Status == string(argocd.Unknown) {
		return shown{}
	}
	return h
}
