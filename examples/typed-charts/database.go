package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/workload"
)

// databaseSecret has the login of the database. It is in no repository: an operator or a person creates it.
const databaseSecret = "database-login"

// DatabaseProps are what the chart "database" takes.
type DatabaseProps struct {
	// Storage is the size of its disk.
	Storage string `json:"storage" factory:"required"`
}

// Validate is asked before the chart is made.
func (p DatabaseProps) Validate() error {
	if _, err := resource.ParseQuantity(p.Storage); err != nil {
		return fmt.Errorf("storage %q: %w", p.Storage, err)
	}
	return nil
}

// Database is a PostgreSQL with a disk.
func Database(scope chart.Scope, p DatabaseProps) {
	size := resource.MustParse(p.Storage)
	database := workload.StatefulSet(scope, "server", workload.Props{
		Name: "database", Replicas: of(int32(1)),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "postgres", Image: "docker.io/library/postgres:17.5",
			Ports:        []corev1.ContainerPort{{Name: "postgres", ContainerPort: 5432}},
			Env:          []corev1.EnvVar{workload.SecretEnv("POSTGRES_PASSWORD", databaseSecret, "DATABASE_PASSWORD")},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/var/lib/postgresql/data"}},
		}}},
	}, corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	})
	workload.Govern(database, "service", workload.ServiceProps{Name: "database"})
}
