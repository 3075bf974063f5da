package argo

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/live"
	"github.com/headgate-dev/headgate/internal/argo/sets"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/cluster"
)

// installation is what ApplicationSets know of the engine.
type installation struct{ e *Engine }

// Settings are those of now.
func (i installation) Settings() settings.Settings { return i.e.settings.Now() }

// Put takes an Application as a write left it.
func (i installation) Put(u *unstructured.Unstructured) { i.e.putApplication(u) }

// Applications are those of a namespace, as they were read last.
func (i installation) Applications(namespace string) []sets.Application {
	var all []sets.Application
	i.e.apps.each(func(a *app) {
		if a.id.Namespace != namespace {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		all = append(all, sets.Application{Declared: a.obj, Raw: a.raw})
	})
	return all
}

// Moving reports whether an automated Application is on its way to what it declares, and why it has not arrived.
func (i installation) Moving(app types.NamespacedName) (why string, moving bool) {
	a := i.e.apps.get(UnitID(app.Namespace, app.Name))
	if a == nil {
		return "", false
	}
	a.mu.Lock()
	obj, v := a.obj, &a.view
	stays := !automated(obj) || obj.DeletionTimestamp != nil || obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true" ||
		len(a.invalid) > 0 || v.broken != nil || v.operation != nil && failedForGood(v.operation)
	a.mu.Unlock()
	if stays {
		return "", false
	}
	h := i.e.children.Health(a.id, cluster.Record{})
	return h.Message, h.Status == live.Progressing || h.Status == live.Missing
}

func failedForGood(state *v1alpha1.OperationState) bool {
	return state.Phase == v1alpha1.OperationFailed || state.Phase == v1alpha1.OperationError
}

// Behind reports whether an Application has yet to be compared with what its sources hold now, or whether what was read of it is
// older than that comparison: of two that a commit changes, the status of the later one may be written first. One that is not
// followed, or whose sources cannot be read, is not waited for.
func (i installation) Behind(app types.NamespacedName, read *appset.AppState) bool {
	a := i.e.apps.get(UnitID(app.Namespace, app.Name))
	if a == nil {
		return false
	}
	fact, _ := sources(i).Source(a.source())
	a.mu.Lock()
	defer a.mu.Unlock()
	switch v := &a.view; {
	case len(a.invalid) > 0 || a.obj.Annotations[v1alpha1.SkipReconcileAnnotation] == "true":
		return false
	case fact.Digest == "":
		return fact.Pending
	default:
		return fact.Digest != v.content || v.generation != a.generation || !read.Tells(v.sync)
	}
}
