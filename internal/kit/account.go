package kit

import (
	"context"
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/installation"
)

// rights are the kinds of an installation that say what its controller may do.
var rights = []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}

// account makes the account of an installation, with the rights that the chart gives it and no others, and
// returns how it reaches the cluster.
func account(ctx context.Context, admin *rest.Config, serve dialect.Groups) (*rest.Config, error) {
	objects, err := installation.Objects(ctx, installation.Options{Serve: serve, WithoutDefinitions: true})
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return !slices.Contains(rights, o.GetKind()) })
	if err := installation.Apply(ctx, admin, objects, func(installation.Change) {}); err != nil {
		return nil, err
	}
	own, err := Account(ctx, admin, toolkit.Namespace, installation.Name)
	if err != nil {
		return nil, err
	}
	return own, permitted(ctx, own, objects)
}

// permitted waits until the API server knows of the roles, and that the account has them: a watch that is refused ends.
func permitted(ctx context.Context, own *rest.Config, objects []*unstructured.Unstructured) error {
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	all, err := installation.Permissions(objects)
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		all, err = installation.Missing(ctx, client, "", all)
		return err == nil && len(all) == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the rights of the account, %d of which are missing: %w", len(all), err)
	}
	return nil
}

// Account returns how a ServiceAccount reaches a cluster, for some hours.
func Account(ctx context.Context, admin *rest.Config, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking for a token of %s/%s: %w", namespace, name, err)
	}
	own := rest.AnonymousClientConfig(admin)
	own.BearerToken, own.UserAgent = token.Status.Token, admin.UserAgent
	own.QPS, own.Burst = admin.QPS, admin.Burst
	return own, nil
}
