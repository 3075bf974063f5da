package virtual

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// errTaken is the error of a name that something else has.
var errTaken = errors.New("the name is taken")

// owner is what Secrets say that were written for a VirtualCluster.
func owner(vc *v1alpha1.VirtualCluster) string { return vc.Namespace + "/" + vc.Name }

// publish writes the Secrets by which the virtual cluster is reached.
func (p *part) publish(ctx context.Context, vc *v1alpha1.VirtualCluster, c plan.Credentials) error {
	if err := p.secret(ctx, vc, vc.Namespace, plan.Access(vc.Name, c)); err != nil {
		return err
	}
	if vc.Spec.ClusterSecret == nil {
		return p.remove(ctx, vc, p.options.ArgoNamespace, plan.RegisteredName(vc.Namespace))
	}
	s, err := plan.Registered(vc.Namespace, vc.Spec.ClusterSecret.Labels, c)
	if err != nil {
		return err
	}
	if err := p.unique(ctx, s); err != nil {
		return err
	}
	return p.secret(ctx, vc, p.options.ArgoNamespace, s)
}

// unique refuses a name or an address by which Argo CD knows another cluster: it would send nothing to either.
func (p *part) unique(ctx context.Context, s plan.Secret) error {
	list, err := p.client.CoreV1().Secrets(p.options.ArgoNamespace).List(ctx, metav1.ListOptions{LabelSelector: plan.ClusterSelector})
	if err != nil {
		return fmt.Errorf("listing the Secrets of clusters in namespace %q: %w", p.options.ArgoNamespace, err)
	}
	for i := range list.Items {
		have := &list.Items[i]
		if have.Name == s.Name {
			continue
		}
		for _, key := range []string{"name", "server"} {
			if strings.TrimSuffix(string(have.Data[key]), "/") == string(s.Data[key]) {
				return fmt.Errorf("%w: Argo CD knows another cluster with the %s %q, by Secret %s/%s", errTaken, key, s.Data[key], have.Namespace, have.Name)
			}
		}
	}
	return nil
}

// secret writes a Secret of the host that belongs to a VirtualCluster, unless it is as it is to be.
func (p *part) secret(ctx context.Context, vc *v1alpha1.VirtualCluster, namespace string, s plan.Secret) error {
	client := p.client.CoreV1().Secrets(namespace)
	have, err := client.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		have = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Labels: s.Labels, Annotations: map[string]string{v1alpha1.AnnotationOwner: owner(vc)}},
			Data:       s.Data,
		}
		_, err = client.Create(ctx, have, metav1.CreateOptions{FieldManager: manager})
		return at("creating", namespace, s.Name, err)
	}
	if err != nil {
		return at("reading", namespace, s.Name, err)
	}
	if have.Annotations[v1alpha1.AnnotationOwner] != owner(vc) {
		return fmt.Errorf("%w: Secret %s/%s was not written for this VirtualCluster, and is left as it is; delete it, or name the VirtualCluster differently",
			errTaken, namespace, s.Name)
	}
	if reflect.DeepEqual(have.Data, s.Data) && maps.Equal(have.Labels, s.Labels) {
		return nil
	}
	have.Data, have.Labels = s.Data, s.Labels
	_, err = client.Update(ctx, have, metav1.UpdateOptions{FieldManager: manager})
	return at("changing", namespace, s.Name, err)
}

// remove deletes a Secret of the host that was written for a VirtualCluster.
func (p *part) remove(ctx context.Context, vc *v1alpha1.VirtualCluster, namespace, name string) error {
	client := p.client.CoreV1().Secrets(namespace)
	have, err := client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return at("reading", namespace, name, err)
	case have.Annotations[v1alpha1.AnnotationOwner] != owner(vc):
		return nil
	}
	err = client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &have.UID}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return at("deleting", namespace, name, err)
}

// withdraw deletes the Secrets of a VirtualCluster.
func (p *part) withdraw(ctx context.Context, vc *v1alpha1.VirtualCluster) error {
	return errors.Join(
		p.remove(ctx, vc, p.options.ArgoNamespace, plan.RegisteredName(vc.Namespace)),
		p.remove(ctx, vc, vc.Namespace, plan.AccessName(vc.Name)),
	)
}

// at says which Secret a request failed for. Errors of the API server have no values of Secrets.
func at(verb, namespace, name string, err error) error {
	if err != nil {
		return fmt.Errorf("%s Secret %s/%s: %w", verb, namespace, name, err)
	}
	return nil
}

// place writes a copy into a virtual cluster.
func (r *running) place(ctx context.Context, target plan.Name, source *corev1.Secret) error {
	from := plan.Name{Namespace: source.Namespace, Name: source.Name}
	wanted := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: target.Name, Labels: map[string]string{v1alpha1.LabelCopy: "true"}, Annotations: map[string]string{v1alpha1.AnnotationSource: from.String()},
		},
		Type: source.Type, Data: source.Data,
	}
	client := r.client.CoreV1().Secrets(target.Namespace)
	have, err := client.Get(ctx, target.Name, metav1.GetOptions{})
	switch {
	case err == nil && have.Labels[v1alpha1.LabelCopy] != "true":
		return fmt.Errorf("%w: Secret %s of the virtual cluster is not a copy", errTaken, target)
	case err == nil && have.Type == wanted.Type:
		wanted.ResourceVersion = have.ResourceVersion
		_, err = client.Update(ctx, wanted, metav1.UpdateOptions{FieldManager: manager})
		return err
	case err == nil:
		// The type of a Secret cannot be changed.
		if err := r.drop(ctx, target); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: target.Namespace}}
	_, err = r.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{FieldManager: manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: manager})
	return err
}

// drop deletes a copy.
func (r *running) drop(ctx context.Context, target plan.Name) error {
	err := r.client.CoreV1().Secrets(target.Namespace).Delete(ctx, target.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
