package managed

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Edges have passes made for resources when objects of a cluster change that they read. There is one watch for each kind that is
// followed, however many objects of it are. They are safe for concurrent use.
type Edges struct {
	ctx     context.Context
	cluster *cluster.Cluster
	wake    func(Key)

	readers *readers

	mu      sync.Mutex
	watches map[watched]*following
	// defined are the kinds whose definitions are established, as the watch of them brought it.
	defined map[schema.GroupKind]definition
}

// AnyName stands for all objects of a kind in a namespace.
const AnyName = "*"

// watched is what a watch is about: a kind, or one object of it where the kind may not be watched.
type watched struct {
	schema.GroupVersionResource
	types.NamespacedName
}

// following is a watch.
type following struct {
	kind schema.GroupKind
	stop context.CancelFunc
	// listed is closed when the first list has been handed over, or err says why there is none.
	listed chan struct{}
	err    error
	ended  time.Time
}

// denialLasts is how long a kind counts as one that may not be watched: rights may be given later.
const denialLasts = time.Minute

// definition is a version of a CustomResourceDefinition.
type definition struct {
	name    string
	version uint64
}

// NewEdges returns edges that follow objects of a cluster until ctx ends. Passes of a reader begin and end there.
func NewEdges(ctx context.Context, c *cluster.Cluster, wake func(Key)) *Edges {
	return &Edges{
		ctx: ctx, cluster: c, wake: wake, readers: newReaders(), watches: map[watched]*following{}, defined: map[schema.GroupKind]definition{},
	}
}

// Of returns edges for the same readers that follow objects of another cluster, or of the same as another account sees it.
func (e *Edges) Of(ctx context.Context, c *cluster.Cluster) *Edges {
	other := NewEdges(ctx, c, e.wake)
	other.readers = e.readers
	return other
}

// Get reads an object, nil when there is none, and follows it for a reader. Not being watched is no error: polled is set then.
func (e *Edges) Get(ctx context.Context, reader Key, gvk schema.GroupVersionKind, name types.NamespacedName) (o *unstructured.Unstructured, polled bool, err error) {
	r, err := e.find(ctx, reader, gvk)
	if err != nil {
		return nil, false, err
	}
	if !r.Namespaced {
		name.Namespace = ""
	}
	at := e.place(gvk.GroupKind(), name)
	e.readers.enter(reader, at)
	polled = e.follow(ctx, gvk.GroupKind(), r.GroupVersionResource, name) != nil
	o, err = e.cluster.Dynamic.Resource(r.GroupVersionResource).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		e.readers.knows(reader, at, "")
		return nil, polled, nil
	}
	if err != nil {
		return nil, polled, err
	}
	e.readers.knows(reader, at, o.GetResourceVersion())
	return o, polled, nil
}

// List reads the objects of a kind with labels in a namespace, and follows the kind there.
func (e *Edges) List(ctx context.Context, reader Key, gvk schema.GroupVersionKind, namespace, labels string) ([]unstructured.Unstructured, error) {
	r, err := e.find(ctx, reader, gvk)
	if err != nil {
		return nil, err
	}
	name := types.NamespacedName{Namespace: namespace, Name: AnyName}
	at := e.place(gvk.GroupKind(), name)
	e.readers.enter(reader, at)
	if err := e.follow(ctx, gvk.GroupKind(), r.GroupVersionResource, name); err != nil {
		return nil, err
	}
	list, err := e.cluster.Dynamic.Resource(r.GroupVersionResource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
	if err != nil {
		return nil, err
	}
	e.readers.knows(reader, at, list.GetResourceVersion())
	return list.Items, nil
}

// Wrote notes what a reader's own write made of a version of an object that it had read; of none for one that it created. Of what others
// changed between the two the reader is notified.
func (e *Edges) Wrote(reader Key, before string, made *unstructured.Unstructured) {
	at := e.place(made.GroupVersionKind().GroupKind(), types.NamespacedName{Namespace: made.GetNamespace(), Name: made.GetName()})
	e.readers.wrote(reader, at, before, made.GetResourceVersion())
}

func (e *Edges) place(gk schema.GroupKind, name types.NamespacedName) place {
	return place{e, engine.ObjectID{Group: gk.Group, Kind: gk.Kind, Namespace: name.Namespace, Name: name.Name}}
}

// Begin starts a pass of a reader, which alone can follow objects.
func (e *Edges) Begin(reader Key) { e.readers.begin(reader) }

// End ends it. After one that is whole, what it has not read is not followed any more. It reports whether something changed meanwhile that
// the pass does not know.
func (e *Edges) End(reader Key, whole bool) (outdated bool) { return e.readers.end(reader, whole) }

// Forget follows nothing any more for a reader.
func (e *Edges) Forget(reader Key) { e.readers.forget(reader) }

// changed wakes the readers of an object that do not know its version.
func (e *Edges) changed(o *unstructured.Unstructured, gone bool) {
	at := e.place(o.GroupVersionKind().GroupKind(), types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	for _, reader := range e.readers.changed(at, o.GetResourceVersion(), gone) {
		e.wake(reader)
	}
}

// follow starts the watch of a kind, and waits for its first list: what changes after that is not missed. Where the kind may not be
// watched, the object is.
func (e *Edges) follow(ctx context.Context, gk schema.GroupKind, r schema.GroupVersionResource, name types.NamespacedName) error {
	sink := cluster.Sink{
		Put:     func(o *unstructured.Unstructured) { e.changed(o, false) },
		Dropped: func(o *unstructured.Unstructured) { e.changed(o, true) },
	}
	err := e.start(watched{r, types.NamespacedName{}}, gk, func(ctx context.Context) error { return e.cluster.Watch(ctx, r, "", sink) }).wait(ctx)
	if err == nil || name.Name == AnyName || ctx.Err() != nil {
		return err
	}
	return e.start(watched{r, name}, gk, func(ctx context.Context) error {
		return e.cluster.WatchOne(ctx, r, name.Namespace, name.Name, sink)
	}).wait(ctx)
}

// start starts a watch that has not been started.
func (e *Edges) start(w watched, gk schema.GroupKind, watch func(context.Context) error) *following {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, known := e.watches[w]
	if known && !f.again(w.Name != "") {
		return f
	}
	ctx, stop := context.WithCancel(e.ctx)
	f = &following{kind: gk, stop: stop, listed: make(chan struct{})}
	e.watches[w] = f
	e.cluster.Guard().Go("the watch of "+w.Resource, func() {
		defer close(f.listed)
		f.err = watch(ctx)
		f.ended = time.Now()
	})
	return f
}

// again reports whether a watch that was denied is to be tried again: that of one object always.
func (f *following) again(one bool) bool {
	select {
	case <-f.listed:
		return f.err != nil && (one || time.Since(f.ended) > denialLasts)
	default:
		return false
	}
}

func (f *following) wait(ctx context.Context) error {
	select {
	case <-f.listed:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// customResources are the definitions of kinds.
func customResources() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// find is how a kind is reached. A reader of one that is not served is woken when its definition comes.
func (e *Edges) find(ctx context.Context, reader Key, gvk schema.GroupVersionKind) (cluster.Resource, error) {
	// Where definitions may not be watched, a kind that comes is found when the pass is repeated.
	definitions := e.start(watched{customResources(), types.NamespacedName{}}, schema.GroupKind{}, func(ctx context.Context) error {
		return e.cluster.Watch(ctx, customResources(), "", cluster.Sink{Put: e.define, Dropped: e.undefine})
	})
	if r, served := e.cluster.Kinds.Lookup(gvk); served {
		return r, nil
	}
	e.readers.enter(reader, e.place(gvk.GroupKind(), types.NamespacedName{}))
	_ = definitions.wait(ctx)
	if err := e.heard(ctx, gvk.GroupKind()); err != nil {
		return cluster.Resource{}, err
	}
	if r, served := e.cluster.Kinds.Find(gvk); served {
		return r, nil
	}
	return cluster.Resource{}, fmt.Errorf("no matches for kind %q in version %q", gvk.Kind, gvk.GroupVersion())
}

// heard waits until the cluster knows a kind whose definition was established here: two watches bring it.
func (e *Edges) heard(ctx context.Context, gk schema.GroupKind) error {
	e.mu.Lock()
	d, defined := e.defined[gk]
	e.mu.Unlock()
	if !defined {
		return nil
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !e.cluster.Kinds.Heard(d.name, d.version) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}
