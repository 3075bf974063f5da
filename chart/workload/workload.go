// Package workload has Deployments and StatefulSets for charts, with the Services, Ingresses, probes and configuration that people
// write beside them.
//
// It fills in what follows from what it is given: selectors from labels, ports of a Service from those of its containers, the backend
// of an Ingress from its Service. Everything else is a Policy, and applies only where it is listed: there are no hidden requests,
// limits, pull policies or security contexts, and a Policy changes no field that is set.
package workload

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Props describe a workload.
type Props struct {
	// Name and Namespace of the object; those of its path and its chart if empty.
	Name, Namespace string
	// Labels of the object and of its pods.
	Labels map[string]string
	// Annotations of the object.
	Annotations map[string]string
	// Selector finds the pods: Labels if it is empty, and app.kubernetes.io/name with the object's name if those are empty too. It is
	// among the labels of the pods.
	Selector map[string]string
	// PodLabels and PodAnnotations are on the pods alone.
	PodLabels, PodAnnotations map[string]string
	// Replicas are left to the API server, or to an autoscaler, if they are nil.
	Replicas *int32
	// Pod is what runs.
	Pod corev1.PodSpec
	// Policies change the pod, in their order, where it leaves something open.
	Policies []Policy
}

// Workload is an object that keeps pods running.
type Workload[T any] struct {
	typed.Object[T]
	// Selector finds its pods, and Template is what they are made of; both are parts of Value.
	Selector *metav1.LabelSelector
	Template *corev1.PodTemplateSpec

	scope chart.Scope
	meta  *metav1.ObjectMeta
}

// Deployment puts a Deployment below scope.
func Deployment(scope chart.Scope, id string, props Props) Workload[*appsv1.Deployment] {
	d := &appsv1.Deployment{ObjectMeta: props.meta(), Spec: appsv1.DeploymentSpec{Replicas: props.Replicas}}
	w := Workload[*appsv1.Deployment]{Object: typed.Add(scope, id, d), Template: &d.Spec.Template, scope: scope, meta: &d.ObjectMeta}
	d.Spec.Selector = w.run(props)
	w.Selector = d.Spec.Selector
	return w
}

// StatefulSet puts a StatefulSet below scope. Its Service is named by spec.serviceName: Govern makes one.
func StatefulSet(scope chart.Scope, id string, props Props, claims ...corev1.PersistentVolumeClaim) Workload[*appsv1.StatefulSet] {
	s := &appsv1.StatefulSet{ObjectMeta: props.meta(), Spec: appsv1.StatefulSetSpec{Replicas: props.Replicas, VolumeClaimTemplates: claims}}
	w := Workload[*appsv1.StatefulSet]{Object: typed.Add(scope, id, s), Template: &s.Spec.Template, scope: scope, meta: &s.ObjectMeta}
	s.Spec.Selector = w.run(props)
	w.Selector = s.Spec.Selector
	return w
}

// Govern makes the headless Service of a StatefulSet, by which its pods have names of their own, and names it in the StatefulSet.
func Govern(w Workload[*appsv1.StatefulSet], id string, props ServiceProps) Service {
	props.Headless = true
	service := w.ExposeViaService(id, props)
	w.Value.Spec.ServiceName = service.Name()
	return service
}

func (p Props) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, Labels: maps.Clone(p.Labels), Annotations: maps.Clone(p.Annotations)}
}

// run fills in the template, and returns what finds its pods.
func (w Workload[T]) run(props Props) *metav1.LabelSelector {
	selector := maps.Clone(props.Selector)
	if len(selector) == 0 {
		selector = maps.Clone(props.Labels)
	}
	if len(selector) == 0 {
		selector = map[string]string{"app.kubernetes.io/name": w.Name()}
	}
	labels := maps.Clone(selector)
	maps.Copy(labels, props.Labels)
	maps.Copy(labels, props.PodLabels)
	for name, value := range selector {
		if labels[name] != value {
			w.Node().Errorf("the selector has %s=%s, and the pods have %s=%s; it would not find them", name, value, name, labels[name])
		}
	}
	w.Template.ObjectMeta = metav1.ObjectMeta{Labels: labels, Annotations: maps.Clone(props.PodAnnotations)}
	props.Pod.DeepCopyInto(&w.Template.Spec)
	for _, policy := range props.Policies {
		policy.Apply(&w.Template.Spec)
	}
	return &metav1.LabelSelector{MatchLabels: selector}
}
