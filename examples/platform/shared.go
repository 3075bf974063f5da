package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/workload"
)

// ClusterProps are what the chart "cluster" takes.
type ClusterProps struct {
	// Host is the name under which the API is reached.
	Host string `json:"host" factory:"required"`
	// Service of the API, which the chart of vCluster makes.
	Service string `json:"service" factory:"required"`
}

// Cluster is the Ingress to the API of a virtual cluster. Connections are not decrypted on the way.
func Cluster(scope chart.Scope, p ClusterProps) {
	chart.Add(scope, "api", &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: p.Service, Annotations: map[string]string{
			"nginx.ingress.kubernetes.io/backend-protocol": "HTTPS", "nginx.ingress.kubernetes.io/ssl-passthrough": "true",
		}},
		Spec: networkingv1.IngressSpec{
			IngressClassName: of("nginx"),
			Rules:            []networkingv1.IngressRule{workload.Rule(p.Host, "/", networkingv1.PathTypePrefix, p.Service, 443)},
		},
	})
}

// PostgresProps are what the chart "postgres" takes.
type PostgresProps struct {
	// Storage is the size of its disk.
	Storage string `json:"storage" factory:"required"`
}

// Validate is asked before the chart is made.
func (p PostgresProps) Validate() error {
	if _, err := resource.ParseQuantity(p.Storage); err != nil {
		return fmt.Errorf("storage %q: %w", p.Storage, err)
	}
	return nil
}

// Postgres is the database that the environments share.
func Postgres(scope chart.Scope, p PostgresProps) {
	size := resource.MustParse(p.Storage)
	database := workload.StatefulSet(scope, "server", workload.Props{
		Name: "postgres", Replicas: of(int32(1)), Policies: policies("256Mi"),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "postgres", Image: "docker.io/library/postgres:17.5",
			Ports:        []corev1.ContainerPort{{Name: "postgres", ContainerPort: 5432}},
			Env:          workload.Env(map[string]string{"POSTGRES_HOST_AUTH_METHOD": "scram-sha-256"}),
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql/data"}},
		}}},
	}, corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	})
	workload.Govern(database, "service", workload.ServiceProps{Name: "postgres"})
}

// RedisProps are what the chart "redis" takes.
type RedisProps struct{}

// Redis is the cache that the environments share. It keeps nothing.
func Redis(scope chart.Scope, _ RedisProps) {
	cache := workload.Deployment(scope, "server", workload.Props{
		Name: "redis", Replicas: of(int32(1)), Policies: policies("64Mi"),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "redis", Image: "docker.io/library/redis:8.0", Args: []string{"--save", "", "--appendonly", "no"},
			Ports: []corev1.ContainerPort{{Name: "redis", ContainerPort: 6379}},
		}}},
	})
	cache.ExposeViaService("service", workload.ServiceProps{Name: "redis"})
}

// policies are what every pod of the platform keeps to.
func policies(memory string) []workload.Policy {
	return []workload.Policy{
		workload.NoToken{},
		workload.Resources{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
		},
	}
}
