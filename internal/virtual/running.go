package virtual

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/planes"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// startTimeout bounds how long a control plane is waited for.
const startTimeout = 2 * time.Minute

// running is a control plane that is held for a VirtualCluster.
type running struct {
	plane   *planes.Plane
	client  kubernetes.Interface
	release func()
	stop    context.CancelFunc
	// watch follows the Secrets of a namespace of the host until the context ends.
	watch func(ctx context.Context, namespace string) error
	// life ends with the watches. watched are the namespaces that are followed, by what ends that; they belong to the pass.
	life    context.Context
	watched map[string]context.CancelFunc
}

// sources has the Secrets of these namespaces of the host be followed, and of no others.
func (r *running) sources(namespaces map[string]bool) error {
	for namespace, stop := range r.watched {
		if !namespaces[namespace] {
			stop()
			delete(r.watched, namespace)
		}
	}
	for namespace := range namespaces {
		if r.watched[namespace] != nil {
			continue
		}
		ctx, stop := context.WithCancel(r.life)
		if err := r.watch(ctx, namespace); err != nil {
			stop()
			return err
		}
		r.watched[namespace] = stop
	}
	return nil
}

// end stops the watches and releases the control plane.
func (r *running) end() {
	r.stop()
	r.release()
}

// alive is the control plane that runs for a VirtualCluster; nil where there is none, or where it has ended.
func (p *part) alive(id engine.UnitID) *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.held[id]
	if r == nil {
		return nil
	}
	select {
	case <-r.plane.Done():
		return nil
	default:
		return r
	}
}

// begin acquires the control plane of a VirtualCluster, and has what changes there wake it. The one before is released after that.
func (p *part) begin(ctx context.Context, id engine.UnitID) error {
	wait, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	name := plan.ControlPlane(plan.Name{Namespace: id.Namespace, Name: id.Name})
	plane, release, err := p.options.Backing.Acquire(wait, name, v1alpha1.VirtualClusterKind+" "+id.Namespace+"/"+id.Name)
	if err != nil {
		return err
	}
	r := &running{plane: plane, release: release, watched: map[string]context.CancelFunc{}}
	p.mu.Lock()
	r.life, r.stop = context.WithCancel(p.ctx)
	p.mu.Unlock()
	if err := p.attend(r.life, id, r); err != nil {
		r.end()
		return fmt.Errorf("control plane %q: %w", name, err)
	}
	p.mu.Lock()
	before := p.held[id]
	p.held[id] = r
	p.mu.Unlock()
	if before != nil {
		before.end()
	}
	return nil
}

// attend has a VirtualCluster woken by the end of its control plane, by the Secret with its credentials, and by copies of Secrets.
func (p *part) attend(life context.Context, id engine.UnitID, r *running) error {
	config := r.plane.RESTConfig()
	var err error
	if r.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	virtual, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	host, err := metadata.NewForConfig(p.Config)
	if err != nil {
		return err
	}
	copies := func(o *metav1.ListOptions) { o.LabelSelector = v1alpha1.LabelCopy + "=true" }
	if err := p.follow(life, id, metadatainformer.NewFilteredMetadataInformer(virtual, secretResource(), metav1.NamespaceAll, 0, cache.Indexers{}, copies).Informer()); err != nil {
		return err
	}
	access := func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + plan.AccessName(id.Name) }
	if err := p.follow(life, id, metadatainformer.NewFilteredMetadataInformer(host, secretResource(), id.Namespace, 0, cache.Indexers{}, access).Informer()); err != nil {
		return err
	}
	r.watch = func(ctx context.Context, namespace string) error {
		return p.follow(ctx, id, metadatainformer.NewFilteredMetadataInformer(host, secretResource(), namespace, 0, cache.Indexers{}, nil).Informer())
	}
	p.Guard.Go("virtual cluster "+id.Namespace+"/"+id.Name, func() {
		select {
		case <-r.plane.Done():
			p.loop.Wake(id)
		case <-life.Done():
		}
	})
	return nil
}

// follow wakes a VirtualCluster at every change that an informer reports, until the context ends.
func (p *part) follow(ctx context.Context, id engine.UnitID, informer cache.SharedIndexInformer) error {
	wake := func(any) { p.loop.Wake(id) }
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: wake, UpdateFunc: func(_, o any) { wake(o) }, DeleteFunc: wake})
	if err != nil {
		return err
	}
	p.Guard.Go("watch of Secrets", func() { informer.Run(ctx.Done()) })
	return nil
}

// credentials are how an administrator reaches a control plane.
func credentials(plane *planes.Plane) (plan.Credentials, error) {
	config := plane.RESTConfig()
	if err := rest.LoadTLSFiles(config); err != nil {
		return plan.Credentials{}, fmt.Errorf("reading the credentials of control plane %q: %w", plane.Name, err)
	}
	kubeconfig, err := os.ReadFile(plane.Kubeconfig())
	if err != nil {
		return plan.Credentials{}, fmt.Errorf("reading the kubeconfig of control plane %q: %w", plane.Name, err)
	}
	return plan.Credentials{
		Server: config.Host, Kubeconfig: kubeconfig, Token: config.BearerToken,
		CA: config.CAData, Certificate: config.CertData, Key: config.KeyData,
	}, nil
}
