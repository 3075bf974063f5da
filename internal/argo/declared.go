package argo

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
)

// declaration is an Application as it was read last, and what that comes to by its project and the settings. What a field holds is
// never changed, only replaced, under the lock of the Application: a worker goes by a copy.
type declaration struct {
	// obj is the Application; raw is the same as expressions see it.
	obj *v1alpha1.Application
	raw map[string]any
	// sources are those that are wanted now, keys where they come from.
	sources []v1alpha1.ApplicationSource
	keys    []feeds.Key
	// generation stands for what is declared; see generationOf.
	generation int64
	// requested is the token of the last request, told apart from an equal previous one.
	requested string
	project   *policy.Project
	cluster   settings.Cluster
	foreseen  foreseen
	// origins are what the last render was made from; unverified is why its commits are not signed as the project requires.
	origins    []origin
	unverified error
	// made are the objects of the last render that stand for charts, with the namespaces whose Secrets they are to have.
	made map[engine.ObjectID][]string
	// place is where its objects are written, and as whom.
	place engine.Target
	// invalid is why it cannot be followed.
	invalid []v1alpha1.ApplicationCondition
}

// snapshot returns what is declared, for a worker.
func (a *app) snapshot() declaration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.declaration
}

// windows reports what the sync windows of the project say of the Application.
func (s declaration) windows(now time.Time) (policy.Verdict, error) {
	return policy.Windows(s.project, s.obj, s.cluster, now)
}

// enter takes an Application, unless a later version of it is known or it is gone, and reports what it declares.
func (e *Engine) enter(id engine.UnitID, read declaration) bool {
	e.told.mu.Lock()
	defer e.told.mu.Unlock()
	a, fresh := e.apps.take(id, read)
	if a == nil {
		return false
	}
	if !fresh {
		a.mu.Lock()
		if !declared.Newer(read.obj, a.obj) {
			a.mu.Unlock()
			return false
		}
		a.obj, a.raw = read.obj, read.raw
	}
	n := e.derive(a)
	if fresh {
		a.governs = a.project
	}
	a.mu.Unlock()
	n.follow = n.follow || fresh
	e.told.tell(a.id, n)
	return true
}

// leave takes an Application out that is gone, and tells so; nil when it is not there, or is another one by now.
func (e *Engine) leave(id engine.UnitID, uid types.UID) *app {
	e.told.mu.Lock()
	defer e.told.mu.Unlock()
	e.apps.mu.Lock()
	a := e.apps.apps[id]
	if a != nil && uid != "" && a.uid != uid {
		e.apps.mu.Unlock()
		return nil
	}
	delete(e.apps.apps, id)
	delete(e.apps.strangers, id)
	if e.serves(id.Namespace) {
		e.apps.bury(uid)
	}
	e.apps.mu.Unlock()
	if a != nil {
		e.told.Want(id.String(), nil)
		e.told.Remove(id)
	}
	return a
}

// declare reports what an Application declares now: what it comes to has changed, and not the Application.
func (e *Engine) declare(a *app) {
	e.told.mu.Lock()
	defer e.told.mu.Unlock()
	if e.apps.get(a.id) != a {
		// It went meanwhile.
		return
	}
	a.mu.Lock()
	n := e.derive(a)
	a.mu.Unlock()
	e.told.tell(a.id, n)
}

// derive works out what an Application comes to. The caller holds the lock.
func (e *Engine) derive(a *app) news {
	now, obj := e.settings.Now(), a.obj
	a.generation = generationOf(obj)
	refresh := requestOf(obj)
	asked := refresh != "" && refresh != a.asked
	a.asked = refresh
	if asked {
		a.requested = refresh + "@" + obj.ResourceVersion
	}
	if obj.Operation == nil {
		a.view.handled = ""
	}
	a.project = e.projects.Get(obj.Spec.Project)
	a.invalid = policy.Validate(obj, a.project, now, e.options.Namespace)
	a.cluster, _ = policy.Destination(obj.Spec.Destination, now)
	e.reads(a)
	a.unverified = verify(a.project, now.Keys, a.origins)
	e.settings.Recheck(a.id, e.permittedAhead(a))
	n := news{unit: e.unitOf(a, now), keys: a.keys, follow: !slices.Equal(a.wanted, a.keys), stir: wakes(obj, &a.view)}
	if asked && (obj.Annotations[v1alpha1.RefreshAnnotation] != "" || a.unbegun()) || a.rereads() {
		a.awaits = e.feeds.Refresh(a.keys)
	}
	a.wanted, a.pinned, a.place = a.keys, obj.Annotations[AnnotationPin], n.unit.Target
	return n
}

// rereads reports whether an Application reads other revisions than before, or is held at another one: what was requested of those that
// it has read until then says nothing of these. The caller holds the lock.
func (a *app) rereads() bool {
	known := len(a.wanted) > 0 || a.awaits > 0
	return known && len(a.keys) > 0 && (a.pinned != a.obj.Annotations[AnnotationPin] || !slices.Equal(a.wanted, a.keys))
}

// reads works out what an Application reads: nothing that its project does not permit, since a fetch brings the logins of the
// installation to the address. A requested sync from such a source fails. The caller holds the lock.
func (e *Engine) reads(a *app) {
	a.sources, a.keys = nil, nil
	if policy.PermitsReading(a.obj, a.project, e.options.Namespace) != nil {
		return
	}
	op := operationOf(a.obj)
	if err := policy.PermitsOperation(op, a.project); err != nil {
		if a.view.handled != encoded(a.obj.Operation) {
			a.view.fail(a.obj.Operation, err.Error())
		}
		op = nil
	}
	a.sources = wantedSources(a.obj.Spec, op, a.unpinned())
	for _, s := range a.sources {
		k := feeds.KeyOf(s, a.obj.Spec.Project)
		if e.builtIn(s, a.cluster) {
			k.Kind = feeds.BuiltIn
		}
		a.keys = append(a.keys, k)
	}
}
