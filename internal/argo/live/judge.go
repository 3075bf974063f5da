// Package live says what Argo CD's dialect makes of the objects that are there: whose they are by their marks and how well they
// are by the checks of the settings, what the health of an Application comes to by that of its objects and of its children,
// and which kinds a cluster serves.
//
// It goes by records and by what it hears of Applications. It refuses to write, to read objects itself, and to follow
// anything; the one request that it sends asks a cluster for its version.
package live

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// Settings say how objects are marked.
type Settings interface {
	Tracking() settings.Tracking
}

// Judge says how well objects are, by the checks of the settings of now.
type Judge struct {
	ctx      context.Context
	checks   atomic.Pointer[argocd.Checks]
	settings Settings
	// installation is its namespace.
	installation string
}

// NewJudge returns the judge of an installation, by its namespace and its settings. Scripts of checks end with ctx.
func NewJudge(ctx context.Context, installation string, s Settings) *Judge {
	j := &Judge{ctx: ctx, installation: installation, settings: s}
	j.checks.Store(argocd.New(argocd.Settings{}))
	return j
}

// Use takes other checks.
func (j *Judge) Use(checks argocd.Settings) { j.checks.Store(argocd.New(checks)) }

// Owner is the Application that an object is marked as that of, by the current settings. A copy of another object
// has no owner.
func (j *Judge) Owner(u *unstructured.Unstructured) types.NamespacedName {
	t := j.settings.Tracking()
	name, self := differences.Tracking{Method: t.Method, LabelKey: t.LabelKey, InstallationID: t.InstallationID}.Owner(u)
	if !self {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Name: name}
}

// Unit is the Application of a mark: its name, with its namespace before an underscore unless that is the installation's.
func (j *Judge) Unit(owner types.NamespacedName) engine.UnitID {
	namespace, name, elsewhere := strings.Cut(owner.Name, "_")
	if !elsewhere {
		namespace, name = j.installation, owner.Name
	}
	return engine.UnitID{Group: unitKind.Group, Kind: unitKind.Kind, Namespace: namespace, Name: name}
}

// Assess evaluates an object. What its controller has not observed since it was changed is Progressing, whatever its
// status says of what was before.
func (j *Judge) Assess(u *unstructured.Unstructured) engine.ObjectHealth {
	h := j.checks.Load().Assess(j.ctx, u)
	if u.GetDeletionTimestamp() != nil && operation.RunsOnce(u) && operation.Completed(u) {
		// Its time to live is over: it is well that it goes.
		return engine.ObjectHealth{ID: h.ID, Verdict: engine.Current, Status: string(argocd.Healthy)}
	}
	if h.Verdict != engine.Current && h.Verdict != engine.Failed || h.Status == "" {
		return h
	}
	observed, found, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if err == nil && found && observed != 0 && observed < u.GetGeneration() && u.GetDeletionTimestamp() == nil {
		h.Verdict, h.Status = engine.InProgress, string(argocd.Progressing)
		h.Message = fmt.Sprintf("generation %d has not been observed yet", u.GetGeneration())
	}
	return h
}
