package virtual

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// publish writes the Secrets by which the virtual cluster is reached.
func (p *part) publish(ctx context.Context, vc *v1alpha1.VirtualCluster, c plan.Credentials) error {
	if err := p.secret(ctx, vc, vc.Namespace, plan.Access(vc.Name, c)); err != nil {
		return err
	}
	if vc.Spec.ClusterSecret == nil {
		return p.unregister(ctx, vc, "")
	}
	s, err := plan.Registered(vc.Namespace, vc.Spec.ClusterSecret.Labels, c)
	if err != nil {
		return err
	}
	return p.register(ctx, vc, s)
}

// register has Argo CD know the virtual cluster by one Secret. One that another manager made for this very cluster, such as a Job of the
// repository, is taken over: it would have an address that only pods of another kind of cluster reach.
func (p *part) register(ctx context.Context, vc *v1alpha1.VirtualCluster, s plan.Secret) error {
	all, err := p.registrations(ctx)
	if err != nil {
		return err
	}
	var others []*corev1.Secret
	for i := range all {
		have := &all[i]
		facts := plan.Registration{Name: string(have.Data["name"]), Server: string(have.Data["server"])}
		switch {
		case have.Annotations[v1alpha1.AnnotationOwner] == "" && facts.Of(plan.Name{Namespace: vc.Namespace, Name: vc.Name}):
			others = append(others, have)
		case have.Name != s.Name && have.Annotations[v1alpha1.AnnotationOwner] != owner(vc):
			if key, same := facts.Clashes(s); same {
				return fmt.Errorf("%w: Argo CD knows another cluster with the %s %q, by Secret %s/%s", errTaken, key, s.Data[key], have.Namespace, have.Name)
			}
		case have.Name != s.Name && facts.Name == vc.Namespace:
			// It was taken over before.
			others = append(others, have)
		}
	}
	switch len(others) {
	case 0:
		return p.secret(ctx, vc, p.options.ArgoNamespace, s)
	case 1:
		s.Name = others[0].Name
		return errors.Join(p.unregister(ctx, vc, s.Name), p.change(ctx, others[0], vc, s))
	}
	return fmt.Errorf("%w: Secrets %s and %s in namespace %q both have Argo CD know this virtual cluster; delete one", errTaken,
		others[0].Name, others[1].Name, p.options.ArgoNamespace)
}

// registrations are the Secrets by which Argo CD knows clusters.
func (p *part) registrations(ctx context.Context) ([]corev1.Secret, error) {
	list, err := p.client.CoreV1().Secrets(p.options.ArgoNamespace).List(ctx, metav1.ListOptions{LabelSelector: plan.ClusterSelector})
	if err != nil {
		return nil, fmt.Errorf("listing the Secrets of clusters in namespace %q: %w", p.options.ArgoNamespace, err)
	}
	return list.Items, nil
}

// unregister deletes the Secrets by which Argo CD knows the virtual cluster, but one.
func (p *part) unregister(ctx context.Context, vc *v1alpha1.VirtualCluster, but string) error {
	all, err := p.registrations(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range all {
		if all[i].Name != but && all[i].Annotations[v1alpha1.AnnotationOwner] == owner(vc) {
			errs = append(errs, p.remove(ctx, vc, p.options.ArgoNamespace, all[i].Name))
		}
	}
	return errors.Join(errs...)
}

// withdraw deletes the Secrets of a VirtualCluster.
func (p *part) withdraw(ctx context.Context, vc *v1alpha1.VirtualCluster) error {
	return errors.Join(p.unregister(ctx, vc, ""), p.remove(ctx, vc, vc.Namespace, plan.AccessName(vc.Name)))
}
