package chart_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
)

// application adds a workload with what belongs to it: five objects.
func application(app *chart.App, id string) *chart.Chart {
	c := chart.New(app, id, chart.Props{Namespace: id, Labels: map[string]string{"app.kubernetes.io/name": id}})
	config := chart.Add(c, "config", &corev1.ConfigMap{Data: map[string]string{"greeting": "hello", "enabled": "yes", "script": "#!/bin/sh\necho hello\n"}})
	account := chart.Add(c, "account", &corev1.ServiceAccount{})
	labels := map[string]string{"app": id}
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	d.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
		ServiceAccountName: account.Name(),
		Containers: []corev1.Container{{
			Name: "web", Image: "registry.example.com/web:1.2.3", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: config.Name()}}}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("128Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("256Mi")},
			},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http")}}},
		}},
	}}
	server := chart.Add(c, "server", d).DependsOn(config, account)
	service := chart.Add(c, "service", &corev1.Service{Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}}}).DependsOn(server)
	chart.Add(c, "ingress", &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: id + ".example.com", IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/", Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service.Name(), Port: networkingv1.ServiceBackendPort{Number: 80}}}}}},
	}}}}}).DependsOn(service)
	return c
}

// BenchmarkSynth describes and synthesizes applications of five objects, to YAML.
func BenchmarkSynth(b *testing.B) {
	for _, n := range []int{32, 1000} {
		b.Run(fmt.Sprint(n, "-applications"), func(b *testing.B) {
			for b.Loop() {
				app := chart.NewApp(chart.Settings{})
				for i := range n {
					application(app, fmt.Sprint("app-", i))
				}
				result, err := app.Synth()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := result.Files(chart.Layout{Split: chart.PerResource}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChain chains ten charts of a hundred objects, each of which depends on the one before.
func BenchmarkChain(b *testing.B) {
	for b.Loop() {
		app := chart.NewApp(chart.Settings{})
		var previous *chart.Chart
		for i := range 10 {
			c := chart.New(app, fmt.Sprint("c", i), chart.Props{})
			for j := range 100 {
				chart.Add(c, fmt.Sprint("o", j), thing())
			}
			if previous != nil {
				c.Node().DependsOn(previous)
			}
			previous = c
		}
		result, err := app.Synth()
		if err != nil || len(result.YAML()) == 0 {
			b.Fatal(err)
		}
	}
}
