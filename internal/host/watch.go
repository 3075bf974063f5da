package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Controllers watches for controllers of upstreams that serve the groups as well. It is safe for concurrent use.
type Controllers struct {
	serve dialect.Groups

	mu sync.Mutex
	// found are those with replicas, by where they were seen and their names: one may be seen at several places.
	found map[string]finding
	// changed is replaced and closed when what was found changes.
	changed chan struct{}
}

// WatchControllers begins to watch, until ctx ends. It fails when what is watched cannot be listed in time.
func WatchControllers(ctx context.Context, config *rest.Config, serve dialect.Groups) (*Controllers, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	m := &Controllers{serve: serve, found: map[string]finding{}, changed: make(chan struct{})}
	watching, stop := context.WithCancel(ctx)
	var begun []sight
	for _, s := range selections(serve) {
		one, err := m.watch(watching, client, s)
		if err != nil {
			stop()
			return nil, fmt.Errorf("watching the controllers of upstreams: %w", err)
		}
		begun = append(begun, one)
	}
	for _, one := range begun {
		if err := one.synced(ctx); err != nil {
			stop()
			return nil, fmt.Errorf("watching the controllers of upstreams: %w", err)
		}
	}
	context.AfterFunc(ctx, stop)
	return m, nil
}

// sight is one watch.
type sight struct {
	of       selection
	informer cache.SharedIndexInformer
	refused  chan error
}

// watch begins to watch a selection.
func (m *Controllers) watch(ctx context.Context, client kubernetes.Interface, s selection) (sight, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = s.labels, s.field
	}))
	one := sight{of: s, informer: factory.Apps().V1().StatefulSets().Informer(), refused: make(chan error, 1)}
	if s.kind == "Deployment" {
		one.informer = factory.Apps().V1().Deployments().Informer()
	}
	at := s.String() + " "
	_, err := one.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { m.see(at, o) }, UpdateFunc: func(_, o any) { m.see(at, o) }, DeleteFunc: func(o any) { m.lose(at, o) },
	})
	if err != nil {
		return one, err
	}
	err = one.informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		if apierrors.IsForbidden(err) && !one.informer.HasSynced() {
			select {
			case one.refused <- err:
			default:
			}
		}
	})
	if err != nil {
		return one, err
	}
	go one.informer.RunWithContext(ctx)
	return one, nil
}

// synced waits until it is known what there is.
func (s sight) synced(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	known := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), s.informer.HasSynced) {
			close(known)
		}
	}()
	select {
	case <-known:
		return nil
	case err := <-s.refused:
		return err
	case <-ctx.Done():
		return errors.New("the " + s.of.String() + " cannot be listed")
	}
}

func (m *Controllers) see(at string, o any) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		m.set(at+o.Namespace+"/"+o.Name, deployed(o).finding(m.serve))
	case *appsv1.StatefulSet:
		m.set(at+o.Namespace+"/"+o.Name, stateful(o).finding(m.serve))
	}
}

func (m *Controllers) lose(at string, o any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
		m.set(at+key, finding{})
	}
}

func (m *Controllers) set(key string, one finding) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found[key] == one {
		return
	}
	m.found[key] = one
	if one == (finding{}) {
		delete(m.found, key)
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// Other waits until another controller serves a group, and returns ErrUpstream; it returns nil when ctx ends.
func (m *Controllers) Other(ctx context.Context) error {
	var refusal error
	_ = m.until(ctx, func(now error) bool {
		refusal = now
		return now != nil
	})
	return refusal
}

// None waits until no other controller serves a group, and reports which one it waits for.
func (m *Controllers) None(ctx context.Context, told func(error)) error {
	return m.until(ctx, func(now error) bool {
		if now != nil {
			told(now)
		}
		return now == nil
	})
}

// until checks what was found, whenever that changes, until it is enough or ctx ends.
func (m *Controllers) until(ctx context.Context, enough func(refusal error) bool) error {
	for {
		changed, refusal := m.now()
		if enough(refusal) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// now is a channel that is closed when what was found may have changed, and ErrUpstream when another
// controller serves a group.
func (m *Controllers) now() (changed <-chan struct{}, refused error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed, refusal(m.serve, slices.Collect(maps.Values(m.found)))
}
