package argo

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
)

// registry holds the Applications. It is safe for concurrent use.
type registry struct {
	mu   sync.RWMutex
	apps map[engine.UnitID]*app
	// strangers are those of namespaces that are not served, by the settings of now.
	strangers map[engine.UnitID]*unstructured.Unstructured
	// gone are those that are no longer there: an answer to a write may come after the news of the end.
	gone map[types.UID]time.Time
}

// goneFor is how long it is remembered that an Application is gone.
const goneFor = 10 * time.Minute

// bury remembers that an Application is gone. The caller holds the lock.
func (r *registry) bury(uid types.UID) {
	now := time.Now()
	for old, at := range r.gone {
		if now.Sub(at) > goneFor {
			delete(r.gone, old)
		}
	}
	r.gone[uid] = now
}

// take returns the app of an Application, a fresh one where there is none with its UID; nil when the Application is gone. A
// fresh one is locked, so that it is not seen before it is known what it comes to.
func (r *registry) take(id engine.UnitID, read declaration) (a *app, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, gone := r.gone[read.obj.UID]; gone {
		return nil, false
	}
	if a = r.apps[id]; a != nil && a.uid == read.obj.UID {
		return a, false
	}
	a = &app{id: id, uid: read.obj.UID, declaration: read}
	a.mu.Lock()
	r.apps[id] = a
	return a, true
}

func newRegistry() *registry {
	return &registry{apps: map[engine.UnitID]*app{}, strangers: map[engine.UnitID]*unstructured.Unstructured{}, gone: map[types.UID]time.Time{}}
}

func (r *registry) get(id engine.UnitID) *app {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.apps[id]
}

// each calls do with every Application, in no order.
func (r *registry) each(do func(*app)) {
	r.mu.RLock()
	all := make([]*app, 0, len(r.apps))
	for _, a := range r.apps {
		all = append(all, a)
	}
	r.mu.RUnlock()
	for _, a := range all {
		do(a)
	}
}

// readers are the Applications that read a key.
func (r *registry) readers(k feeds.Key) []*app {
	var found []*app
	r.each(func(a *app) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if slices.Contains(a.keys, k) {
			found = append(found, a)
		}
	})
	return found
}

// app is one Application, and what is known of it. One that is created again under its name is another app, so that a worker
// of the deleted one shares nothing with it.
type app struct {
	id  engine.UnitID
	uid types.UID

	// mu guards what follows, up to job. It is held for moments only.
	mu sync.Mutex
	declaration
	// asked is the token of the last request, until it is gone.
	asked string
	// awaits is the request for a fetch that has to be answered before anything is compared.
	awaits uint64

	// governs is the project that held when the last project changed. What was read of the Application since does not change it.
	governs *policy.Project

	// wanted are the keys that are followed, pinned is at what the Application was held when they were read.
	wanted []feeds.Key
	pinned string

	// view is what the last comparison and the last operation gave.
	view view
	// job belongs to the worker of the unit, and needs no lock.
	job job
}

// governed reports whether another project holds than when a project changed last.
func (a *app) governed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.governs
	a.governs = a.project
	return !a.project.Same(before)
}

func (a *app) source() engine.SourceID {
	return engine.SourceID(a.id)
}

// now returns the Application as it was read last.
func (a *app) now() *v1alpha1.Application {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.obj
}

// putApplication takes an Application from the watch, or from its writer.
func (e *Engine) putApplication(u *unstructured.Unstructured) {
	id := UnitID(u.GetNamespace(), u.GetName())
	if !e.serves(u.GetNamespace()) {
		e.apps.mu.Lock()
		e.apps.strangers[id] = u
		e.apps.mu.Unlock()
		return
	}
	obj, err := declared.Read[v1alpha1.Application](u)
	if err != nil {
		e.observe(id.String(), err.Error())
		return
	}
	e.introduce(obj)
	if e.enter(id, declaration{obj: obj, raw: u.Object}) {
		e.sets.ApplicationChanged(obj)
		if a := e.apps.get(id); a != nil && len(a.snapshot().made) > 0 {
			e.Grants.Changed()
		}
	}
}

// serves reports whether Applications of a namespace are served here.
func (e *Engine) serves(namespace string) bool {
	return namespace == e.options.Namespace || settings.MatchesAny(e.settings.Now().Namespaces, namespace)
}

func (e *Engine) dropApplication(u *unstructured.Unstructured) {
	id := UnitID(u.GetNamespace(), u.GetName())
	a := e.leave(id, u.GetUID())
	if a == nil {
		return
	}
	e.Bases.Forget(id.String())
	if e.settings.Chart(id, settings.Objects{}) {
		e.settingsChanged()
	}
	e.sets.ApplicationChanged(a.now())
	if len(a.snapshot().made) > 0 {
		e.Grants.Changed()
	}
	if e.Metrics != nil {
		e.Metrics.ForgetApplication(id.Namespace, id.Name)
	}
}

// reserve adds the Applications of namespaces that are served by now, and releases those that are no longer.
func (e *Engine) reserve() {
	var come, gone []*unstructured.Unstructured
	e.apps.mu.Lock()
	for id, u := range e.apps.strangers {
		if e.serves(id.Namespace) {
			come = append(come, u)
			delete(e.apps.strangers, id)
		}
	}
	for id, a := range e.apps.apps {
		if !e.serves(id.Namespace) {
			a.mu.Lock()
			gone = append(gone, &unstructured.Unstructured{Object: a.raw})
			a.mu.Unlock()
		}
	}
	e.apps.mu.Unlock()
	for _, u := range gone {
		e.dropApplication(u)
		e.putApplication(u)
	}
	for _, u := range come {
		e.putApplication(u)
	}
}
