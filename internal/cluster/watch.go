package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Sink takes what a watch brings. The calls come from the goroutine of the watch, in the order of
// the changes, and must not block.
type Sink struct {
	// Put takes an object that appeared or changed, Dropped one that went, of which only the
	// identity may be known.
	Put, Dropped func(u *unstructured.Unstructured)
}

// Watch hands all objects of a resource that a label selector matches to a sink, now and as they
// change, until ctx ends. It returns when the first list has been handed over.
func (c *Cluster) Watch(ctx context.Context, r schema.GroupVersionResource, labels string, to Sink) error {
	return c.Objects.newWatch(ctx, r, selection{label: labels, needed: true}, to).waitSynced(ctx)
}

// WatchOne is Watch for one object, which may not be there.
func (c *Cluster) WatchOne(ctx context.Context, r schema.GroupVersionResource, namespace, name string, to Sink) error {
	return c.Objects.newWatch(ctx, r, selection{namespace: namespace, name: name, needed: true}, to).waitSynced(ctx)
}

// selection narrows a watch: to objects with a label, to those of a namespace, or to one object.
type selection struct {
	label           string
	namespace, name string
	// needed is set when nothing goes without the watch: once it has had its first list, it never ends.
	needed bool
}

func (s selection) apply(options *metav1.ListOptions) {
	options.LabelSelector = s.label
	if s.name != "" {
		options.FieldSelector = "metadata.name=" + s.name
	}
}

// watch keeps one list and watch alive and hands what it brings to a sink. It stores of each
// object only what it takes to notice that the object is missing from a later list.
type watch struct {
	resource schema.GroupVersionResource
	sink     Sink
	guard    guard.Guard
	ctx      context.Context
	stop     context.CancelFunc
	synced   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	seen map[types.UID]*unstructured.Unstructured
	// lost is set while the cluster does not answer.
	lost bool
	// denied is set when the watch ended because it is not permitted.
	denied bool
	needed bool
	// refused is since when it is not permitted.
	refused time.Time
}

// refusalLasts is how long a watch that was permitted goes on asking when it is not any more: a server that
// has just begun refuses what it has not yet read the rules of.
const refusalLasts = time.Minute

// Backoff of a watch whose server does not answer, in bounds that notice its return soon.
const (
	watchBackoff    = 200 * time.Millisecond
	watchBackoffMax = 3 * time.Second
)

func (o *Objects) newWatch(ctx context.Context, r schema.GroupVersionResource, sel selection, to Sink) *watch {
	w := &watch{
		resource: r, sink: to, guard: o.guard, synced: make(chan struct{}), seen: map[types.UID]*unstructured.Unstructured{}, needed: sel.needed,
	}
	w.ctx, w.stop = context.WithCancel(ctx)
	client := o.client.Resource(r)
	list := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			sel.apply(&options)
			found, err := client.Namespace(sel.namespace).List(ctx, options)
			w.answered(err, o)
			return found, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
			sel.apply(&options)
			stream, err := client.Namespace(sel.namespace).Watch(ctx, options)
			w.answered(err, o)
			return stream, err
		},
	}
	reflector := cache.NewReflectorWithOptions(list, &unstructured.Unstructured{}, w, cache.ReflectorOptions{
		Name: "headgate/" + r.Resource,
		Backoff: &wait.Backoff{
			Duration: watchBackoff, Factor: 2, Jitter: 0.2, Steps: 5, Cap: watchBackoffMax,
		},
	})
	go reflector.RunWithContext(w.ctx)
	return w
}

// answered notes whether the cluster answers, and tells when it does again. A watch that is not
// permitted ends: asking again would not help.
func (w *watch) answered(err error, o *Objects) {
	w.mu.Lock()
	back := w.lost && err == nil
	w.lost = err != nil
	ends := w.refusedFor(err)
	w.denied = w.denied || ends
	w.mu.Unlock()
	if ends {
		o.denied.Store(true)
		w.stop()
	}
	if back {
		o.listener.Reconnected()
	}
}

// refusedFor reports whether a refusal ends the watch. The caller holds the lock.
func (w *watch) refusedFor(err error) bool {
	if !apierrors.IsForbidden(err) {
		w.refused = time.Time{}
		return false
	}
	select {
	case <-w.synced:
	default:
		return true
	}
	if w.refused.IsZero() {
		w.refused = time.Now()
	}
	return !w.needed && time.Since(w.refused) > refusalLasts
}

// state reports whether the watch goes on, whether it has its first list, and whether it ended because
// it is not permitted.
func (w *watch) state() (running, synced, denied bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.synced:
		synced = true
	default:
	}
	return w.ctx.Err() == nil, synced, w.denied
}

// errDenied is why a watch ended that is not permitted.
var errDenied = errors.New("not permitted")

// waitSynced waits until the first list is in.
func (w *watch) waitSynced(ctx context.Context) error {
	select {
	case <-w.synced:
		return nil
	case <-w.ctx.Done():
		if _, _, denied := w.state(); denied {
			return fmt.Errorf("watching %s: %w", w.resource.Resource, errDenied)
		}
		return fmt.Errorf("watching %s: the watch was stopped", w.resource.Resource)
	case <-ctx.Done():
		return fmt.Errorf("watching %s: the first list did not arrive: %w", w.resource.Resource, context.Cause(ctx))
	}
}

// Add takes an object of the watch; it is called by the reflector.
func (w *watch) Add(obj any) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watching %s: got a %T", w.resource.Resource, obj)
	}
	w.mu.Lock()
	w.seen[u.GetUID()] = stub(u)
	w.mu.Unlock()
	w.guard.Run(w.of(u), func() { w.sink.Put(u) })
	return nil
}

// of names an object for the log: what takes it may panic, which must not end the watch of the others.
func (w *watch) of(u *unstructured.Unstructured) string {
	return w.resource.Resource + " " + u.GetNamespace() + "/" + u.GetName()
}

// expect has an object count as seen that a write returned: when it goes before the first list, that list is the
// only one to tell.
func (w *watch) expect(u *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[u.GetUID()] = stub(u)
}

// expect tells the watches of managed objects, of which the object is one, what a write returned.
func (o *Objects) expect(u *unstructured.Unstructured) {
	label := o.ownership.Label
	if _, marked := u.GetLabels()[label]; label != "" && !marked {
		return
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, namespace := range []string{"", u.GetNamespace()} {
		if w := o.watches[watchKey{u.GroupVersionKind().GroupKind(), selection{label: label, namespace: namespace}}]; w != nil {
			w.expect(u)
		}
	}
}

// Update takes a changed object.
func (w *watch) Update(obj any) error { return w.Add(obj) }

// Delete takes an object that went.
func (w *watch) Delete(obj any) error {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watching %s: got a %T", w.resource.Resource, obj)
	}
	w.mu.Lock()
	delete(w.seen, u.GetUID())
	w.mu.Unlock()
	w.guard.Run(w.of(u), func() { w.sink.Dropped(u) })
	return nil
}

// Replace takes a whole list: what was seen before and is not in it went meanwhile.
func (w *watch) Replace(list []any, version string) error {
	current := make(map[types.UID]bool, len(list))
	for _, obj := range list {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			current[u.GetUID()] = true
		}
	}
	w.mu.Lock()
	var gone []*unstructured.Unstructured
	for uid, u := range w.seen {
		if !current[uid] {
			gone = append(gone, u)
			delete(w.seen, uid)
		}
	}
	w.mu.Unlock()
	for _, u := range gone {
		u.SetResourceVersion(version)
		w.guard.Run(w.of(u), func() { w.sink.Dropped(u) })
	}
	for _, obj := range list {
		if err := w.Add(obj); err != nil {
			return err
		}
	}
	w.once.Do(func() { close(w.synced) })
	return nil
}

// Resync has nothing to do: the sink is notified of each change once.
func (w *watch) Resync() error { return nil }

func stub(u *unstructured.Unstructured) *unstructured.Unstructured {
	s := &unstructured.Unstructured{}
	s.SetGroupVersionKind(u.GroupVersionKind())
	s.SetNamespace(u.GetNamespace())
	s.SetName(u.GetName())
	s.SetUID(u.GetUID())
	return s
}
