package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/health"
)

// Record is what is kept of an object: enough to judge it and to see that it is no longer what was
// applied, and no more.
type Record struct {
	ID              engine.ObjectID
	UID             types.UID
	ResourceVersion uint64
	Generation      int64
	// Owned is a digest of the set of fields that our field manager applied and still owns. Any
	// change by another manager to one of them takes it out of the set, and changes the digest.
	Owned string
	// Updated is a digest of the set of fields that our field manager wrote otherwise, by an update or
	// a patch, and still owns.
	Updated string
	// Stray is set when a kubectl field manager owns fields of the object outside its status,
	// which the upstream takes away from it.
	Stray bool
	// Marks are those by which the live object steers how it is applied and pruned.
	Marks engine.Marks
	// Unit is the owner by the labels of the object, as namespace and name.
	Unit     types.NamespacedName
	Deleting bool
	Health   engine.ObjectHealth
	// renewal counts the changes of the rules by which the object was judged.
	renewal int
	// Full is the object itself; it is kept only for kinds that were requested by KeepFull.
	Full *unstructured.Unstructured
}

// Objects holds the records of managed and followed objects. It is safe for concurrent use.
type Objects struct {
	client    dynamic.Interface
	kinds     *Kinds
	ownership Ownership
	listener  Listener
	guard     guard.Guard
	ctx       context.Context
	cluster   string

	mu      sync.RWMutex
	records map[engine.ObjectID]Record
	watches map[watchKey]*watch
	full    map[schema.GroupKind]bool
	renewal int
	// owned are the objects of units, by the owner in their records, where a Judge says whose they are.
	owned   map[types.NamespacedName]map[engine.ObjectID]string
	denials denials
	// denied is set once anything was refused, which is rare.
	denied atomic.Bool
}

type watchKey struct {
	kind schema.GroupKind
	selection
}

func newObjects(client dynamic.Interface, kinds *Kinds, ownership Ownership, listener Listener) *Objects {
	return &Objects{
		client: client, kinds: kinds, ownership: ownership, listener: listener,
		records: map[engine.ObjectID]Record{}, watches: map[watchKey]*watch{}, full: map[schema.GroupKind]bool{},
		owned:   map[types.NamespacedName]map[engine.ObjectID]string{},
		denials: denials{watches: map[watchKey]time.Time{}, reads: map[engine.ObjectID]bool{}},
	}
}

// Ownership is how managed objects are marked.
func (o *Objects) Ownership() Ownership { return o.ownership }

func (o *Objects) start(ctx context.Context) { o.ctx = ctx }

// WatchManaged keeps the records of all managed objects of a kind and waits until the first list
// is in, unless the kind has only just come. Where that is not permitted, it does so for those of the
// namespaces only. A kind that is not served is an error, and so is one that may not be watched: its
// objects have to be read.
func (o *Objects) WatchManaged(ctx context.Context, gvk schema.GroupVersionKind, namespaces []string) error {
	err := o.watchAll(ctx, gvk, selection{label: o.ownership.Label})
	if !errors.Is(err, errDenied) {
		return err
	}
	r, ok := o.kinds.Lookup(gvk)
	if !ok || !r.Namespaced {
		return err
	}
	var errs []error
	for _, namespace := range namespaces {
		errs = append(errs, o.watchAll(ctx, gvk, selection{label: o.ownership.Label, namespace: namespace}))
	}
	return errors.Join(errs...)
}

func (o *Objects) watchAll(ctx context.Context, gvk schema.GroupVersionKind, sel selection) error {
	w, err := o.ensure(gvk, sel)
	if err != nil || o.kinds.Young(gvk.GroupKind()) {
		return err
	}
	wait, cancel := context.WithTimeoutCause(ctx, listTimeout, errSlow)
	defer cancel()
	return w.waitSynced(wait)
}

// Follow keeps the record of one object that another manager may own. It does not wait. It
// returns false when the kind is not served; the kind's arrival is then told to the listener.
func (o *Objects) Follow(id engine.ObjectID, version string) bool {
	_, err := o.ensure(id.GroupKind().WithVersion(version), selection{namespace: id.Namespace, name: id.Name})
	return err == nil || errors.Is(err, errDenied)
}

func (o *Objects) ensure(gvk schema.GroupVersionKind, sel selection) (*watch, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := watchKey{gvk.GroupKind(), sel}
	if w, known := o.watches[key]; known {
		running, _, denied := w.state()
		if running {
			return w, nil
		}
		if denied {
			o.denials.watch(key)
			delete(o.watches, key)
		}
	}
	if o.denials.watching(key) {
		return nil, errDenied
	}
	r, ok := o.kinds.Lookup(gvk)
	if !ok {
		if r, ok = o.kinds.Lookup(gvk.GroupKind().WithVersion("")); !ok {
			return nil, fmt.Errorf("kind %s is not served", gvk.GroupKind())
		}
	}
	w := o.newWatch(o.ctx, r.GroupVersionResource, sel, o.sink())
	o.watches[key] = w
	return w, nil
}

// StopKind ends the watches of a kind that is no longer served and forgets its objects.
func (o *Objects) StopKind(gk schema.GroupKind) {
	o.mu.Lock()
	for key, w := range o.watches {
		if key.kind == gk {
			w.stop()
			delete(o.watches, key)
		}
	}
	var gone []engine.ObjectID
	for id := range o.records {
		if id.GroupKind() == gk {
			gone = append(gone, id)
			o.own(o.records[id].Unit, types.NamespacedName{}, id, "")
			delete(o.records, id)
		}
	}
	o.mu.Unlock()
	for _, id := range gone {
		o.listener.ObjectChanged(id)
	}
}

// KeepFull makes the records of a kind hold the whole object from now on, those of every kind of its group when it
// names none.
func (o *Objects) KeepFull(gk schema.GroupKind) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.full[gk] {
		return
	}
	o.full[gk] = true
	for key, w := range o.watches {
		if key.kind == gk || gk.Kind == "" && key.kind.Group == gk.Group {
			w.stop()
			o.watches[key] = o.newWatch(o.ctx, w.resource, key.selection, o.sink())
		}
	}
}

// Get returns the record of an object.
func (o *Objects) Get(id engine.ObjectID) (Record, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	r, ok := o.records[id]
	return r, ok
}

// Put enters what a write returned, so that callers need not wait for the watch to deliver it.
func (o *Objects) Put(u *unstructured.Unstructured) Record {
	o.expect(u)
	r, changed := o.enter(u)
	if changed {
		// The watch will bring the same version, which is no news then.
		o.listener.ObjectChanged(r.ID)
	}
	return r
}

// Reduce returns the record that stands for u.
func (o *Objects) Reduce(u *unstructured.Unstructured) Record {
	version, _ := strconv.ParseUint(u.GetResourceVersion(), 10, 64)
	r := Record{
		ID: engine.IDOf(u).In(o.cluster), UID: u.GetUID(), ResourceVersion: version, Generation: u.GetGeneration(),
		Deleting: u.GetDeletionTimestamp() != nil, Health: o.assess(u), Marks: engine.MarksOf(u, o.ownership.Prefix),
		Unit: o.ownerOf(u),
	}
	r.Owned, r.Stray = ownedFields(u.GetManagedFields(), o.ownership)
	r.Updated = updatedFields(u.GetManagedFields(), o.ownership.Manager)
	return r
}

func (o *Objects) assess(u *unstructured.Unstructured) engine.ObjectHealth {
	if o.ownership.Judge == nil {
		return health.Assess(u)
	}
	id := engine.IDOf(u).In(o.cluster)
	var h engine.ObjectHealth
	err := o.guard.Call("health of "+id.String(), func() error {
		h = o.ownership.Judge.Assess(u)
		return nil
	})
	if err != nil {
		h = engine.ObjectHealth{Verdict: engine.Unknown, Message: err.Error()}
	}
	h.ID = id
	return h
}

// Renew evaluates every object again, since the rules have changed.
func (o *Objects) Renew() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewal++
	for key, w := range o.watches {
		w.stop()
		o.watches[key] = o.newWatch(o.ctx, w.resource, key.selection, o.sink())
	}
}

func (o *Objects) enter(u *unstructured.Unstructured) (Record, bool) {
	r := o.Reduce(u)
	o.mu.Lock()
	defer o.mu.Unlock()
	r.renewal = o.renewal
	old, known := o.records[r.ID]
	if known && old.UID == r.UID && old.ResourceVersion >= r.ResourceVersion && old.renewal == r.renewal && !o.lacksFull(old) {
		return old, false
	}
	if o.keepsFull(r.ID.GroupKind()) {
		r.Full = u
	}
	o.own(old.Unit, r.Unit, r.ID, u.GroupVersionKind().Version)
	o.records[r.ID] = r
	return r, true
}

// own keeps the index of owners true. The caller holds the lock.
func (o *Objects) own(before, now types.NamespacedName, id engine.ObjectID, version string) {
	if o.ownership.Judge == nil {
		return
	}
	none := types.NamespacedName{}
	if before != now && before != none {
		delete(o.owned[before], id)
		if len(o.owned[before]) == 0 {
			delete(o.owned, before)
		}
	}
	if now == none {
		return
	}
	if o.owned[now] == nil {
		o.owned[now] = map[engine.ObjectID]string{}
	}
	o.owned[now][id] = version
}

// OwnedBy returns the objects that are marked as those of a unit, among all that are watched.
func (o *Objects) OwnedBy(unit types.NamespacedName) []engine.Entry {
	o.mu.RLock()
	defer o.mu.RUnlock()
	entries := make([]engine.Entry, 0, len(o.owned[unit]))
	for id, version := range o.owned[unit] {
		entries = append(entries, engine.Entry{ID: id, Version: version})
	}
	slices.SortFunc(entries, func(a, b engine.Entry) int { return a.ID.Compare(b.ID) })
	return entries
}

func (o *Objects) lacksFull(r Record) bool { return r.Full == nil && o.keepsFull(r.ID.GroupKind()) }

// keepsFull reports whether records of a kind hold the whole object. The caller holds the lock.
func (o *Objects) keepsFull(gk schema.GroupKind) bool {
	return o.full[gk] || o.full[schema.GroupKind{Group: gk.Group}]
}

func (o *Objects) sink() Sink { return Sink{Put: o.put, Dropped: o.dropped} }

func (o *Objects) put(u *unstructured.Unstructured) {
	if r, changed := o.enter(u); changed {
		o.listener.ObjectChanged(r.ID)
	}
}

// dropped forgets an object that went. A record that a write made newer than the watch is kept: the
// watch brings its end as well, later.
func (o *Objects) dropped(u *unstructured.Unstructured) {
	id := engine.IDOf(u).In(o.cluster)
	version, _ := strconv.ParseUint(u.GetResourceVersion(), 10, 64)
	o.mu.Lock()
	old, known := o.records[id]
	if known && (old.UID != u.GetUID() || old.ResourceVersion > version) {
		o.mu.Unlock()
		return
	}
	o.own(old.Unit, types.NamespacedName{}, id, "")
	delete(o.records, id)
	o.mu.Unlock()
	if known {
		o.listener.ObjectChanged(id)
	}
}

// Forget drops the record of an object that a write found gone.
func (o *Objects) Forget(id engine.ObjectID) {
	o.mu.Lock()
	o.own(o.records[id].Unit, types.NamespacedName{}, id, "")
	delete(o.records, id)
	o.mu.Unlock()
}
