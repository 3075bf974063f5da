package argo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	"github.com/headgate-dev/headgate/internal/source"
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

	// wanted are the keys that are followed.
	wanted []feeds.Key

	// view is what the last comparison and the last operation gave.
	view view
	// job belongs to the worker of the unit, and needs no lock.
	job job
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
	if e.enter(id, declaration{obj: obj, raw: u.Object}) {
		e.sets.applicationChanged(obj)
	}
}

// serves tells whether Applications of a namespace are served here.
func (e *Engine) serves(namespace string) bool {
	return namespace == e.options.Namespace || matchesAny(e.settings.now().Namespaces, namespace)
}

func (e *Engine) dropApplication(u *unstructured.Unstructured) {
	id := UnitID(u.GetNamespace(), u.GetName())
	a := e.leave(id, u.GetUID())
	if a == nil {
		return
	}
	if e.settings.chart(id, settings.Objects{}) {
		e.settingsChanged()
	}
	e.sets.applicationGone(a.now())
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

// wantedSources are the sources of an Application, as a request for a sync changes them: without its revisions where these
// hold no more.
func wantedSources(obj *v1alpha1.Application, unpinned bool) []v1alpha1.ApplicationSource {
	spec := obj.Spec
	all := slices.Clone(spec.Sources)
	if one := policy.SourceOf(spec); one != nil {
		all = []v1alpha1.ApplicationSource{*one}
	}
	if obj.Operation == nil || obj.Operation.Sync == nil {
		return all
	}
	sync := obj.Operation.Sync
	switch {
	case len(sync.Sources) > 0:
		all = slices.Clone(sync.Sources)
	case sync.Source != nil:
		all = []v1alpha1.ApplicationSource{*sync.Source}
	}
	for i := range all {
		switch {
		case unpinned:
		case len(sync.Revisions) > i && sync.Revisions[i] != "":
			all[i].TargetRevision = sync.Revisions[i]
		case sync.Revision != "" && len(all) == 1:
			all[i].TargetRevision = sync.Revision
		}
	}
	return all
}

// requestOf is the token of the request, empty if there is none.
func requestOf(obj *v1alpha1.Application) string {
	refresh := obj.Annotations[v1alpha1.RefreshAnnotation]
	if obj.Operation == nil && refresh == "" {
		return ""
	}
	text, err := json.Marshal(obj.Operation)
	if err != nil {
		return refresh
	}
	// The same request again is another one: it came with another version of the object.
	return refresh + ":" + digest(string(text)+refreshVersion(obj, refresh))
}

func refreshVersion(obj *v1alpha1.Application, refresh string) string {
	if refresh == "" {
		return ""
	}
	return obj.ResourceVersion
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// sources answers for the sources of Applications.
type sources struct{ e *Engine }

// Source tells what all repositories of an Application have at the revisions that it wants.
func (s sources) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	a := s.e.apps.get(UnitID(id.Namespace, id.Name))
	if a == nil {
		return engine.SourceFact{Message: id.String() + " does not exist"}, nil
	}
	a.mu.Lock()
	keys, awaits, unbegun := a.keys, a.awaits, a.unbegun()
	a.mu.Unlock()
	if len(keys) == 0 {
		return engine.SourceFact{Found: true, Revision: "none", Digest: "none"}, nil
	}
	fact := engine.SourceFact{Found: true}
	var revisions, digests []string
	for i, k := range keys {
		state := s.e.feeds.Get(k)
		switch {
		case !state.Settled, state.Asked < awaits && !k.Fixed():
			return engine.SourceFact{Found: true, Pending: true, Message: sourceName(keys, i) + " is being fetched"}, nil
		case !state.Has(), unbegun && state.Err != nil:
			return engine.SourceFact{Found: true, Message: fmt.Sprintf("%s: %s", sourceName(keys, i), state.Err)}, nil
		}
		revisions = append(revisions, state.Revision)
		digests = append(digests, fmt.Sprintf("%v %s %s", k, state.Revision, state.Digest))
	}
	fact.Revision, fact.Digest = strings.Join(revisions, ","), digest(strings.Join(digests, "\n"))
	return fact, nil
}

// Readings returns which repositories an Application reads, and what there is of each. Repositories of charts have no
// revisions that others could read.
func (s sources) Readings(id engine.SourceID) []engine.Reading {
	var all []engine.Reading
	for _, k := range s.keys(id) {
		if k.Kind == feeds.Helm {
			continue
		}
		state := s.e.feeds.Get(k)
		one := engine.Reading{
			Repository: engine.RepositoryOf(k.URL, k.Revision), Revision: state.Revision, Known: state.Known, Fetched: state.Fetched, Fixed: k.Fixed(),
		}
		if state.Err != nil {
			one.Failure = state.Err.Error()
		}
		all = append(all, one)
	}
	return all
}

// Fetch has the repositories of an Application fetched at once.
func (s sources) Fetch(id engine.SourceID) { s.e.feeds.Refresh(s.keys(id)) }

// keys are those of what an Application reads.
func (s sources) keys(id engine.SourceID) []feeds.Key {
	a := s.e.apps.get(UnitID(id.Namespace, id.Name))
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.keys
}

// sourceName is what a source of several is called in messages.
func sourceName(keys []feeds.Key, i int) string {
	if len(keys) == 1 {
		return "spec.source (" + keys[i].URL + ")"
	}
	return fmt.Sprintf("spec.sources[%d] (%s)", i, keys[i].URL)
}
