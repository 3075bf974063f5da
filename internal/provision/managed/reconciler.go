package managed

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// Options are what a person says of all managed resources.
type Options struct {
	// Poll is how often what cannot be watched is observed; zero for DefaultPoll.
	Poll time.Duration
}

// DefaultPoll is how often external resources are observed unless a setting says otherwise.
const DefaultPoll = time.Minute

// The bounds of passes: how many are made at a time, how long one takes, and how long one waits that failed.
const (
	passes      = 32
	passTimeout = 90 * time.Second
	leastWait   = time.Second
	mostWait    = time.Minute
)

// manager is the field manager of what is written to managed resources.
const manager = "headgate-provision"

// Reconciler serves the managed resources of providers in one cluster.
type Reconciler struct {
	*dialect.Host
	options  Options
	kinds    map[schema.GroupKind]served
	held     held
	edges    *Edges
	loop     *rounds.Loop[Key]
	configs  *usages
	events   *declared.Events
	mu       sync.Mutex
	memories map[Key]*memory
}

// served is a kind with what reaches what its objects stand for.
type served struct {
	Kind
	Connector
}

// memory is what the passes of a resource remember; it belongs to them.
type memory struct {
	// updates counts the updates in a row that did not lead to agreement.
	updates int
	// used is the provider configuration whose usage was recorded last, until the watch has brought the record.
	used Key
	// polled is set when the last pass read something that may not be watched.
	polled bool
}

// New returns what serves the kinds of providers. It makes no requests.
func New(ctx context.Context, host *dialect.Host, o Options, providers ...Provider) (*Reconciler, error) {
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	r := &Reconciler{
		Host: host, options: o, kinds: map[schema.GroupKind]served{}, held: newHeld(),
		memories: map[Key]*memory{}, events: declared.NewEvents(client, nil),
	}
	r.loop = rounds.New(r, rounds.Options{
		Slots: rounds.NewSlots(passes), Backoff: rounds.Backoff{Min: leastWait, Max: mostWait}, Log: host.Log, Guard: host.Guard,
	})
	r.edges = NewEdges(ctx, host.Home, r.loop.Wake)
	for _, p := range providers {
		connector, err := p.Serve(ctx, Tools{Host: host, Edges: r.edges})
		if err != nil {
			return nil, err
		}
		for _, k := range p.Kinds() {
			if host.Serve.Serves(k.Group) {
				r.kinds[k.GroupKind] = served{k, connector}
			}
		}
	}
	r.configs = newUsages(r)
	// Who acts for a resource may be another one then.
	host.Tenants.OnChange(func() {
		for _, key := range r.held.keys() {
			r.loop.Wake(key)
		}
	})
	return r, nil
}

// Start begins to watch the resources, and returns when all that there are have been read.
func (r *Reconciler) Start(ctx context.Context) error {
	stop := context.AfterFunc(ctx, r.events.Stop)
	if err := r.watch(ctx); err != nil {
		stop()
		return err
	}
	r.loop.Start(ctx)
	r.configs.loop.Start(ctx)
	return nil
}

func (r *Reconciler) watch(ctx context.Context) error {
	var lists errgroup.Group
	for _, s := range r.kinds {
		lists.Go(func() error {
			return r.Home.Watch(ctx, s.GroupVersionResource(), r.Selector, cluster.Sink{Put: r.put, Dropped: r.dropped})
		})
	}
	r.configs.watch(ctx, &lists)
	return lists.Wait()
}

// Wait waits until no pass is in progress.
func (r *Reconciler) Wait() {
	r.loop.Wait()
	r.configs.loop.Wait()
}

// Share is the namespace of a resource, or its kind.
func (r *Reconciler) Share(key Key) string { return cmp.Or(key.Namespace, key.Group+"/"+key.Kind) }

func keyOf(o *unstructured.Unstructured) Key {
	gk := o.GroupVersionKind().GroupKind()
	return Key{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

func (r *Reconciler) put(o *unstructured.Unstructured) {
	if key := keyOf(o); r.held.put(key, o) {
		r.loop.Wake(key)
	}
}

func (r *Reconciler) dropped(o *unstructured.Unstructured) {
	key := keyOf(o)
	if was := r.held.get(key); was != nil && was.GetUID() != o.GetUID() {
		return
	}
	r.held.drop(key)
	r.loop.Forget(key)
	r.edges.Forget(key)
	r.configs.forget(key)
	r.Metrics.Forget(key.Kind, key.Namespace, key.Name)
	r.mu.Lock()
	delete(r.memories, key)
	r.mu.Unlock()
}

func (r *Reconciler) memory(key Key) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, known := r.memories[key]
	if !known {
		m = &memory{}
		r.memories[key] = m
	}
	return m
}

// Pass reconciles a resource.
func (r *Reconciler) Pass(ctx context.Context, key Key) rounds.Next {
	s, serves := r.kinds[schema.GroupKind{Group: key.Group, Kind: key.Kind}]
	o := r.held.begin(key)
	if o == nil || !serves {
		return rounds.Rest()
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	p := &pass{Reconciler: r, key: key, served: s, object: o, memory: r.memory(key)}
	r.edges.Begin(key)
	defer p.end()
	p.memory.polled = false
	next, ok := p.run(limited)
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	r.Metrics.Pass(key.Kind, key.Namespace, key.Name, time.Since(began), ok)
	return next
}
