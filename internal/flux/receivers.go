package flux

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// askEvery is the least time between two requests for a pass of the same object by receivers, and between
// two words about requests that were not let in.
const askEvery = time.Second

// receivers holds Receivers, and the hooks that they open. It is safe for concurrent use.
type receivers struct {
	byNamespace
	*declared.Registry[notifyv1.Receiver, *notifyv1.Receiver]

	ctx      context.Context
	client   dynamic.Interface
	kinds    *cluster.Kinds
	events   events
	policies *policies
	passed   func(kind, namespace, name string, took time.Duration, ok bool)
	tokens   *tokens
	turns    *turns
	desk     *desk
	handler  *webhook.Handler
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
	return engine.UnitID{Group: notificationGroup.Name, Kind: notifyv1.ReceiverKind, Namespace: namespace, Name: name}
}

// startReceivers puts together what serves Receivers.
func (e *Engine) startReceivers(ctx context.Context) {
	r := &receivers{
		Registry: declared.NewRegistry[notifyv1.Receiver](kindIn(notificationGroup, notifyv1.ReceiverKind)), ctx: ctx,
		client: e.cluster.Dynamic, kinds: e.cluster.Kinds, events: e.dialect.events, policies: e.policies, passed: e.Metrics.Pass,
		turns: newTurns(askEvery), plans: map[engine.UnitID]receiverPlan{},
		hooks: map[string]openHook{}, paths: map[engine.UnitID]string{},
	}
	r.desk = newDesk(e.Log, r)
	r.tokens = newTokens(ctx, r.desk.Wake)
	r.tokens.watch = func(ctx context.Context, namespace, name string, to cluster.Sink) error {
		return e.cluster.WatchOne(ctx, secretResource, namespace, name, to)
	}
	r.handler = webhook.New(webhook.Config{Find: r.find, Refused: r.refused})
	e.receivers = r
}

func (e *Engine) watchReceivers(ctx context.Context) error {
	return e.cluster.Watch(ctx, receiverResource, e.Selector, cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			o, err := e.receivers.Put(u)
			if err != nil {
				e.Log.Info("an object cannot be read", "error", err.Error())
				return
			}
			e.finalizer(ctx, o, receiverResource, notifyv1.NotificationFinalizer)
			e.receivers.desk.Wake(receiverID(o.Namespace, o.Name))
		},
		Dropped: func(u *unstructured.Unstructured) {
			e.gone(notifyv1.ReceiverKind, u)
			id := receiverID(u.GetNamespace(), u.GetName())
			e.receivers.Drop(id)
			e.receivers.desk.Wake(id)
		},
	})
}

// Hooks serves the hooks of Receivers, below notifyv1.ReceiverWebhookPath.
func (e *Engine) Hooks() http.Handler { return e.receivers.handler }

// again evaluates every Receiver again.
func (r *receivers) again() {
	for _, o := range r.All() {
		r.desk.Wake(receiverID(o.Namespace, o.Name))
	}
}

// find is called for each request, from anywhere.
func (r *receivers) find(path string) (webhook.Hook, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, open := r.hooks[path]
	// An engine that ends requests nothing any more; the next one does.
	h.Closed = h.Closed || r.ctx.Err() != nil
	return h.Hook, open
}

// open lets a Receiver have a hook at a path, and no other.
func (r *receivers) open(id engine.UnitID, path string, hook webhook.Hook) {
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
func (r *receivers) refused(hook string, why error) {
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
		r.events.emit(o, corev1.EventTypeWarning, meta.FailedReason, fmt.Sprintf("a request was refused: %s", why), nil)
		return nil
	}, nil)
}
