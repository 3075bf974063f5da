package migration

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// reconcile is the annotation that makes flux-operator ignore an object, and its value.
const (
	reconcile = "fluxcd.controlplane.io/reconcile"
	disabled  = "disabled"
)

var instances = schema.GroupVersionResource{Group: "fluxcd.controlplane.io", Version: "v1", Resource: "fluxinstances"}

// addInstances adds the FluxInstances, if flux-operator is to be paused.
func (m *Migration) addInstances(ctx context.Context, p *Paused, serve dialect.Groups) error {
	if _, replaced := serve.ServedBy("flux-operator"); !replaced || len(p.Instances) > 0 {
		return nil
	}
	list, err := m.dynamic.Resource(instances).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listing FluxInstances: %w", err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		p.Instances = append(p.Instances, Instance{o.GetNamespace(), o.GetName(), o.GetAnnotations()[reconcile]})
	}
	return nil
}

// annotate sets the annotation of a FluxInstance, or takes it off.
func (m *Migration) annotate(ctx context.Context, i Instance, value string) error {
	var set any
	if value != "" {
		set = value
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{reconcile: set}}})
	if err != nil {
		return fmt.Errorf("encoding an annotation: %w", err)
	}
	_, err = m.dynamic.Resource(instances).Namespace(i.Namespace).Patch(ctx, i.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("annotating FluxInstance %s/%s: %w", i.Namespace, i.Name, err)
	}
	return nil
}

// shared are the Services that Flux and Headgate both have, under the names that users' routes expect.
func shared() []string { return []string{"webhook-receiver", "notification-controller"} }

// services are the shared ones as they are, where they are Flux's.
func (m *Migration) services(ctx context.Context) ([]corev1.Service, error) {
	var found []corev1.Service
	for _, name := range shared() {
		s, err := m.client.CoreV1().Services(toolkit.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading Service %s/%s: %w", toolkit.Namespace, name, err)
		}
		if s.Labels[dialect.PartOf] == "headgate" {
			continue
		}
		found = append(found, corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace, Labels: s.Labels},
			Spec:       corev1.ServiceSpec{Selector: s.Spec.Selector, Ports: s.Spec.Ports},
		})
	}
	return found, nil
}

// restore makes a Service what it was.
func (m *Migration) restore(ctx context.Context, was corev1.Service) error {
	services := m.client.CoreV1().Services(was.Namespace)
	live, err := services.Get(ctx, was.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = services.Create(ctx, &was, metav1.CreateOptions{})
	} else if err == nil {
		live.Labels, live.Spec.Selector, live.Spec.Ports = was.Labels, was.Spec.Selector, was.Spec.Ports
		_, err = services.Update(ctx, live, metav1.UpdateOptions{FieldManager: fieldManager})
	}
	if err != nil {
		return fmt.Errorf("restoring Service %s/%s: %w", was.Namespace, was.Name, err)
	}
	return nil
}
