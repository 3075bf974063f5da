package cluster

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
)

// denialLasts is how long a refusal is believed: an account may be given rights later.
const denialLasts = 5 * time.Minute

// listTimeout bounds the wait for a first list; without it an object is written that may be as it
// should be, which is slower and as right.
const listTimeout = 30 * time.Second

var errSlow = errors.New("listing timed out")

// denials are what an account may not do.
type denials struct {
	watches map[watchKey]time.Time
	// wide is when a watch of a whole kind was refused: that of the next kind is not even tried.
	wide  time.Time
	reads map[engine.ObjectID]bool
}

// watch notes that a watch was refused.
func (d *denials) watch(key watchKey) {
	now := time.Now()
	d.watches[key] = now
	if key.namespace == "" && key.name == "" {
		d.wide = now
	}
}

// watching reports whether a watch is known to be refused.
func (d *denials) watching(key watchKey) bool {
	if key.namespace == "" && key.name == "" && time.Since(d.wide) < denialLasts {
		return true
	}
	return time.Since(d.watches[key]) < denialLasts
}

// Unwatched returns which of the entries no watch keeps the records of, since the account may not
// watch them. Kinds that are not served are not among them.
func (o *Objects) Unwatched(entries []engine.Entry) []engine.Entry {
	if !o.denied.Load() {
		return nil
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	var unwatched []engine.Entry
	for _, e := range entries {
		if _, served := o.kinds.Lookup(e.ID.GroupKind().WithVersion("")); served && !o.watched(e.ID) {
			unwatched = append(unwatched, e)
		}
	}
	return unwatched
}

// watched reports whether a watch keeps the record of an object. The caller holds the lock.
func (o *Objects) watched(id engine.ObjectID) bool {
	gk := id.GroupKind()
	for _, sel := range []selection{
		{namespace: id.Namespace, name: id.Name},
		{label: o.ownership.Label},
		{label: o.ownership.Label, namespace: id.Namespace},
	} {
		w, known := o.watches[watchKey{gk, sel}]
		if !known {
			continue
		}
		running, synced, _ := w.state()
		_, recorded := o.records[id]
		// A watch of managed objects says nothing about an unmanaged object.
		if running && synced && (sel.name != "" || recorded) {
			return true
		}
	}
	return false
}

// Read asks for objects that are not watched, so that their records are true now. An object that the
// account may not read has no record, and Unreadable tells so.
func (o *Objects) Read(ctx context.Context, entries []engine.Entry) {
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		o.read(ctx, e)
	}
}

func (o *Objects) read(ctx context.Context, e engine.Entry) {
	r, ok := o.kinds.Lookup(e.GroupVersionKind())
	if !ok {
		if r, ok = o.kinds.Lookup(e.ID.GroupKind().WithVersion("")); !ok {
			return
		}
	}
	u, err := o.client.Resource(r.GroupVersionResource).Namespace(e.ID.Namespace).Get(ctx, e.ID.Name, metav1.GetOptions{})
	o.mu.Lock()
	delete(o.denials.reads, e.ID)
	if apierrors.IsForbidden(err) {
		o.denials.reads[e.ID] = true
	}
	_, known := o.records[e.ID]
	if err != nil && (apierrors.IsNotFound(err) || apierrors.IsForbidden(err)) {
		delete(o.records, e.ID)
		o.mu.Unlock()
		if known {
			o.listener.ObjectChanged(e.ID)
		}
		return
	}
	o.mu.Unlock()
	if err == nil {
		o.put(u)
	}
}

// Unreadable reports whether the account was refused when it read the object last.
func (o *Objects) Unreadable(id engine.ObjectID) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.denials.reads[id]
}
