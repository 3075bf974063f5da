package flux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// ErrUpstream is returned when the upstream's controllers serve the API groups already.
var ErrUpstream = errors.New("Flux runs on this cluster")

// electionSuffix follows the controller in the names of the upstream's leases; those of shards go on behind it.
const electionSuffix = "-leader-election"

// RefuseUpstream fails with ErrUpstream, naming the Deployment or the lease, when a controller of the
// upstream serves one of the groups on the cluster: two masters never serve one API group.
func RefuseUpstream(ctx context.Context, config *rest.Config, serve Groups) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	deployments, err := client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: PartOf + "=flux"})
	if err != nil {
		return fmt.Errorf("looking for the upstream's controllers: %w", err)
	}
	var found []string
	for i := range deployments.Items {
		found = append(found, masterDeployment(&deployments.Items[i], serve))
	}
	leases, err := client.CoordinationV1().Leases(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("looking for the leases of the upstream's controllers: %w", err)
	}
	for i := range leases.Items {
		found = append(found, masterLease(&leases.Items[i], serve, time.Now()))
	}
	return refusal(found)
}

// refusal is the error for what was found; what is empty was no master.
func refusal(found []string) error {
	found = slices.DeleteFunc(found, func(text string) bool { return text == "" })
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("%w: %s; `headgate migrate flux` pauses it and takes over, or leave its group out of --serve", ErrUpstream, strings.Join(found, "; "))
}

// masterDeployment says which served group a Deployment serves as well.
func masterDeployment(d *appsv1.Deployment, serve Groups) string {
	group, theirs := serve.servedBy(d.Name)
	if !theirs || d.Labels[PartOf] != "flux" || ptr.Deref(d.Spec.Replicas, 1) == 0 {
		return ""
	}
	return fmt.Sprintf("Deployment %s/%s serves %s", d.Namespace, d.Name, group)
}

// masterLease says which served group the holder of a lease serves as well.
func masterLease(l *coordinationv1.Lease, serve Groups, now time.Time) string {
	controller, shard, is := strings.Cut(l.Name, electionSuffix)
	group, theirs := serve.servedBy(controller)
	holder := holderOf(l, now)
	if !is || !theirs || holder == "" || shard != "" && shard[0] != '-' {
		return ""
	}
	return fmt.Sprintf("%s holds the lease %s/%s and serves %s", holder, l.Namespace, l.Name, group)
}

// holderOf is who holds a lease, and has renewed it in time.
func holderOf(l *coordinationv1.Lease, now time.Time) string {
	spec := l.Spec
	if spec.HolderIdentity == nil || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return ""
	}
	if now.Sub(spec.RenewTime.Time) > time.Duration(*spec.LeaseDurationSeconds)*time.Second {
		return ""
	}
	return *spec.HolderIdentity
}

// Masters watches for controllers of the upstream that serve the groups as well. It is safe for concurrent use.
type Masters struct {
	serve Groups

	mu    sync.Mutex
	found map[string]string
	// changed is closed and made anew when what was found changes.
	changed chan struct{}
}

// WatchMasters begins to watch, until ctx ends. It fails when the Deployments cannot be listed in time.
func WatchMasters(ctx context.Context, config *rest.Config, serve Groups) (*Masters, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	m := &Masters{serve: serve, found: map[string]string{}, changed: make(chan struct{})}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = PartOf + "=flux" }))
	informer := factory.Apps().V1().Deployments().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: m.see, UpdateFunc: func(_, o any) { m.see(o) }, DeleteFunc: m.lose,
	})
	if err != nil {
		return nil, fmt.Errorf("watching the upstream's controllers: %w", err)
	}
	watching, stop := context.WithCancel(ctx)
	refused := make(chan error, 1)
	err = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		if apierrors.IsForbidden(err) && !informer.HasSynced() {
			select {
			case refused <- err:
			default:
			}
		}
	})
	if err == nil {
		factory.Start(watching.Done())
		err = synced(ctx, informer, refused)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching the upstream's controllers: %w", err)
	}
	context.AfterFunc(ctx, stop)
	return m, nil
}

// synced waits until an informer knows what there is.
func synced(ctx context.Context, informer cache.SharedIndexInformer, refused <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	known := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			close(known)
		}
	}()
	select {
	case <-known:
		return nil
	case err := <-refused:
		return err
	case <-ctx.Done():
		return errors.New("the Deployments labelled " + PartOf + "=flux cannot be listed")
	}
}

func (m *Masters) see(o any) {
	if d, ok := o.(*appsv1.Deployment); ok {
		m.set(d.Namespace+"/"+d.Name, masterDeployment(d, m.serve))
	}
}

func (m *Masters) lose(o any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
		m.set(key, "")
	}
}

func (m *Masters) set(key, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found[key] == text {
		return
	}
	m.found[key] = text
	if text == "" {
		delete(m.found, key)
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// Other waits until there is another master, and returns ErrUpstream; it returns nil when ctx ends.
func (m *Masters) Other(ctx context.Context) error {
	var refusal error
	_ = m.until(ctx, func(now error) bool {
		refusal = now
		return now != nil
	})
	return refusal
}

// None waits until there is no other master, and tells what each is that it waits for.
func (m *Masters) None(ctx context.Context, told func(error)) error {
	return m.until(ctx, func(now error) bool {
		if now != nil {
			told(now)
		}
		return now == nil
	})
}

// until looks at what was found, whenever that changes, until it is enough or ctx ends.
func (m *Masters) until(ctx context.Context, enough func(refusal error) bool) error {
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

// now is a channel that is closed when what was found may have changed, and ErrUpstream when there is another
// master.
func (m *Masters) now() (changed <-chan struct{}, refused error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []string
	for _, text := range m.found {
		found = append(found, text)
	}
	return m.changed, refusal(found)
}
