package main

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/workload"
)

// WebProps are what the chart "web" takes.
type WebProps struct {
	// Image is what runs.
	Image string `json:"image" factory:"required"`
	// Port is where it listens.
	Port int32 `json:"port" factory:"required"`
	// Replicas are how many run.
	Replicas int32 `json:"replicas"`
	// Settings are its environment variables.
	Settings map[string]string `json:"settings"`
}

// Web is a server with its settings, behind a Service.
func Web(scope chart.Scope, p WebProps) {
	settings := chart.Add(scope, "settings", &corev1.ConfigMap{Data: p.Settings})
	server := workload.Deployment(scope, "server", workload.Props{
		Replicas: &p.Replicas,
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "server", Image: p.Image,
			Ports:   []corev1.ContainerPort{{Name: "http", ContainerPort: p.Port}},
			EnvFrom: workload.FromConfigMaps(settings.Name()),
		}}},
	})
	server.ExposeViaService("service", workload.ServiceProps{})
}
