package argo

import (
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
func (d *driver) live(w runner.Work, c *comparison) func(engine.ObjectID) operation.Live {
	return func(id engine.ObjectID) operation.Live {
		rec, there := w.Cluster.Objects.Get(id)
		if !there {
			return operation.Live{}
		}
		h := d.healthOf(rec)
		return operation.Live{Exists: true, Deleting: rec.Deleting, Health: h.Status, Message: h.Message}
	}
}

// healthOf is the health of an object: that of an Application which is served here is known before it is written.
func (e *Engine) healthOf(rec cluster.Record) shown {
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationKind && !rec.Deleting {
		return e.childHealth(UnitID(rec.ID.Namespace, rec.ID.Name), rec)
	}
	if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationSetKind && !rec.Deleting {
		return e.setHealth(rec)
	}
	return shown{rec.Health.Status, rec.Health.Message}
}

// childHealth is the health of an Application as an object of another one. It counts when the Application was compared as it is
// declared, and with what its sources have now.
func (e *Engine) childHealth(id engine.UnitID, rec cluster.Record) shown {
	a := e.apps.get(id)
	if a == nil {
		return shown{progressing, "it has not been read yet"}
	}
	fact, _ := (sources{e}).Source(a.source())
	a.mu.Lock()
	defer a.mu.Unlock()
	v := &a.view
	switch {
	case a.obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true":
		return shown{string(a.obj.Status.Health.Status), a.obj.Status.Health.Message}
	case len(a.invalid) > 0:
		return shown{degraded, messages(a.invalid)}
	case fact.Revision == "" && !fact.Pending:
		return shown{progressing, fact.Message}
	case v.broken != nil:
		return shown{progressing, v.broken.Message}
	case v.generation != generationOf(a.obj) || v.content != fact.Digest:
		return shown{progressing, "it has not been compared with what it declares now"}
	case v.operation != nil && v.operation.Phase == v1alpha1.OperationRunning:
		return shown{progressing, orDefault(v.operation.Message, "its sync is running")}
	case v.sync.Status != v1alpha1.SyncStatusCodeSynced && automated(a.obj):
		why := orDefault(v.why, "its sync has not begun")
		if v.decided != nil {
			why = v.decided.Message
		}
		return shown{progressing, "it is " + string(v.sync.Status) + ": " + why}
	}
	h := e.rollUp(v)
	if override := rec.Health; override.Status != "" && h.Status == healthy {
		// A script of the settings looks at the status, which is written a moment later.
		return shown{override.Status, override.Message}
	}
	return h
}

func automated(obj *v1alpha1.Application) bool {
	p := obj.Spec.SyncPolicy
	return p != nil && p.Automated != nil && (p.Automated.Enabled == nil || *p.Automated.Enabled)
}

// ranks order statuses from the best to the worst.
var ranks = []string{healthy, string(argocd.Suspended), progressing, missing, degraded, string(argocd.Unknown)}

// rollUp is the health of an Application: that of the worst of its objects. The caller holds the lock.
func (e *Engine) rollUp(v *view) shown {
	worst, found := shown{Status: healthy}, false
	if v.at == nil {
		return shown{Status: missing}
	}
	for _, id := range v.counted {
		rec, there := v.at.Objects.Get(id)
		if !there {
			continue
		}
		found = true
		h := shown{rec.Health.Status, rec.Health.Message}
		if rec.ID.Cluster == "" && rec.ID.GroupKind() == applicationKind {
			h = e.childShown(rec)
		}
		if h.Status != "" && slices.Index(ranks, h.Status) > slices.Index(ranks, worst.Status) {
			worst = shown{h.Status, strings.TrimSuffix(fmt.Sprintf("%s: %s", id, h.Message), ": ")}
		}
	}
	if !found && len(v.counted) > 0 {
		return shown{missing, "none of its objects exists"}
	}
	return worst
}

// childShown is the health of a child for the status of its parent. Nothing is said of one whose health nobody knows.
func (e *Engine) childShown(rec cluster.Record) shown {
	h := e.childHealth(UnitID(rec.ID.Namespace, rec.ID.Name), rec)
	if h.Status == missing || h.Status == string(argocd.Unknown) {
		return shown{}
	}
	return h
}
