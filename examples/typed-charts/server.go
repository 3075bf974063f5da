package main

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/workload"
)

// ServerProps are what the chart "server" takes.
type ServerProps struct {
	// Environment is filled in.
	Environment factory.Environment `json:"-"`
	// Image is the name of the image in the environment.
	Image string `json:"image" factory:"required"`
	// Port is where it listens, and that of the Service.
	Port int32 `json:"port" factory:"required"`
	// Settings are environment variables, besides LOG_LEVEL.
	Settings map[string]string `json:"settings,omitempty"`
	// Secrets are Secrets whose keys are environment variables.
	Secrets []string `json:"secrets,omitempty"`
}

// Validate is asked before the chart is made.
func (p ServerProps) Validate() error {
	if _, set := p.Settings["LOG_LEVEL"]; set {
		return fmt.Errorf("settings.LOG_LEVEL: it is that of the environment; set values.logLevel there")
	}
	return nil
}

// hardened is what every pod of our own keeps to. Nothing of it is there without being named.
func hardened() []workload.Policy {
	return []workload.Policy{
		workload.Restricted{ReadOnlyRoot: true},
		workload.NoToken{},
		workload.Resources{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
	}
}

// Server is a stateless server with its settings, behind a Service of the same name as its image.
func Server(scope chart.Scope, p ServerProps) {
	env := map[string]string{"LOG_LEVEL": p.Environment.Value(scope, "logLevel")}
	maps.Copy(env, p.Settings)
	settings := chart.Add(scope, "settings", &corev1.ConfigMap{Data: env})
	server := workload.Deployment(scope, "server", workload.Props{
		Name: p.Image, Replicas: p.Environment.Replicas, Policies: hardened(),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "server", Image: p.Environment.Image(scope, p.Image),
			Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: p.Port}},
			EnvFrom:        append(workload.FromConfigMaps(settings.Name()), workload.FromSecrets(p.Secrets...)...),
			ReadinessProbe: workload.Timing{}.HTTP("/healthz", intstr.FromString("http")),
		}}},
	})
	server.DependsOn(settings)
	server.ExposeViaService("service", workload.ServiceProps{Name: p.Image})
}
