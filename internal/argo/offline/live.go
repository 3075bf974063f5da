package offline

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Live begins a walk with the settings of the installation in a cluster.
func Live(ctx context.Context, r *dialect.Repository, config *rest.Config) (*Walk, error) {
	s, problem, err := clusterSettings(ctx, config)
	if err != nil {
		return nil, err
	}
	if problem != nil && r.Warn != nil {
		r.Warn("settings: " + problem.Error())
	}
	return With(r, s)
}

// clusterSettings are those of the installation in a cluster, and what is wrong with them.
func clusterSettings(ctx context.Context, config *rest.Config) (s settings.Settings, problem, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return s, nil, fmt.Errorf("creating a client: %w", err)
	}
	maps, err := client.CoreV1().ConfigMaps(Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return s, nil, fmt.Errorf("reading the settings of Argo CD: %w", err)
	}
	objects := settings.Objects{ConfigMaps: maps.Items}
	secrets, err := client.CoreV1().Secrets(Namespace).List(ctx, metav1.ListOptions{LabelSelector: secretType})
	switch {
	case apierrors.IsForbidden(err):
		// Without logins, what needs none can be fetched.
		secrets = &corev1.SecretList{}
	case err != nil:
		return s, nil, fmt.Errorf("reading the credentials of Argo CD: %w", err)
	}
	objects.Secrets = secrets.Items
	s, problem = settings.Read(objects)
	return s, problem, nil
}
