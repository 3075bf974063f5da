package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/idpbuilder/v1alpha1"
	definitions "github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/idp"
)

// Definitions are those of idpbuilder's kinds, which show packages.
func Definitions() ([]*unstructured.Unstructured, error) { return definitions.IDPBuilderCRDs() }

// pictureResources are those of idpbuilder's kinds.
var pictureResources = map[string]schema.GroupVersionResource{
	v1alpha1.LocalbuildKind:    v1alpha1.GroupVersion.WithResource("localbuilds"),
	v1alpha1.CustomPackageKind: v1alpha1.GroupVersion.WithResource("custompackages"),
	v1alpha1.GitRepositoryKind: v1alpha1.GroupVersion.WithResource("gitrepositories"),
}

// writePictures makes the objects of idpbuilder's kinds what the packages are: one that is edited or deleted comes back as it was.
func (d *Deployer) writePictures(ctx context.Context, result idp.Result) error {
	there := map[string]*unstructured.Unstructured{}
	for kind, resource := range pictureResources {
		list, err := d.client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("listing objects of kind %s: %w", kind, err)
		}
		for i := range list.Items {
			if o := &list.Items[i]; o.GetNamespace() == "" || o.GetNamespace() == pictureSpace {
				there[kind+"/"+o.GetName()] = o
			}
		}
	}
	if err := d.namespace(ctx, pictureSpace); err != nil {
		return err
	}
	var errs []error
	done := written{}
	for _, p := range d.pictures(result) {
		id := p.kind + "/" + p.meta.Name
		o, err := d.writePicture(ctx, p, there[id], done)
		delete(there, id)
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
			// Someone changed it meanwhile: the next time finds it as it is then.
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done[id] = v1alpha1.ObjectRef{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: p.kind, Name: p.meta.Name, Namespace: p.meta.Namespace, UID: string(o.GetUID()),
		}
	}
	for _, o := range there {
		argument, key := o.GetAnnotations()[ArgumentAnnotation], o.GetAnnotations()[ObjectAnnotation]
		if key == "" || !d.orphaned(result, argument, key) {
			continue
		}
		err := d.pictureClient(o.GetKind(), o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("deleting %s: %w", engine.IDOf(o), err))
		}
	}
	return errors.Join(errs...)
}

func (d *Deployer) pictureClient(kind, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return d.client.Resource(pictureResources[kind])
	}
	return d.client.Resource(pictureResources[kind]).Namespace(namespace)
}

// writePicture makes one object what a picture is, and returns it.
func (d *Deployer) writePicture(ctx context.Context, p picture, now *unstructured.Unstructured, done written) (*unstructured.Unstructured, error) {
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the spec of %s %s: %w", p.kind, p.meta.Name, err)
	}
	client := d.pictureClient(p.kind, p.meta.Namespace)
	next := &unstructured.Unstructured{Object: map[string]any{}}
	if now != nil {
		next = now.DeepCopy()
	}
	next.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(p.kind))
	next.SetName(p.meta.Name)
	next.SetNamespace(p.meta.Namespace)
	next.SetLabels(with(next.GetLabels(), p.meta.Labels))
	next.SetAnnotations(with(next.GetAnnotations(), p.meta.Annotations))
	next.Object["spec"] = spec
	switch {
	case now == nil:
		if now, err = client.Create(ctx, next, metav1.CreateOptions{FieldManager: Manager}); err != nil {
			return nil, fmt.Errorf("creating %s %s: %w", p.kind, p.meta.Name, err)
		}
	case !equality.Semantic.DeepEqual(now.Object, next.Object):
		if now, err = client.Update(ctx, next, metav1.UpdateOptions{FieldManager: Manager}); err != nil {
			return nil, fmt.Errorf("updating %s %s: %w", p.kind, p.meta.Name, err)
		}
	}
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.status(now.GetGeneration(), done))
	if err != nil {
		return nil, fmt.Errorf("encoding the status of %s %s: %w", p.kind, p.meta.Name, err)
	}
	if is, _, _ := unstructured.NestedMap(now.Object, "status"); equality.Semantic.DeepEqual(is, status) {
		return now, nil
	}
	now.Object["status"] = status
	o, err := client.UpdateStatus(ctx, now, metav1.UpdateOptions{FieldManager: Manager})
	if err != nil {
		return nil, fmt.Errorf("updating the status of %s %s: %w", p.kind, p.meta.Name, err)
	}
	return o, nil
}

// with are the entries of a map and those of another, which win; nil if there are none.
func with(some, others map[string]string) map[string]string {
	all := maps.Clone(some)
	if all == nil && len(others) > 0 {
		all = map[string]string{}
	}
	maps.Copy(all, others)
	return all
}
