package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// unitKind is the kind of Applications.
var unitKind = v1alpha1.GroupVersion.WithKind("Application").GroupKind()

// The statuses that decide something.
const (
	Healthy     = string(argocd.Healthy)
	Progressing = string(argocd.Progressing)
	Missing     = string(argocd.Missing)
	Degraded    = string(argocd.Degraded)
)

// ranks order statuses from the best to the worst.
var ranks = []string{Healthy, string(argocd.Suspended), Progressing, Missing, Degraded, string(argocd.Unknown)}

// Health is that of an object or of an Application.
type Health struct{ Status, Message string }

// Records are what is known of the objects of a cluster.
type Records interface {
	Get(id engine.ObjectID) (cluster.Record, bool)
}

// Standing is what the health of an Application goes by.
type Standing struct {
	// Unsettled, when set, is its health: that of its objects says nothing yet.
	Unsettled *Health
	// Records are those of the cluster of its objects, nil when that is unknown.
	Records Records
	// Counted are the objects whose health counts.
	Counted []engine.ObjectID
}

// Applications are those that are served. They are safe for concurrent use.
type Applications interface {
	// Standing is how one stands; false for one that has not been read.
	Standing(id engine.UnitID) (Standing, bool)
}

// Children says how well Applications are, as objects of others and for their own status.
type Children struct{ Applications }

// maxDepth bounds how far down a family of Applications is looked: one may be among its own descendants.
const maxDepth = 16

// Health is the health of an Application as an object of another one. It counts when the Application was compared as it is
// declared, and with what its sources have now.
func (c Children) Health(id engine.UnitID, rec cluster.Record) Health {
	return c.below(id, rec, maxDepth)
}

func (c Children) below(id engine.UnitID, rec cluster.Record, depth int) Health {
	standing, read := c.Standing(id)
	switch {
	case !read:
		return Health{Progressing, "it has not been read yet"}
	case standing.Unsettled != nil:
		return *standing.Unsettled
	}
	h := c.worst(standing, depth)
	if override := rec.Health; override.Status != "" && h.Status == Healthy {
		// A script of the settings reads the status, which is written a moment later.
		return Health{override.Status, override.Message}
	}
	return h
}

// Worst is the health of an Application for its own status: that of the worst of its objects.
func (c Children) Worst(s Standing) Health { return c.worst(s, maxDepth) }

func (c Children) worst(s Standing, depth int) Health {
	worst, found := Health{Status: Healthy}, false
	if s.Records == nil {
		return Health{Status: Missing}
	}
	for _, id := range s.Counted {
		rec, there := s.Records.Get(id)
		if !there {
			continue
		}
		found = true
		h := Health{rec.Health.Status, rec.Health.Message}
		if rec.ID.Cluster == "" && rec.ID.GroupKind() == unitKind {
			h = c.child(rec, depth)
		}
		if h.Status != "" && slices.Index(ranks, h.Status) > slices.Index(ranks, worst.Status) {
			worst = Health{h.Status, strings.TrimSuffix(fmt.Sprintf("%s: %s", id, h.Message), ": ")}
		}
	}
	if !found && len(s.Counted) > 0 {
		return Health{Missing, "none of its objects exists"}
	}
	return worst
}

// child is the health of a child for the status of its parent; empty if the health is unknown.
func (c Children) child(rec cluster.Record, depth int) Health {
	if depth == 0 {
		return Health{}
	}
	h := c.below(engine.UnitOf(rec.ID), rec, depth-1)
	if h.Status == Missing || h.Status == string(argocd.Unknown) {
		return Health{}
	}
	return h
}
