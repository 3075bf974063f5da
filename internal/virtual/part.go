package virtual

import (
	"context"
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// atOnce bounds the passes that are made at a time: a start of a control plane is one.
const atOnce = 4

// manager is the field manager of what this room writes.
const manager = "headgate"

// part is the dialect as it is served in one cluster.
type part struct {
	*dialect.Host
	options  Options
	client   kubernetes.Interface
	clusters *declared.Registry[v1alpha1.VirtualCluster, *v1alpha1.VirtualCluster]
	writer   declared.Writer
	loop     *rounds.Loop[engine.UnitID]

	mu  sync.Mutex
	ctx context.Context
	// held are the control planes that run, by the VirtualCluster.
	held map[engine.UnitID]*running
}

// newPart puts the part together. It makes no requests.
func newPart(host *dialect.Host, o Options) (*part, error) {
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	kind := clusterKind()
	p := &part{
		Host: host, options: o, client: client, held: map[engine.UnitID]*running{},
		clusters: declared.NewRegistry[v1alpha1.VirtualCluster](kind.GroupKind),
		writer:   declared.Writer{Client: host.Home.Dynamic.Resource(kind.GroupVersionResource()), Manager: manager},
	}
	p.loop = rounds.New(p, rounds.Options{Slots: rounds.NewSlots(atOnce), Log: host.Log, Guard: host.Guard})
	return p, nil
}

// Joins brings nothing to the runner: VirtualClusters are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Nudge has nothing to fetch.
func (*part) Nudge(func(url string) bool) {}

// Start watches the VirtualClusters, and the Secrets by which Argo CD knows clusters; it returns once those that there are are known.
func (p *part) Start(ctx context.Context) error {
	if p.options.Backing == nil {
		return nil
	}
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	p.loop.Start(ctx)
	p.Grants.OnChange(func() { p.wake(func(vc *v1alpha1.VirtualCluster) bool { return len(vc.Spec.SecretMappings) > 0 }) })
	all := cluster.Sink{Put: p.registered, Dropped: p.registered}
	if err := p.Home.Watch(ctx, secretResource(), plan.ClusterSelector, all); err != nil {
		return fmt.Errorf("watching the Secrets of clusters: %w", err)
	}
	err := p.Home.Watch(ctx, clusterKind().GroupVersionResource(), p.Selector, cluster.Sink{Put: p.put, Dropped: p.dropped})
	if err != nil {
		return fmt.Errorf("watching VirtualClusters: %w", err)
	}
	return nil
}

// Wait waits until every pass has ended, and releases the control planes.
func (p *part) Wait() {
	p.loop.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.held {
		r.end()
		delete(p.held, id)
	}
}

func (p *part) put(u *unstructured.Unstructured) {
	if _, err := p.clusters.Put(u); err != nil {
		p.Problem(v1alpha1.VirtualClusterKind+" "+u.GetNamespace()+"/"+u.GetName(), err.Error())
		return
	}
	p.loop.Wake(idOf(u))
}

func (p *part) dropped(u *unstructured.Unstructured) {
	id := idOf(u)
	p.clusters.Drop(id)
	p.loop.Forget(id)
	p.leave(id)
}

// registered wakes all that are registered: a Secret was changed that one of them is, or that has its name.
func (p *part) registered(*unstructured.Unstructured) {
	p.wake(func(vc *v1alpha1.VirtualCluster) bool { return vc.Spec.ClusterSecret != nil })
}

// wake has a pass made for the VirtualClusters that it concerns.
func (p *part) wake(concerned func(*v1alpha1.VirtualCluster) bool) {
	for _, vc := range p.clusters.All() {
		if concerned(vc) {
			p.loop.Wake(idOf(vc))
		}
	}
}

// leave releases a control plane.
func (p *part) leave(id engine.UnitID) {
	p.mu.Lock()
	r := p.held[id]
	delete(p.held, id)
	p.mu.Unlock()
	if r != nil {
		r.end()
	}
}

// idOf identifies a VirtualCluster.
func idOf(o metav1.Object) engine.UnitID {
	gk := clusterKind().GroupKind
	return engine.UnitID{Group: gk.Group, Kind: gk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Share has namespaces share the passes that are made at a time.
func (*part) Share(id engine.UnitID) string { return id.Namespace }

func secretResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

var (
	_ dialect.Part               = (*part)(nil)
	_ rounds.Work[engine.UnitID] = (*part)(nil)
)
