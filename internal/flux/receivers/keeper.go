// Package receivers serves Receivers: hooks that have objects reconciled.
//
// Senders are verified by internal/webhook.
package receivers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/tokens"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// askEvery is the least time between two requests for a pass of the same object by receivers, and between
// two words about requests that were not let in.
const askEvery = time.Second

// Keeper holds Receivers, and the hooks that they open. It is safe for concurrent use.
type Keeper struct {
	toolkit.Tools
	toolkit.ByNamespace
	*declared.Registry[notifyv1.Receiver, *notifyv1.Receiver]

	ctx      context.Context
	policies *policies.Effective
	tokens   *tokens.Keeper[engine.UnitID]
	turns    *turns
	Desk     *toolkit.Desk
	Handler  *webhook.Handler
	// plans belong to the desk.
	plans map[engine.UnitID]receiverPlan

	mu    sync.RWMutex
	hooks map[string]openHook
	paths map[engine.UnitID]string
}

// openHook is a hook and whose it is.
type openHook struct {
	webhook.Hook

	id engine.UnitID
}

func receiverID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: toolkit.Notification.Name, Kind: notifyv1.ReceiverKind, Namespace: namespace, Name: name}
}

// New returns what serves Receivers until ctx ends.
func New(ctx context.Context, t toolkit.Tools, policies *policies.Effective) *Keeper {
	r := &Keeper{
		Registry: declared.NewRegistry[notifyv1.Receiver](toolkit.KindIn(toolkit.Notification, notifyv1.ReceiverKind)), ctx: ctx,
		Tools: t, policies: policies,
		turns: newTurns(askEvery), plans: map[engine.UnitID]receiverPlan{},
		hooks: map[string]openHook{}, paths: map[engine.UnitID]string{},
	}
	r.Desk = toolkit.NewDesk(t.Log, t.Guard, r)
	r.tokens = tokens.New(ctx, t.Home, r.Desk.Wake)
	r.Handler = webhook.New(webhook.Config{Find: r.find, Refused: r.refused})
	return r
}

// Watch reads the Receivers.
func (r *Keeper) Watch(ctx context.Context) error {
	return r.Home.Watch(ctx, toolkit.ReceiverResource, r.Selector, cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			o, err := r.Put(u)
			if err != nil {
				r.Log.Info("an object cannot be read", "error", err.Error())
				return
			}
			toolkit.Finalize(ctx, r.Host, o, toolkit.ReceiverResource, notifyv1.NotificationFinalizer)
			r.Desk.Wake(receiverID(o.Namespace, o.Name))
		},
		Dropped: func(u *unstructured.Unstructured) {
			toolkit.Forget(r.Host, notifyv1.ReceiverKind, u)
			id := receiverID(u.GetNamespace(), u.GetName())
			r.Drop(id)
			r.Desk.Wake(id)
		},
	})
}

// Again evaluates every Receiver again.
func (r *Keeper) Again() {
	for _, o := range r.All() {
		r.Desk.Wake(receiverID(o.Namespace, o.Name))
	}
}

// find is called for each request, from anywhere.
func (r *Keeper) find(path string) (webhook.Hook, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, open := r.hooks[path]
	// An engine that ends requests nothing any more; the next one does.
	h.Closed = h.Closed || r.ctx.Err() != nil
	return h.Hook, open
}

// open lets a Receiver have a hook at a path, and no other.
func (r *Keeper) open(id engine.UnitID, path string, hook webhook.Hook) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.paths[id]; before != path && r.hooks[before].id == id {
		delete(r.hooks, before)
	}
	delete(r.paths, id)
	if path == "" {
		return
	}
	r.paths[id] = path
	r.hooks[path] = openHook{Hook: hook, id: id}
}

// refused reports a refused request, so that the owner of the Receiver can see why.
func (r *Keeper) refused(hook string, why error) {
	r.mu.RLock()
	var o *notifyv1.Receiver
	for _, h := range r.hooks {
		if h.Name == hook {
			o, _ = r.Get(h.id)
			break
		}
	}
	r.mu.RUnlock()
	if o == nil {
		return
	}
	// A sender that does not stop is reported once in a while.
	_ = r.turns.do("refused "+hook, func() error {
		r.Events.Record(o, corev1.EventTypeWarning, meta.FailedReason, fmt.Sprintf("a request was refused: %s", why), nil)
		return nil
	}, nil)
}
