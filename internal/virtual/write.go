package virtual

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// errTaken is the error of a name that something else has.
var errTaken = errors.New("the name is taken")

// owner is what Secrets say that were written for a VirtualCluster.
func owner(vc *v1alpha1.VirtualCluster) string { return vc.Namespace + "/" + vc.Name }

// secret writes a Secret of the host that belongs to a VirtualCluster, unless it is as it is to be.
func (p *part) secret(ctx context.Context, vc *v1alpha1.VirtualCluster, namespace string, s plan.Secret) error {
	client := p.client.CoreV1().Secrets(namespace)
	have, err := client.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		have = &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Labels: s.Labels, Annotations: marksOf(vc, s)},
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
	return p.change(ctx, have, vc, s)
}

// change has a Secret be as it is to be. Labels that others gave it stay, as do keys that they added.
func (p *part) change(ctx context.Context, have *corev1.Secret, vc *v1alpha1.VirtualCluster, s plan.Secret) error {
	wanted := have.DeepCopy()
	marks := marksOf(vc, s)
	for _, key := range strings.Split(have.Annotations[annotationLabels], ",") {
		delete(wanted.Labels, key)
	}
	for _, put := range []struct {
		into *map[string]string
		from map[string]string
	}{{&wanted.Labels, s.Labels}, {&wanted.Annotations, marks}} {
		if *put.into == nil {
			*put.into = map[string]string{}
		}
		maps.Copy(*put.into, put.from)
	}
	if wanted.Data == nil {
		wanted.Data = map[string][]byte{}
	}
	maps.Copy(wanted.Data, s.Data)
	if equality.Semantic.DeepEqual(have, wanted) {
		return nil
	}
	_, err := p.client.CoreV1().Secrets(have.Namespace).Update(ctx, wanted, metav1.UpdateOptions{FieldManager: manager})
	return at("changing", have.Namespace, s.Name, err)
}

// annotationLabels has the keys of the labels that a Secret was given for its VirtualCluster.
const annotationLabels = "cluster.headgate.dev/labels"

// marksOf are the annotations of a Secret that was written for a VirtualCluster.
func marksOf(vc *v1alpha1.VirtualCluster, s plan.Secret) map[string]string {
	return map[string]string{
		v1alpha1.AnnotationOwner: owner(vc), annotationLabels: strings.Join(slices.Sorted(maps.Keys(s.Labels)), ","),
	}
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
