package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/workload"
)

// BackstageProps are what the chart "backstage" takes.
type BackstageProps struct {
	// Environment is filled in.
	Environment factory.Environment `json:"-"`
	// Database is the host of the database.
	Database string `json:"database" factory:"required"`
}

// Backstage is the portal. Its pods have stable names.
func Backstage(scope chart.Scope, p BackstageProps) {
	settings := chart.Add(scope, "settings", &corev1.ConfigMap{Data: map[string]string{
		"LOG_LEVEL": p.Environment.Value(scope, "logLevel"), "POSTGRES_HOST": p.Database,
		"APP_BASE_URL": "https://backstage." + p.Environment.Value(scope, "host"),
	}})
	portal := workload.StatefulSet(scope, "server", workload.Props{
		Name: "backstage", Replicas: p.Environment.Replicas, Policies: policies("512Mi"),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "backstage", Image: p.Environment.Image(scope, "backstage"),
			Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 7007}},
			EnvFrom:        append(workload.FromConfigMaps(settings.Name()), workload.FromSecrets(databaseLogin)...),
			ReadinessProbe: workload.Timing{}.HTTP("/healthcheck", intstr.FromString("http")),
		}}},
	})
	portal.DependsOn(settings)
	workload.Govern(portal, "service", workload.ServiceProps{Name: "backstage"})
}

// NextJSProps are what the chart "nextjs" takes.
type NextJSProps struct {
	// Environment is filled in.
	Environment factory.Environment `json:"-"`
	// Database is the host of the database, Cache the URL of the cache.
	Database string `json:"database" factory:"required"`
	Cache    string `json:"cache" factory:"required"`
}

// NextJS is the shop.
func NextJS(scope chart.Scope, p NextJSProps) {
	settings := chart.Add(scope, "settings", &corev1.ConfigMap{Data: map[string]string{
		"LOG_LEVEL": p.Environment.Value(scope, "logLevel"), "DATABASE_HOST": p.Database, "CACHE_URL": p.Cache,
		"NEXTAUTH_URL": "https://shop." + p.Environment.Value(scope, "host"),
	}})
	shop := workload.Deployment(scope, "server", workload.Props{
		Name: "nextjs", Replicas: p.Environment.Replicas, Policies: policies("256Mi"),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "nextjs", Image: p.Environment.Image(scope, "nextjs"),
			Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 3000}},
			EnvFrom:        append(workload.FromConfigMaps(settings.Name()), workload.FromSecrets(databaseLogin)...),
			ReadinessProbe: workload.Timing{}.HTTP("/api/health", intstr.FromString("http")),
		}}},
	})
	shop.DependsOn(settings)
	shop.ExposeViaService("service", workload.ServiceProps{Name: "nextjs"})
}
